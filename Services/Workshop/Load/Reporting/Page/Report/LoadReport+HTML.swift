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

    /// What a reader must know before the numbers.
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
