internal import CommandKit
internal import Contracts
internal import Foundation

/// A sign-in check by check, in the form that the administration API gives.
struct ExplainedSignIn: Codable, Equatable, Sendable {
    struct Check: Codable, Equatable, Sendable {
        var step: Int
        var title: String
        /// `passed`, `failed`, `notReached`, `notNeeded` or `notChecked`.
        var outcome: String
        var reason: String?
        var explanation: String?
        var hint: String?
    }

    struct Fact: Codable, Equatable, Sendable {
        var name: String
        var value: String
    }

    var trace: String?
    /// Milliseconds since 1970.
    var endedAt: Int64
    var requestor: String?
    var mvpd: String?
    var result: String
    var reason: String?
    var checks: [Check]
    /// What the message says of itself.
    var message: [Fact]
}

extension ExplainedSignIn {
    init(_ report: SignInReport) {
        func optional(_ text: String) -> String? { text.isEmpty ? nil : text }
        trace = optional(report.traceID)
        endedAt = Int64(clamping: report.endedAtMilliseconds)
        requestor = optional(report.requestor)
        mvpd = optional(report.mvpd)
        result =
            switch report.result {
            case .signedIn: "signedIn"
            case .declined: "declined"
            case .silent: "silent"
            case .rejected, .continued, .tested, .unknown, .unrecognized: "rejected"
            }
        reason = optional(report.reason)
        checks = report.checks.map { check in
            Check(
                step: Int(check.step), title: check.title, outcome: Self.word(check.outcome), reason: optional(check.reason),
                explanation: optional(check.explanation), hint: optional(check.hint))
        }
        message = report.facts.map { Fact(name: $0.name, value: $0.value) }
    }

    private static func word(_ outcome: SignInCheckOutcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed: "failed"
        case .notReached: "notReached"
        case .notNeeded: "notNeeded"
        case .notChecked, .unknown, .unrecognized: "notChecked"
        }
    }
}

/// The latest sign-ins that failed, as the administration API lists them.
struct FailedSignIns: Decodable {
    struct SignIn: Decodable {
        let trace: String?
        /// Milliseconds since 1970.
        let endedAt: Int64
        let requestor: String?
        let mvpd: String?
        let result: String
        let reason: String?
        /// Absent: a gateway of an older release.
        let test: Bool?
    }

    /// The latest first.
    let signIns: [SignIn]

    /// As many as fit a terminal.
    private static let most = 10

    init(_ body: [UInt8]) throws { self = try JSONDecoder().decode(FailedSignIns.self, from: Data(body)) }

    static func none(_ mvpd: String?) -> String { "no sign-in\(mvpd.map { " at \($0)" } ?? "") is remembered that failed" }

    /// - Parameter mvpd: That of the question.
    func lines(mvpd: String?) -> [String] {
        guard !signIns.isEmpty else { return [Self.none(mvpd)] }
        let shown = signIns.prefix(Self.most).flatMap { signIn -> [String] in
            let moment = Date(timeIntervalSince1970: Double(signIn.endedAt) / 1000).formatted(.iso8601)
            let place = "\(signIn.mvpd ?? "an MVPD that is not known") for \(signIn.requestor ?? "a requestor that is not known")"
            let why = signIn.reason.map { ": \($0)" } ?? ""
            return ["\(signIn.trace ?? "no trace")  \(moment)  \(signIn.result)\(signIn.test == true ? ", a test" : "")"]
                + TerminalText.wrapped(place + why, 4)
        }
        let more = signIns.count > Self.most ? ["and \(signIns.count - Self.most) more: --json lists them all"] : []
        return shown + more + ["", "'boxoffice explain TRACE-ID' explains one of them,", "'boxoffice explain --last' the first."]
    }
}
