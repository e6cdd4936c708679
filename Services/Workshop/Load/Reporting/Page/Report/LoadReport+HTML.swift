internal import Foundation

extension LoadReport {
    /// The report as one self-contained HTML page.
    /// - Throws: When the page's own template is broken.
    public func html() throws -> String { try Page.render(pageContent) }

    var pageContent: PageContent {
        var content = PageContent(
            title: "Load test of \(settings.service): \(settings.workload)", heading: heading, subtitle: subtitle, verdict: verdict,
            verdictKind: assertions.isEmpty ? .neutral : hasPassed ? .passed : .failed, footer: footer)
        content.notes = notes
        content.tiles = tiles
        content.sections = [
            PageContent.Section(title: "Assertions", tables: assertions.isEmpty ? [] : [assertionTable]),
            PageContent.Section(title: "Latency", lead: latencyLead, charts: [latencyChart, percentileChart].compactMap { $0 }),
            PageContent.Section(title: "Throughput and errors", charts: [throughputChart, errorChart, inFlightChart].compactMap { $0 }),
            rampSection,
            PageContent.Section(title: "Generators", tables: generators.map { [Self.generatorTable($0)] } ?? []),
            PageContent.Section(title: operationsTitle, charts: stepPercentileChart.map { [$0] } ?? [], tables: operationTables),
            processSection,
            serviceSection,
            PageContent.Section(
                title: generators == nil ? "Settings and machine" : "Settings", pairs: [settingsPairs] + (generators == nil ? [machinePairs] : []),
                code: run.commandLine.joined(separator: " ")),
        ]
        return content
    }

    private var heading: String { run.name.map { "\($0): \(settings.service)" } ?? "Load test of \(settings.service)" }

    private var subtitle: String {
        let load =
            switch settings.loop {
            case .open: "\(Self.levels(settings)) per second, open loop"
            case .closed: "\(Self.levels(settings)) at a time, closed loop"
            }
        let tags = run.tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return
            ([settings.workload, load, "measured for \(Quantity.span(totals.elapsedNanoseconds))", startedAt]
            + (generators.map { ["joined from \($0.count) generators"] } ?? []) + tags).joined(separator: " · ")
    }

    static func levels(_ settings: RunSettings) -> String {
        let (from, to) = (Quantity.number(settings.fromLevel), Quantity.number(settings.toLevel))
        return from == to ? from : "\(from) to \(to)"
    }

    var startedAt: String {
        let date = Date(timeIntervalSince1970: Double(run.startedAtMilliseconds) / 1000)
        return date.formatted(
            .verbatim(
                "\(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) UTC",
                locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian)))
    }

    private var verdict: String {
        guard !assertions.isEmpty else { return "no assertions" }
        return hasPassed ? "passed" : "failed"
    }

    private var footer: String { "boxoffice load \(run.toolVersion) · run \(run.id) · times are from when a call was due unless said otherwise" }

    /// The notes that a reader must know before the numbers.
    private var notes: [PageContent.Note] {
        var notes: [PageContent.Note] = []
        if generator.wasBottleneck {
            let why = generator.explanation ?? "it could not keep its schedule"
            notes.append(.init(text: "The load tool was the limit, not the service: \(why)", isGrave: true))
        }
        if isOfDebugBuild {
            let isOfTool = machine.build == ServiceBuild.debug.rawValue
            let whose = serviceBuild != .debug ? "The load tool is a" : isOfTool ? "Service and load tool are each a" : "The service is a"
            notes.append(.init(text: "\(whose) \(ServiceBuild.warning).", isGrave: true))
        }
        switch run.end {
        case .targetLost: notes.append(.init(text: "The run ended early: the service could not be reached any more.", isGrave: true))
        case .interrupted: notes.append(.init(text: "The run was interrupted; the report holds what was measured until then."))
        case .stopCondition: notes.append(.init(text: "The run ended early: its stop condition was met."))
        case .duration, .calls: break
        }
        if totals.dropped > 0 {
            let share = Quantity.share(totals.droppedShare)
            notes.append(
                .init(
                    text:
                        "\(Quantity.count(totals.dropped)) due iterations (\(share)) were dropped, as too many calls were outstanding; no latency counts them.",
                    isGrave: true))
        }
        if settings.isIsolated { notes.append(.init(text: "The service ran with doubles of its peers: its figures are those of the service alone.")) }
        notes += (joining ?? []).map { .init(text: $0) }
        return notes + (observation?.remarks ?? []).map { .init(text: $0) }
    }

    private var latencyLead: String {
        settings.loop == .open
            ? "From when a call was due by the schedule to its answer, so that a stall counts for every call that waited for it (no coordinated omission)."
            : "Closed loop: each user calls again when the last call is over, so a stall hides the calls that were not made meanwhile."
    }

    private var operationsTitle: String { operations.count > 1 ? "Steps" : "Methods" }
}

extension LoadReport {
    var percentileChart: Chart? {
        var curves = [("from due to answered", totals.responseTime, 0), ("from sent to answered", totals.serviceTime, 2)]
        if let iterationTime { curves.append(("whole iteration", iterationTime, 3)) }
        return Self.percentiles(
            "Percentile curve", "How long the slowest calls took: read p99.9 as one call in a thousand being slower. Both axes logarithmic.", curves)
    }

    /// The steps of a scenario side by side.
    var stepPercentileChart: Chart? {
        guard operations.count > 1 else { return nil }
        let curves = operations.prefix(ChartDrawing.palette).enumerated().map { ($1.name, $1.responseTime, $0) }
        return Self.percentiles("Percentile curve of each step", "From when a call was due to its answer. Both axes logarithmic.", curves)
    }

    static func percentiles(_ title: String, _ caption: String, _ curves: [(name: String, latencies: Latencies, colour: Int)]) -> Chart? {
        let shown = curves.filter { $0.latencies.count > 0 }
        guard let most = shown.map(\.latencies.count).max() else { return nil }
        // Up to where one value is left above.
        let end = max(1, log10(Double(most)))
        let places = PercentilePlace.places(to: end)
        let lines = shown.map { curve in
            Chart.Line(name: curve.name, values: PercentilePlace.values(of: curve.latencies, at: places), colour: curve.colour)
        }
        let ticks = (0...Int(end.rounded(.up))).map(Double.init)
        return Chart(
            title: title, caption: caption, x: places, xScale: AxisScale(exactly: 0...end, ticks: ticks.filter { $0 <= end }), xTitle: "percentile",
            xText: { Quantity.percentile(PercentilePlace.percentile($0)) }, lines: lines,
            yScale: AxisScale(logarithmicFrom: Chart.smallest(lines) ?? 1, to: Chart.tallest(lines)), yText: { Quantity.time($0) })
    }
}

/// Places on the axis of HdrHistogram's plots: equal steps each leave a tenth of the calls above.
enum PercentilePlace {
    /// 0 is percentile 0, 1 is 90, 2 is 99, 3 is 99.9.
    static func percentile(_ place: Double) -> Double { 100 * (1 - pow(10, -place)) }

    /// The time at each place; none where less than one value would lie above.
    static func values(of latencies: Latencies, at places: [Double]) -> [Double?] {
        let (histogram, total) = (latencies.histogram, Double(latencies.count))
        var (bucket, below) = (0, 0.0)
        return places.map { place in
            let rank = total * (1 - pow(10, -place))
            // The last place may miss the number of values by a rounding.
            guard total > 0, place <= log10(total) + 1e-9 else { return nil }
            if rank > total - 1 + 1e-9 { return Double(latencies.maxNanoseconds) }
            while bucket < histogram.counts.count - 1, below + Double(histogram.counts[bucket]) < rank {
                below += Double(histogram.counts[bucket])
                bucket += 1
            }
            return bucket < histogram.values.count ? Double(histogram.values[bucket]) : nil
        }
    }

    /// 20 for each tenfold step.
    static func places(to end: Double) -> [Double] {
        let steps = Int((end * 20).rounded(.down))
        let places = (0...max(1, steps)).map { Double($0) / 20 }
        return places.last.map { $0 < end - 1e-9 } == true ? places + [end] : places
    }
}

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
