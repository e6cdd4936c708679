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
    /// The message's own facts.
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

    /// - Parameter mvpd: The MVPD of the question.
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

extension ExplainedSignIn {
    /// - Parameters:
    ///   - asJSON: All of it, in the form of the administration API.
    ///   - showsAll: The checks that did not fail, too.
    func text(asJSON: Bool, showsAll: Bool, _ console: Console) throws -> String {
        guard !asJSON else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
        let (failed, others) = (checks.filter { $0.outcome == "failed" }, checks.filter { $0.outcome != "failed" })
        let shown = failed + (showsAll ? others : [])
        return (head(console) + shown.flatMap { rows($0, console) } + (showsAll ? Self.legend : summary(others)) + footer).joined(separator: "\n")
    }

    private func head(_ console: Console) -> [String] {
        let verdict =
            switch result {
            case "signedIn": console.good(trace == nil ? "would sign in" : "signed in")
            case "declined": "declined by the MVPD or the person"
            case "silent": "signed in nowhere, and not to be asked"
            default: console.bad("rejected")
            }
        let moment = Date(timeIntervalSince1970: Double(endedAt) / 1000).formatted(.iso8601)
        let parties = [mvpd.map { "MVPD \($0)" }, requestor.map { "requestor \($0)" }].compactMap { $0 }.joined(separator: ", ")
        return [console.bold(verdict) + (reason.map { ": \($0)" } ?? "")]
            + TerminalText.wrapped(
                [trace.map { "trace \($0)" }, parties.isEmpty ? nil : parties, "at \(moment)"].compactMap { $0 }.joined(separator: ", "), 2)
            + [""]
    }

    private func rows(_ check: Check, _ console: Console) -> [String] {
        let mark =
            switch check.outcome {
            case "passed": console.good("ok  ")
            case "failed": console.bad("FAIL")
            case "notReached": console.faint("... ")
            default: console.faint("-   ")
            }
        let number = check.step < 10 ? " \(check.step)" : "\(check.step)"
        var lines = ["\(number)  \(mark)  \(check.title)"]
        if check.outcome == "failed", let reason = check.reason { lines += TerminalText.wrapped("reason \(reason)", 10) }
        if let explanation = check.explanation { lines += TerminalText.wrapped(explanation, 10) }
        if let hint = check.hint { lines += TerminalText.wrapped("-> " + hint, 10) }
        return lines
    }

    private static let legend = ["", "ok passed, ... not checked as another failed, - not needed or not checked"]

    /// The summary of checks that are not shown.
    private func summary(_ others: [Check]) -> [String] {
        let counts = [
            ("passed", others.count { $0.outcome == "passed" }), ("not reached", others.count { $0.outcome == "notReached" }),
            ("not needed or not checked", others.count { $0.outcome != "passed" && $0.outcome != "notReached" }),
        ].filter { $0.1 > 0 }
        guard !counts.isEmpty else { return [] }
        let isFirst = others.count == checks.count
        return (isFirst ? [] : [""])
            + ["\(isFirst ? "Checks" : "Further checks"): \(counts.map { "\($0.1) \($0.0)" }.joined(separator: ", ")). --all shows them."]
    }

    private var footer: [String] {
        guard !message.isEmpty else { return [] }
        return ["", "What the message says of itself (nothing of it is trusted):"]
            + message.flatMap { TerminalText.wrapped("\($0.name): \($0.value)", 2) }
    }
}
