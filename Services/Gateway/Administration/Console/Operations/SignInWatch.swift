internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Shows the newest sign-in at an MVPD, check by check, as soon as there is one: for whoever tries a connection out.
struct SignInWatch: Sendable {
    static let path = ConsolePlace.signIns.address + "/watch"
    /// Between two looks.
    private static let seconds = 4

    let console: Console

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let mvpd = (try exchange.value("mvpd") ?? "").trimmed
        guard !mvpd.isEmpty else { return Console.seeOther(ConsolePlace.signIns.address) }
        let reports = try await reader.reports(ListSignInReportsRequest(mvpd: mvpd), for: visitor.administrator, exchange)
        guard let start = try exchange.value("after").flatMap(UInt64.init) else {
            // Earlier reports are of no interest.
            return Console.seeOther(Self.address(mvpd, after: reports.first?.endedAtMilliseconds ?? 0))
        }
        let new = reports.filter { $0.endedAtMilliseconds > start && !$0.isTest }
        let isRunning = try exchange.value("paused") == nil
        var content: [String: Any] = [
            "watched": mvpd, "watchedAddress": ConsoleCollection.mvpds.address(of: mvpd), "isRunning": isRunning, "seconds": "\(Self.seconds)",
            "activationAddress": console.dependencies.settings.publicOrigin + "/activate",
            "pauseAddress": Self.address(mvpd, after: start, isPaused: true), "lookAddress": Self.address(mvpd, after: start),
            "allAddress": Console.address("sign-ins", query: ["mvpd": mvpd]), "count": "\(new.count)", "isMore": new.count > 1,
        ]
        if visitor.mayEdit { content["testAddress"] = TestSignInPages.address(mvpd: mvpd) }
        if let newest = new.first {
            let report = try await reader.report(newest.traceID, for: visitor.administrator, exchange)
            content.merge(SignInPages.content(report)) { _, own in own }
        }
        var response = await console.page(
            "sign-in-watch", "Watch a sign-in", window: "Watch a sign-in at \(mvpd)", in: .signIns, content, for: visitor, exchange)
        // By a header: the page works without scripts.
        if isRunning { response.headers[.refresh] = "\(Self.seconds)" }
        return response
    }

    static func address(_ mvpd: String) -> String { Console.address("sign-ins", "watch", query: ["mvpd": mvpd]) }

    private static func address(_ mvpd: String, after start: UInt64, isPaused: Bool = false) -> String {
        let query: KeyValuePairs<String, String> =
            isPaused ? ["mvpd": mvpd, "after": "\(start)", "paused": "1"] : ["mvpd": mvpd, "after": "\(start)"]
        return Console.address("sign-ins", "watch", query: query)
    }
}

/// The latest sign-ins, and why one failed, check by check (mvpd §2.3).
struct SignInPages: Sendable {
    /// Rows of the list.
    private static let most = 200

    let console: Console

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    @Sendable func list(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let mvpd = (try exchange.value("mvpd") ?? "").trimmed
        let failedOnly = try exchange.value("failed") == "1"
        let request = ListSignInReportsRequest(mvpd: mvpd, failedOnly: failedOnly)
        let reports = try await reader.reports(request, for: visitor.administrator, exchange)
        let content: [String: Any] = [
            "signIns": reports.prefix(Self.most).map(Self.row), "filterMvpd": mvpd, "failedOnly": failedOnly, "isEmpty": reports.isEmpty,
            "isFiltered": failedOnly || !mvpd.isEmpty,
            "signInsAddress": ConsolePlace.signIns.address, "isCut": reports.count > Self.most, "most": "\(Self.most)",
        ]
        return await console.page("sign-ins", "Sign-ins", in: .signIns, content, for: visitor, exchange)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let report = try await reader.report(try exchange.captured("trace"), for: visitor.administrator, exchange)
        let content = Self.content(report)
        return await console.page("sign-in-report", "Sign-in \(report.traceID.prefix(8))", in: .signIns, content, for: visitor, exchange)
    }

    /// With each check.
    static func content(_ report: SignInReport) -> [String: Any] {
        let failed = report.checks.filter { $0.outcome == .failed }
        var content = Self.row(report)
        content["failedChecks"] = failed.map { Self.check($0, of: report.mvpd) }
        content["checks"] = report.checks.map { Self.check($0, of: report.mvpd) }
        content["hasChecks"] = !report.checks.isEmpty
        content["signInFacts"] = report.facts.map { ["factLabel": $0.name, "factValue": $0.value] }
        content["hasFacts"] = !report.facts.isEmpty
        content["signInsAddress"] = ConsolePlace.signIns.address
        if !report.mvpd.isEmpty { content["mvpdAddress"] = ConsoleCollection.mvpds.address(of: report.mvpd) }
        return content
    }

    private static func row(_ report: SignInReport) -> [String: Any] {
        var row: [String: Any] = [
            "signInTrace": report.traceID, "signInAddress": Console.address("sign-ins", report.traceID),
            "signInAt": DisplayedTime(milliseconds: report.endedAtMilliseconds).text,
            "signInChannel": report.requestor.isEmpty ? "–" : report.requestor,
            "signInMvpd": report.mvpd.isEmpty ? "–" : report.mvpd, "signInReason": report.reason.isEmpty ? "–" : report.reason,
            "signInResult": report.isTest ? "test: \(word(report.result, isTest: true))" : word(report.result), "isTest": report.isTest,
            "isGood": report.result == .signedIn, "isBad": report.result == .rejected,
        ]
        if report.result == .rejected, !report.reason.isEmpty { row["signInWhy"] = SignInReasonText.sentence(report.reason) }
        return row
    }

    private static func word(_ result: SignInResult, isTest: Bool = false) -> String {
        switch result {
        case .signedIn: isTest ? "would sign in" : "signed in"
        case .declined: "declined at the MVPD"
        case .silent: "not signed in at the MVPD"
        case .rejected, .continued, .tested, .unknown, .unrecognized: "failed"
        }
    }

    private static func check(_ check: SignInCheck, of mvpd: String) -> [String: Any] {
        let settings = mvpd.isEmpty ? [] : SignInFields.links(in: check.hint, of: mvpd)
        return [
            "checkStep": "\(check.step)", "checkTitle": check.title, "checkOutcome": word(check.outcome), "isPassed": check.outcome == .passed,
            "isFailed": check.outcome == .failed, "checkReason": check.reason, "checkExplanation": check.explanation, "checkHint": check.hint,
            "hasExplanation": !check.explanation.isEmpty, "hasCheckHint": !check.hint.isEmpty, "settings": settings, "hasSettings": !settings.isEmpty,
        ]
    }

    private static func word(_ outcome: SignInCheckOutcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed: "failed"
        case .notReached: "not checked"
        case .notNeeded: "not needed"
        case .notChecked, .unknown, .unrecognized: "not checked"
        }
    }
}

/// The latest sign-ins, as far as an administrator may see them: those of the requestors of the administrator's programmers.
struct SignInReader: Sendable {
    let operations: any AuthenticationOperations
    let catalogue: any CatalogueSource

    func reports(_ request: ListSignInReportsRequest, for administrator: Administrator, _ exchange: Exchange) async throws -> [SignInReport] {
        try visible(try await operations.listSignInReports(request, context: exchange.call).reports, to: administrator)
    }

    func visible(_ reports: [SignInReport], to administrator: Administrator) throws -> [SignInReport] {
        try reports.filter { try sees(administrator, $0) }
    }

    /// The states of scheduled sign-ins.
    func scheduled(for administrator: Administrator, _ exchange: Exchange) async throws -> [ScheduledSignInState] {
        try visible(try await operations.listScheduledSignIns(ListScheduledSignInsRequest(), context: exchange.call).signIns, to: administrator)
    }

    func visible(_ states: [ScheduledSignInState], to administrator: Administrator) throws -> [ScheduledSignInState] {
        let catalogue = try catalogue.current()
        return states.filter { state in
            guard administrator.role != .operator else { return true }
            return catalogue.requestor(state.requestor).map { administrator.programmerIDs.contains($0.programmerID) } ?? false
        }
    }

    /// - Throws: `not_found`.
    func report(_ trace: String, for administrator: Administrator, _ exchange: Exchange) async throws -> SignInReport {
        let report = try await operations.getSignInReport(GetSignInReportRequest(traceID: trace), context: exchange.call)
        guard try sees(administrator, report) else { throw Fault(.notFound, "No sign-in of that trace id is remembered.") }
        return report
    }

    private func sees(_ administrator: Administrator, _ report: SignInReport) throws -> Bool {
        guard administrator.role != .operator else { return true }
        // The requestor of a test may be one that no version has.
        if report.isTest { return administrator.programmerIDs.contains { OctetText($0) == OctetText(report.programmerID) } }
        guard let requestor = try catalogue.current().requestor(report.requestor) else { return false }
        // One from before is of another programmer, who had the id.
        guard report.endedAtMilliseconds >= requestor.sinceMilliseconds else { return false }
        return administrator.programmerIDs.contains(requestor.programmerID)
    }
}
