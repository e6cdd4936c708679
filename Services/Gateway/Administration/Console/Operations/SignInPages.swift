internal import Contracts
internal import GatewayEdge
internal import Hummingbird

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
        // Failures are what one comes for; the form says otherwise by the empty value beside the box.
        let failedOnly = exchange.query.isEmpty ? true : try exchange.value("failed") == "1"
        let request = ListSignInReportsRequest(mvpd: mvpd, failedOnly: failedOnly)
        let reports = try await reader.reports(request, for: visitor.administrator, exchange)
        let content: [String: Any] = [
            "signIns": reports.prefix(Self.most).map(Self.row), "filterMvpd": mvpd, "failedOnly": failedOnly, "isEmpty": reports.isEmpty,
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
        [
            "signInTrace": report.traceID, "signInAddress": Console.address("sign-ins", report.traceID),
            "signInAt": Moment(milliseconds: report.endedAtMilliseconds).text, "signInChannel": report.requestor.isEmpty ? "–" : report.requestor,
            "signInMvpd": report.mvpd.isEmpty ? "–" : report.mvpd, "signInReason": report.reason.isEmpty ? "–" : report.reason,
            "signInResult": report.isTest ? "test: \(word(report.result, isTest: true))" : word(report.result), "isTest": report.isTest,
            "isGood": report.result == .signedIn, "isBad": report.result == .rejected,
        ]
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
