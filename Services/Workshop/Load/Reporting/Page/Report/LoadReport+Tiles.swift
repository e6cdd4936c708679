extension LoadReport {
    var tiles: [PageContent.Tile] {
        let totals = headline
        let latency = totals.responseTime
        var tiles: [PageContent.Tile] = []
        if !assertions.isEmpty {
            let held = assertions.count { $0.hasHeld }
            tiles.append(
                .init(name: "Assertions", value: "\(held) of \(assertions.count)", more: "held", kind: held == assertions.count ? "passed" : "failed")
            )
        }
        if let step = headlineStep {
            tiles.append(.init(name: "Step", value: Quantity.number(step.level), more: "\(name(of: step, Quantity.number)); all steps are below"))
        }
        let due = settings.loop == .open ? "\(Quantity.number(totals.dueRate)) iterations due" : "closed loop"
        tiles.append(.init(name: "Good answers/s", value: Quantity.number(totals.rate), more: due))
        for percentile in [50, 99, 99.9] {
            tiles.append(
                .init(
                    name: "p\(Quantity.percentile(percentile))", value: time(latency, percentile),
                    more: "from sent: \(time(totals.serviceTime, percentile))"))
        }
        tiles.append(
            .init(
                name: "Longest", value: latency.count == 0 ? "–" : Quantity.time(latency.maxNanoseconds),
                more: "mean \(latency.count == 0 ? "–" : Quantity.time(latency.meanNanoseconds))"))
        tiles.append(
            .init(
                name: "Errors", value: Quantity.share(totals.errorShare),
                more: "\(Quantity.count(totals.failed)) of \(Quantity.count(totals.succeeded + totals.failed)) calls",
                kind: totals.failed > 0 ? "failed" : ""))
        if let knee {
            let (low, high) = (knee.level.map(Quantity.number), knee.failedLevel.map(Quantity.number))
            let place = [low, high].compactMap { $0 }.joined(separator: " to ")
            tiles.append(
                .init(
                    name: "Knee", value: knee.isReached ? (low == nil ? "none" : place) : "not reached",
                    more: high.map { "\(knee.isReached ? "between two steps: fails" : "the tool was late") at \($0)" } ?? "no step failed"))
        }
        return tiles + processTiles
    }

    private var processTiles: [PageContent.Tile] {
        let targets = observation?.processes.filter { $0.role == .target } ?? []
        guard let observation, !targets.isEmpty else { return [] }
        let measured = observation.seconds.indices.filter { observation.seconds[$0] > 0 }
        let cores = measured.compactMap { index in targets.compactMap { $0.cores.at(index) }.sum }
        let memory = measured.compactMap { index in targets.compactMap { $0.residentBytes.at(index) }.sum }
        var tiles: [PageContent.Tile] = []
        if let mean = cores.mean {
            tiles.append(
                .init(
                    name: "Service CPU", value: Quantity.number(mean),
                    more: "cores of \(machine.cores), at most \(Quantity.number(cores.max() ?? 0))"))
        }
        if let most = memory.max(), let last = memory.last {
            tiles.append(.init(name: "Service memory", value: Quantity.bytes(most), more: "\(Quantity.bytes(last)) at the end"))
        }
        return tiles
    }

    func time(_ latencies: Latencies, _ percentile: Double) -> String {
        guard latencies.count > 0, let found = latencies.percentiles.first(where: { $0.percentile == percentile }) else { return "–" }
        return Quantity.time(found.nanoseconds)
    }
}

extension [Double?] {
    /// `nil` beyond the end too.
    func at(_ index: Int) -> Double? { indices.contains(index) ? self[index] : nil }
}

extension [Double] {
    /// `nil` of nothing.
    var sum: Double? { isEmpty ? nil : reduce(0, +) }
    var mean: Double? { isEmpty ? nil : reduce(0, +) / Double(count) }
}
