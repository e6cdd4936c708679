internal import ArgumentParser
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// `boxoffice upstream check`: walks what the bridge needs of an upstream, step by step.
struct UpstreamCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Try each step that the bridge needs of an upstream, and say what came and what to do about it.",
        discussion: """
            The cluster makes the calls, with the software statement that the catalogue names. They leave one client and one session that nobody \
            uses upstream, and no profile. With --sign-in a person signs in at the address that is printed; the decisions that follow may count as plays \
            there. Nothing secret is printed, but for that address. The exit code is 0 when every step passed, 1 when one failed, and 4 when the upstream \
            or the cluster cannot be reached.
            """)

    @Argument(help: "The upstream's id.")
    var upstream: String

    @Option(help: "The channel to check it for. Default: the first that uses it.")
    var requestor: String?

    @Flag(help: "Let a person sign in, play and sign out, too.")
    var signIn = false

    @Flag(help: "Try whether devices have budgets of their own: 14 calls in the name of two example addresses.")
    var throttle = false

    @Option(help: "With --sign-in: the certificate (PEM) that its media tokens verify by.")
    var certificate: String?

    @Option(help: "With --sign-in: what the person asks to play. Default: the channel's id.")
    var resource: String?

    @Option(help: "With --sign-in: seconds to wait for the person, 1 to 1800.")
    var wait = 300

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        guard (1...1800).contains(wait) else { throw ValidationError("--wait is from 1 to 1800.") }
        guard signIn || certificate == nil && resource == nil else { throw ValidationError("--certificate and --resource go with --sign-in.") }
    }

    func run() async throws {
        let pem = try certificate.map { try TextFile.read($0) }
        var walk = UpstreamWalk(upstream: upstream, requestor: requestor)
        let console = Console(isQuiet: json)
        try await walk.go("client", console)
        if !walk.isUnreachable, !walk.hasFailed(before: 4) {
            try await walk.go("session", console)
            try await walk.go("decision", console)
            if throttle { try await walk.go("throttle", console) }
            if signIn { try await person(&walk, pem, console) }
        } else {
            console.line("The steps that follow were not tried.")
        }
        if json { try JsonOutput.show(walk.report) }
        guard !walk.isUnreachable else { throw CommandExit.unreachable.exitCode }
        guard !walk.hasFailed else { throw CommandExit.failed.exitCode }
    }

    private func person(_ walk: inout UpstreamWalk, _ pem: String?, _ console: Console) async throws {
        let begun = try await walk.go("signIn", console)
        guard let address = begun["browserAddress"] as? String, let ticket = begun["ticket"] as? String else { return }
        // The report alone is the answer of a program that reads it.
        let notice = "Open \(address) and sign in; when the browser is at another address again, it is done, whatever it shows\n"
        FileHandle.standardError.write(Data(notice.utf8))
        var question = ["ticket": ticket]
        question["certificate"] = pem
        question["resource"] = resource
        let end = ContinuousClock.now + .seconds(wait)
        while ContinuousClock.now < end {
            let answer = try await walk.ask("signedIn", question)
            guard answer["open"] as? Bool == true else { return walk.take(answer, console) }
            try await Task.sleep(for: .seconds(2))
        }
        throw CommandFailure("nobody has signed in within \(wait) seconds", advice: "--wait gives more time")
    }
}

/// The steps of a check as they come.
struct UpstreamWalk {
    private let upstream: String
    private var requestor: String?
    private(set) var steps: [[String: Any]] = []
    private(set) var isUnreachable = false

    init(upstream: String, requestor: String?) { (self.upstream, self.requestor) = (upstream, requestor) }

    var hasFailed: Bool { steps.contains { $0["outcome"] as? String == "failed" } }

    func hasFailed(before step: Int) -> Bool {
        steps.contains { $0["outcome"] as? String == "failed" && ($0["step"] as? Int ?? 0) < step }
    }

    var report: [String: Any] {
        ["upstream": upstream, "requestor": requestor ?? "", "passed": !hasFailed && !isUnreachable, "unreachable": isUnreachable, "steps": steps]
    }

    /// Walks a part.
    @discardableResult
    mutating func go(_ part: String, _ console: Console) async throws -> [String: Any] {
        let answer = try await ask(part, [:])
        take(answer, console)
        return answer
    }

    func ask(_ part: String, _ more: [String: String]) async throws -> [String: Any] {
        var body = more
        body["part"] = part
        body["requestor"] = requestor
        let path = "/upstreams/\(FormEncoding.encode(upstream))/check"
        return try await AdministrationCall.send("POST", path, body: try AdministrationCall.json(body)).object
    }

    mutating func take(_ answer: [String: Any], _ console: Console) {
        requestor = answer["requestor"] as? String ?? requestor
        isUnreachable = isUnreachable || answer["unreachable"] as? Bool == true
        let found = answer["steps"] as? [[String: Any]] ?? []
        steps += found
        for step in found { Self.tell(step, console) }
    }

    private static func tell(_ step: [String: Any], _ console: Console) {
        func text(_ name: String) -> String? { step[name] as? String }
        let mark =
            switch text("outcome") {
            case "passed": console.good("ok  ")
            case "failed": console.bad("FAIL")
            case "notReached": console.faint("... ")
            default: console.faint("-   ")
            }
        let number = step["step"] as? Int ?? 0
        console.line("\(number < 10 ? " " : "")\(number)  \(mark)  \(text("title") ?? "")")
        guard text("outcome") != "notReached" else { return }
        for (label, name) in [("expected ", "expected"), ("seen ", "seen"), ("-> ", "advice"), ("upstream's trace ", "upstreamTrace")] {
            guard let value = text(name) else { continue }
            for line in TerminalText.wrapped(label + value, 10) { console.line(line) }
        }
    }
}
