extension Observation {
    /// Without what was seen later.
    /// - Parameter second: After the measured time began.
    public func until(_ second: Double) -> Observation {
        let count = seconds.firstIndex { $0 > second } ?? seconds.count
        func cut(_ values: [Double?]) -> [Double?] { Array(values.prefix(count)) }
        var result = self
        result.seconds = Array(seconds.prefix(count))
        result.machineCores = cut(machineCores)
        result.stolenCores = cut(stolenCores)
        for index in processes.indices {
            result.processes[index].cores = cut(processes[index].cores)
            result.processes[index].residentBytes = cut(processes[index].residentBytes)
        }
        for panel in panels.indices {
            for line in panels[panel].series.indices { result.panels[panel].series[line].values = cut(panels[panel].series[line].values) }
        }
        return result
    }
}
