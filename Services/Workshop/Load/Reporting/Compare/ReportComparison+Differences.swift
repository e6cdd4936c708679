extension ReportComparison {
    /// What was not the same for both runs.
    static func differences(_ base: LoadReport, _ new: LoadReport) -> [String] {
        let (old, young) = (base.settings, new.settings)
        var found: [String] = []
        func check(_ what: String, _ left: String, _ right: String) {
            if left != right { found.append("\(what): \(left), then \(right)") }
        }
        check("different services", old.service, young.service)
        check("different workloads", old.workload, young.workload)
        check("different loops", old.loop.rawValue, young.loop.rawValue)
        check("different arrivals", old.arrivals?.rawValue ?? "none", young.arrivals?.rawValue ?? "none")
        check("different load", LoadReport.levels(old), LoadReport.levels(young))
        check("different connections", String(old.connections), String(young.connections))
        check("different threads of the tool", String(old.workers), String(young.workers))
        check("different warm-up", Quantity.span(old.warmUpNanoseconds), Quantity.span(young.warmUpNanoseconds))
        check("different timeouts", Quantity.span(old.timeoutNanoseconds), Quantity.span(young.timeoutNanoseconds))
        check("different limits of outstanding calls", Quantity.count(old.maxOutstanding), Quantity.count(young.maxOutstanding))
        check("with doubles of the peers", old.isIsolated ? "yes" : "no", young.isIsolated ? "yes" : "no")
        let (here, there) = (base.machine, new.machine)
        check("different processors", here.processor, there.processor)
        check("different numbers of cores", String(here.cores), String(there.cores))
        check("different systems", here.system, there.system)
        check("different builds of the service", (base.serviceBuild ?? .unknown).rawValue, (new.serviceBuild ?? .unknown).rawValue)
        check("different builds of the tool", here.build, there.build)
        check("different versions of the tool", base.run.toolVersion, new.run.toolVersion)
        let memory = (Double(here.memoryBytes), Double(there.memoryBytes))
        if abs(memory.0 - memory.1) > 0.05 * max(memory.0, memory.1) { check("different memory", Quantity.bytes(memory.0), Quantity.bytes(memory.1)) }
        let times = (base.totals.elapsedSeconds, new.totals.elapsedSeconds)
        if min(times.0, times.1) * 1.5 < max(times.0, times.1) {
            check("different lengths", Quantity.span(base.totals.elapsedNanoseconds), Quantity.span(new.totals.elapsedNanoseconds))
        }
        return found
    }

    /// Why one run alone says little.
    static func shortcomings(_ report: LoadReport, _ name: String) -> [String] {
        var found: [String] = []
        if report.generator.wasBottleneck { found.append("\(name): the load tool was the limit, not the service") }
        if report.serviceBuild == .debug { found.append("\(name): the service was a \(ServiceBuild.warning)") }
        if report.machine.build != "release" { found.append("\(name): made by a \(report.machine.build) build of the tool") }
        if report.run.end == .interrupted || report.run.end == .targetLost { found.append("\(name): the run ended early") }
        if report.totals.droppedShare > 0.001 {
            found.append("\(name): \(Quantity.share(report.totals.droppedShare)) of the due iterations were dropped and are in no latency")
        }
        if report.seconds(of: .rate).count < SecondsComparison.leastSeconds {
            found.append("\(name): fewer than \(SecondsComparison.leastSeconds) measured seconds, too few to tell a difference from noise")
        }
        return found
    }
}
