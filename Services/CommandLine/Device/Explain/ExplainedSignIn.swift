internal import Contracts

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
