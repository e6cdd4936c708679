internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The facts that an operator must know first: which MVPDs fail and since when, what is degraded, what was pushed (dashboard §7).
struct HomePage: Sendable {
    let console: Console

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        async let rules = console.administration.listDegradationRules(
            ListDegradationRulesRequest(token: visitor.secret), context: exchange.call)
        async let versions = console.administration.listVersions(
            ListVersionsRequest(token: visitor.secret, page: PageRequest(page: 1, size: 10)), context: exchange.call)
        async let channels = total(.requestor, exchange, visitor)
        async let integrations = total(.integration, exchange, visitor)
        async let mvpds = total(.mvpd, exchange, visitor)
        var content: [String: Any] = [
            "counts": [
                Self.count(try await integrations, "integration", .integrations), Self.count(try await channels, "channel", .channels),
                Self.count(try await mvpds, "MVPD", .mvpds),
            ],
            "versions": try await versions.versions.map(VersionRow.content), "historyAddress": ConsolePlace.history.address,
            "signInsAddress": ConsolePlace.signIns.address, "degradationAddress": ConsolePlace.degradation.address,
        ]
        let degraded = try await rules.rules
        if !degraded.isEmpty { content["degraded"] = ["rules": degraded.map(DegradationRow.content)] }
        content.merge(await trouble(exchange, visitor)) { own, _ in own }
        content.merge(await testUsers(exchange, visitor)) { own, _ in own }
        content.merge(await UpstreamSummary(console: console).home(exchange, visitor)) { own, _ in own }
        return await console.page("home", "Home", in: .home, content, for: visitor, exchange)
    }

    /// The page is there also while authentication is away: it says so.
    private func trouble(_ exchange: Exchange, _ visitor: Visitor) async -> [String: Any] {
        let reports: [SignInReport]
        do {
            reports = try await reader.reports(ListSignInReportsRequest(), for: visitor.administrator, exchange)
        } catch {
            let isOffered = (error as? Fault)?.code != .unimplemented
            return [isOffered ? "signInsAway" : "signInsUnknown": true]
        }
        let now = reports.first.map(\.endedAtMilliseconds) ?? 0
        let rows = MvpdTrouble.found(in: reports).map { trouble -> [String: Any] in
            var row: [String: Any] = [
                "troubleName": trouble.mvpd, "troubleAddress": ConsoleCollection.mvpds.address(of: trouble.mvpd),
                "troubleSince": DisplayedTime(milliseconds: trouble.since).text, "troubleCount": "\(trouble.failures)",
                "troubleOnce": trouble.failures == 1, "troubleReason": trouble.latest.reason,
                "troubleListAddress": Console.address("sign-ins", query: ["mvpd": trouble.mvpd, "failed": "1"]),
                "explainAddress": Console.address("sign-ins", trouble.latest.traceID),
            ]
            if visitor.mayEdit { row["degradeAddress"] = Console.address("degradation", "new", query: ["mvpd": trouble.mvpd]) }
            return row
        }
        guard !rows.isEmpty else { return ["allWell": ["latestSignIn": DisplayedTime(milliseconds: now).text, "hasSignIns": now > 0]] }
        return ["troubles": ["troubleRows": rows]]
    }

    /// The results of test users; nothing where no MVPD has one, or nobody can say.
    private func testUsers(_ exchange: Exchange, _ visitor: Visitor) async -> [String: Any] {
        guard let states = try? await reader.scheduled(for: visitor.administrator, exchange), !states.isEmpty else { return [:] }
        let failed = states.filter { !$0.failedStep.isEmpty }
        let rows = failed.map { state -> [String: Any] in
            [
                "testName": state.mvpd, "testAddress": ConsoleCollection.mvpds.address(of: state.mvpd),
                "testSince": DisplayedTime(milliseconds: state.failingSinceMilliseconds).text, "testCount": "\(state.failures)",
                "testStep": state.failedStep,
                "testReason": state.reason, "testExplanation": state.explanation,
            ]
        }
        let ended = states.filter { $0.endedAtMilliseconds > 0 }
        let good = ended.count - failed.count
        var section: [String: Any] = ["testRows": rows, "hasFailed": !rows.isEmpty, "goodCount": "\(good)", "allCount": "\(states.count)"]
        if let latest = ended.map(\.endedAtMilliseconds).max() { section["latestTest"] = DisplayedTime(milliseconds: latest).text }
        return ["testUsers": section]
    }

    private func total(_ kind: EntityKind, _ exchange: Exchange, _ visitor: Visitor) async throws -> UInt32 {
        let request = ListEntitiesRequest(token: visitor.secret, kind: kind, page: PageRequest(page: 1, size: 1))
        return try await console.administration.listEntities(request, context: exchange.call).total
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
