extension LoadReport {
    var assertionTable: PageContent.Table {
        PageContent.Table(
            head: [.init("Assertion"), .init("Measured", kind: "text"), .init("Verdict", kind: "text")],
            rows: assertions.map { assertion in
                PageContent.Row(
                    name: assertion.text,
                    cells: [
                        .init(assertion.measured, kind: "text"),
                        .init(assertion.hasHeld ? "passed" : "failed", kind: "text", badge: assertion.hasHeld ? "passed" : "failed"),
                    ])
            })
    }

    var operationTables: [PageContent.Table] {
        var rows = operations.map { row($0.name, sent: $0.sent, good: $0.succeeded, failed: $0.failed, $0.responseTime) }
        if operations.count > 1 {
            rows.append(row("all calls", sent: totals.sent, good: totals.succeeded, failed: totals.failed, totals.responseTime, kind: "total"))
        }
        if let iterationTime, iterationTime.count > 0 {
            rows.append(row("whole iteration", sent: totals.due - totals.dropped, good: totals.iterations, failed: nil, iterationTime, kind: "total"))
        }
        let head = [operations.count > 1 ? "Step" : "Method", "Sent", "Good", "Failed", "Good/s", "Mean", "p50", "p90", "p99", "p99.9", "Longest"]
        return (rows.isEmpty ? [] : [PageContent.Table(head: head.map { .init($0) }, rows: rows)]) + errorTables
    }

    private func row(_ name: String, sent: Int, good: Int, failed: Int?, _ latency: Latencies, kind: String = "") -> PageContent.Row {
        let rate = totals.elapsedSeconds > 0 ? Double(good) / totals.elapsedSeconds : 0
        let times =
            latency.count == 0
            ? Array(repeating: "–", count: 6)
            : [Quantity.time(latency.meanNanoseconds)] + [50, 90, 99, 99.9].map { time(latency, $0) } + [Quantity.time(latency.maxNanoseconds)]
        let counts = [Quantity.count(sent), Quantity.count(good), failed.map(Quantity.count) ?? "–", Quantity.number(rate)]
        return PageContent.Row(name: name, cells: (counts + times).map { .init($0) }, kind: kind)
    }

    private var errorTables: [PageContent.Table] {
        guard !errors.isEmpty else { return [] }
        let total = totals.succeeded + totals.failed
        return [
            PageContent.Table(
                head: [.init("Error"), .init("Calls"), .init("Share of all calls"), .init("One of them", kind: "text")],
                rows: errors.map { error in
                    PageContent.Row(
                        name: error.code,
                        cells: [
                            .init(Quantity.count(error.count)), .init(total > 0 ? Quantity.share(Double(error.count) / Double(total)) : "–"),
                            .init(error.example ?? "–", kind: "text wide"),
                        ])
                })
        ]
    }

    /// Of a joined report.
    static func generatorTable(_ generators: [GeneratorResult]) -> PageContent.Table {
        PageContent.Table(
            head: ["Generator", "Good answers/s", "p50", "p99", "Errors", "Dropped", "Tool late, p99", "Tool's cores", "Connections"].map {
                .init($0)
            }
                + [.init("Could it do more?", kind: "text"), .init("Machine", kind: "text wide")],
            rows: generators.map { generator in
                let ended = generator.succeeded + generator.failed
                let cells = [
                    Quantity.number(generator.rate), Quantity.time(generator.p50Nanoseconds), Quantity.time(generator.p99Nanoseconds),
                    Quantity.share(ended > 0 ? Double(generator.failed) / Double(ended) : 0), Quantity.count(generator.dropped),
                    Quantity.time(generator.lagP99Nanoseconds), Quantity.number(generator.processorShare), Quantity.count(generator.connections),
                ]
                let machine = generator.machine
                return PageContent.Row(
                    name: generator.name,
                    cells: cells.map { .init($0) } + [
                        .init(
                            generator.wasBottleneck ? "no: it was the limit" : "yes", kind: "text",
                            badge: generator.wasBottleneck ? "failed" : "passed"),
                        .init("\(machine.processor), \(machine.cores) cores, \(machine.system), \(machine.build) build", kind: "text wide"),
                    ])
            })
    }

    var settingsPairs: PageContent.Pairs {
        var rows: [(name: String, value: String)] = [
            ("Service", settings.service), ("Build of the service", (serviceBuild ?? .unknown).rawValue),
            ("Called at", settings.targets.joined(separator: ", ")), ("Workload", settings.workload),
        ]
        switch settings.loop {
        case .open:
            let arrivals = settings.arrivals.map { $0 == .poisson ? ", at random times (Poisson)" : ", evenly spread" } ?? ""
            rows.append(("Load", "\(Self.levels(settings)) iterations per second, open loop\(arrivals)"))
        case .closed: rows.append(("Load", "\(Self.levels(settings)) users, closed loop"))
        }
        rows += [
            ("Connections", "\(Quantity.count(settings.connections)), on \(settings.workers) threads"),
            ("At most outstanding", Quantity.count(settings.maxOutstanding)), ("Timeout of a call", Quantity.span(settings.timeoutNanoseconds)),
            ("Warm-up", Quantity.span(settings.warmUpNanoseconds)),
            ("Measured", "\(Quantity.span(totals.elapsedNanoseconds)) of \(Quantity.span(settings.durationNanoseconds)) planned"),
        ]
        if let limit = settings.callLimit { rows.append(("At most calls", Quantity.count(limit))) }
        rows += [
            ("Seed", String(settings.seed)),
            ("Sent and received", "\(Quantity.bytes(Double(totals.requestBytes))), \(Quantity.bytes(Double(totals.answerBytes)))"),
        ]
        if totals.unfinished > 0 { rows.append(("Without an answer at the end", Quantity.count(totals.unfinished))) }
        return PageContent.Pairs(title: "Settings", rows: rows)
    }

    var machinePairs: PageContent.Pairs {
        let lag = generator.lag
        var rows: [(name: String, value: String)] = [
            ("Processor", machine.processor), ("Cores", String(machine.cores)), ("Memory", Quantity.bytes(Double(machine.memoryBytes))),
            ("System", machine.system), ("Build of the tool", machine.build),
            ("CPU of the tool", "\(Quantity.number(generator.processorShare)) cores"),
        ]
        if lag.count > 0 {
            rows.append(("Lateness of the tool", "p50 \(time(lag, 50)), p99 \(time(lag, 99)), at most \(Quantity.time(lag.maxNanoseconds))"))
        }
        return PageContent.Pairs(title: "Where the tool ran", rows: rows)
    }
}
