internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// The facts that an operator must know first: which MVPDs fail and since when, what is degraded, what was pushed (dashboard §7).
///
/// All peers are asked side by side, and none of them for longer than a reader notices: the page shows what is known, and says who did not answer.
struct HomePage: Sendable {
    let console: Console
    private let reports = BriefWait<[SignInReport]>()
    private let scheduled = BriefWait<[ScheduledSignInState]>()
    private let upstreams = BriefWait<[UpstreamState]>()
    private let points = CopyAnswers<FailingDecisionPoints>()
    private let returns = CopyAnswers<ReturnCounts>()

    init(console: Console) { self.console = console }

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let (dependencies, context) = (console.dependencies, exchange.call.child(within: CopyAnswers<ReturnCounts>.limit))
        let operations = dependencies.operations
        async let catalogue = BriefWait<CatalogueSummary>().answer {
            try await CatalogueSummary(console.administration, visitor.secret, context)
        }
        async let reports = self.reports.answer { try await operations.listSignInReports(ListSignInReportsRequest(), context: context).reports }
        async let scheduled = self.scheduled.answer {
            try await operations.listScheduledSignIns(ListScheduledSignInsRequest(), context: context).signIns
        }
        async let upstreams = upstreamStates(visitor, context)
        async let points = self.points.ask(dependencies.cluster.failingDecisionPoints(), exchange.call)
        async let returns = self.returns.ask(dependencies.cluster.returns(), exchange.call)
        var content: [String: Any] = [
            "historyAddress": ConsolePlace.history.address, "signInsAddress": ConsolePlace.signIns.address,
            "failedSignInsAddress": Console.address("sign-ins", query: ["failed": "1"]), "degradationAddress": ConsolePlace.degradation.address,
        ]
        content.merge(try summary(await catalogue)) { own, _ in own }
        content.merge(try trouble(await reports, visitor)) { own, _ in own }
        content.merge(try testUsers(await scheduled, visitor)) { own, _ in own }
        if let states = await upstreams.value { content.merge(UpstreamSummary.home(states)) { own, _ in own } }
        let sections = ClusterSections(
            scope: try ConsoleScope(catalogue: dependencies.catalogue).mvpds(of: visitor.administrator), now: dependencies.wall.now(),
            mayDegrade: visitor.mayEdit)
        var checks = [sections.decisionPoints(await points, in: &content), sections.returns(await returns, in: &content)]
        if visitor.isOperator {
            checks.append(sections.services(dependencies.cluster.peers(), in: &content))
            let certificates = ServiceCertificates(dependencies.cluster, try dependencies.catalogue.current(), now: dependencies.wall.now())
            checks.append(certificates.tell(in: &content))
        }
        let lines = checks.compactMap(\.self).map(\.content)
        content["checks"] = lines
        content["hasChecks"] = !lines.isEmpty
        return await console.page("home", "Home", in: .home, content, for: visitor, exchange)
    }

    /// For operators; nothing for anybody else.
    private func upstreamStates(_ visitor: Visitor, _ context: CallContext) async -> BriefAnswer<[UpstreamState]> {
        guard visitor.isOperator else { return .known([]) }
        return await upstreams.answer { [operations = console.dependencies.operations] in
            try await operations.listUpstreamStates(ListUpstreamStatesRequest(), context: context).states
        }
    }

    /// - Throws: Why config cannot say it, other than that it takes its time.
    private func summary(_ answer: BriefAnswer<CatalogueSummary>) throws -> [String: Any] {
        switch answer {
        case .known(let summary): return summary.content
        case .late: return ["catalogueLate": true]
        case .failed(let error): throw error
        }
    }

    /// The page is there also while authentication is away: it says so.
    private func trouble(_ answer: BriefAnswer<[SignInReport]>, _ visitor: Visitor) throws -> [String: Any] {
        guard let found = answer.value else { return [answer.isUnimplemented ? "signInsUnknown" : "signInsAway": true] }
        let reports = try reader.visible(found, to: visitor.administrator)
        var content: [String: Any] = answer.isLate ? ["signInsLate": true] : [:]
        let rows = MvpdTrouble.found(in: reports).map { trouble -> [String: Any] in
            var row: [String: Any] = [
                "troubleName": trouble.mvpd, "troubleAddress": ConsoleCollection.mvpds.address(of: trouble.mvpd),
                "troubleSince": DisplayedTime(milliseconds: trouble.since).text, "troubleCount": "\(trouble.failures)",
                "troubleOnce": trouble.failures == 1, "troubleReason": SignInReasonText.sentence(trouble.latest.reason),
                "troubleListAddress": Console.address("sign-ins", query: ["mvpd": trouble.mvpd, "failed": "1"]),
                "explainAddress": Console.address("sign-ins", trouble.latest.traceID),
            ]
            if visitor.mayEdit { row["degradeAddress"] = Console.address("degradation", "new", query: ["mvpd": trouble.mvpd]) }
            return row
        }
        guard rows.isEmpty else {
            content["troubles"] = ["troubleRows": rows]
            return content
        }
        let latest = reports.first.map(\.endedAtMilliseconds) ?? 0
        content["allWell"] = ["latestSignIn": DisplayedTime(milliseconds: latest).text, "hasSignIns": latest > 0]
        return content
    }

    /// The results of test users; nothing where no MVPD has one, or nobody can say.
    private func testUsers(_ answer: BriefAnswer<[ScheduledSignInState]>, _ visitor: Visitor) throws -> [String: Any] {
        guard let states = try answer.value.map({ try reader.visible($0, to: visitor.administrator) }), !states.isEmpty else { return [:] }
        let failed = states.filter { !$0.failedStep.isEmpty }
        let rows = failed.map { state -> [String: Any] in
            [
                "testName": state.mvpd, "testAddress": ConsoleCollection.mvpds.address(of: state.mvpd),
                "testSince": DisplayedTime(milliseconds: state.failingSinceMilliseconds).text, "testCount": "\(state.failures)",
                "testStep": Self.step(state.failedStep),
                "testExplanation": state.explanation.isEmpty ? SignInReasonText.sentence(state.reason) : state.explanation,
            ]
        }
        let ended = states.filter { $0.endedAtMilliseconds > 0 }
        let good = ended.count - failed.count
        var section: [String: Any] = ["testRows": rows, "hasFailed": !rows.isEmpty, "goodCount": "\(good)", "allCount": "\(states.count)"]
        if let latest = ended.map(\.endedAtMilliseconds).max() { section["latestTest"] = DisplayedTime(milliseconds: latest).text }
        return ["testUsers": section]
    }

    private static func step(_ step: String) -> String {
        switch step {
        case "start": "the beginning here"
        case "page": "the MVPD's login page"
        case "login": "the login at the MVPD"
        case "answer": "the MVPD's answer"
        default: step
        }
    }
}

/// What config says of the catalogue on the first page.
private struct CatalogueSummary: Sendable {
    let rules: [ActiveDegradation]
    let versions: [CatalogueVersion]
    let channels: UInt32
    let integrations: UInt32
    let mvpds: UInt32

    init(_ administration: any Administration, _ token: String, _ context: CallContext) async throws {
        @Sendable func total(_ kind: EntityKind) async throws -> UInt32 {
            let request = ListEntitiesRequest(token: token, kind: kind, page: PageRequest(page: 1, size: 1))
            return try await administration.listEntities(request, context: context).total
        }
        async let rules = administration.listDegradationRules(ListDegradationRulesRequest(token: token), context: context).rules
        async let versions = administration.listVersions(
            ListVersionsRequest(token: token, page: PageRequest(page: 1, size: 10)), context: context
        ).versions
        async let channels = total(.requestor)
        async let integrations = total(.integration)
        async let mvpds = total(.mvpd)
        (self.rules, self.versions) = (try await rules, try await versions)
        (self.channels, self.integrations, self.mvpds) = (try await channels, try await integrations, try await mvpds)
    }

    var content: [String: Any] {
        var content: [String: Any] = [
            "catalogue": [
                "counts": [
                    Self.count(integrations, "integration", .integrations), Self.count(channels, "channel", .channels),
                    Self.count(mvpds, "MVPD", .mvpds),
                ],
                "versions": versions.map(VersionRow.content),
            ]
        ]
        if !rules.isEmpty { content["degraded"] = ["rules": rules.map(Self.rule)] }
        return content
    }

    private static func rule(_ active: ActiveDegradation) -> [String: Any] {
        var content = DegradationRow.content(active)
        content["ruleSentence"] =
            switch active.rule?.kind {
            case .authnAll?: "Everybody may sign in and watch."
            case .authzAll?: "Everybody who is signed in may watch."
            case .authzNone?: "Nobody may watch."
            default: ""
            }
        return content
    }

    private static func count(_ number: UInt32, _ noun: String, _ place: ConsolePlace) -> [String: Any] {
        ["countNumber": "\(number)", "countNoun": number == 1 ? noun : noun + "s", "countAddress": place.address]
    }
}

/// The trouble of one MVPD, by the latest sign-ins.
struct MvpdTrouble {
    let mvpd: String
    /// Milliseconds since 1970: its oldest failure since somebody last signed in.
    let since: UInt64
    /// The number of sign-ins in a row that it has failed.
    let failures: Int
    /// The newest of them.
    let latest: SignInReport

    /// A page that was open too long, or sent twice.
    private static let lateReturn = "state.unknown"

    /// The MVPDs at which the latest sign-in failed, those with most failures first. A person who cancels, mistypes or comes
    /// back too late is no failure of the MVPD, and a test is none of what viewers see.
    static func found(in reports: [SignInReport]) -> [MvpdTrouble] {
        var order: [OctetText] = []
        var series: [OctetText: [SignInReport]] = [:]
        for report in reports
        where !report.mvpd.isEmpty && !report.isTest && report.result != .declined && report.result != .silent && report.reason != lateReturn {
            let key = OctetText(report.mvpd)
            if series[key] == nil { order.append(key) }
            series[key, default: []].append(report)
        }
        let found = order.compactMap { key -> MvpdTrouble? in
            let failures = (series[key] ?? []).prefix { $0.result == .rejected }
            guard let newest = failures.first, let oldest = failures.last else { return nil }
            return MvpdTrouble(mvpd: newest.mvpd, since: oldest.endedAtMilliseconds, failures: failures.count, latest: newest)
        }
        return found.sorted { ($1.failures, $0.since) < ($0.failures, $1.since) }
    }
}
