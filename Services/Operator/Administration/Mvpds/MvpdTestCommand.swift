package import ArgumentParser
internal import CommandKit
internal import Foundation
internal import Simulation
internal import TextEncodings

/// `boxoffice mvpd test`: signs in at an MVPD of the running cluster, and prints each check.
struct MvpdTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Sign in at an MVPD of the running cluster, and say which checks of its answer failed.",
        discussion: """
            With --as a simulated person of the sandbox signs in. Without it the command prints an address: open it, sign in with the MVPD's test \
            account, and the checks appear here. What counts is what the MVPD's answer came to. With --draft it is tried as your draft has it, before \
            a push; that signs nobody in. The checks that failed come first; --all shows the others too. The exit code is 0 when every check passed. No \
            personal data is shown.
            """)

    @Argument(help: "The MVPD's id.", completion: .catalogue(.mvpds))
    var mvpd: String

    @Option(help: "The channel to sign in for. Default: the first that it is integrated with.", completion: .catalogue(.requestors))
    var requestor: String?

    @Option(name: .customLong("as"), help: "Who signs in at an MVPD of the sandbox, for example ada.", completion: .people)
    var person: String?

    @Flag(help: "Try it as the draft has it, before it is pushed.")
    var draft = false

    @Option(help: "Seconds to wait for the sign-in.")
    var wait = 300

    @Flag(help: "Show the checks that passed or were not made, too.")
    var all = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        guard (1...1800).contains(wait) else { throw CommandFailure("--wait is from 1 to 1800", exit: .usage) }
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let requestor = try await channel()
        guard !draft else { return try await testDraft(for: requestor) }
        let before = Set(try await traces())
        let client = HTTPExchange.makeClient(trusting: cluster.authority)
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await signIn(for: requestor, on: cluster, HTTPExchange(client: client)))
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        // A sign-in that failed leaves its report all the same, and says more than where the person got stuck.
        guard let report = try await report(besides: before, isOver: person != nil) else {
            try outcome.get()
            throw CommandFailure("nobody has signed in at \(mvpd) within \(wait) seconds", advice: "--wait gives more time")
        }
        try show(report)
    }

    private func show(_ report: ExplainedSignIn) throws {
        print(try report.text(asJSON: json, showsAll: all, Console()))
        guard report.result == "signedIn" else { throw CommandExit.failed.exitCode }
    }

    /// The test has an id of its own, so that its report cannot be another's.
    private func testDraft(for requestor: String) async throws {
        let body = try AdministrationCall.json(["requestor": requestor, "mvpd": mvpd])
        let test = try await AdministrationCall.send("POST", "/draft/test-sign-ins", body: body).object
        guard let id = test["id"] as? String, let address = test["address"] as? String else {
            throw CommandFailure("the cluster gave no address for the test", advice: "is it of this release?")
        }
        var stuck: (any Error)?
        if let person {
            do { try await Self.visit(address, as: person) } catch { stuck = error }
        } else {
            FileHandle.standardError.write(Data("Open \(address) within ten minutes, once, and sign in\n".utf8))
        }
        let end = ContinuousClock.now + (person == nil ? .seconds(wait) : .seconds(5))
        while try await !traces().contains(id) {
            guard ContinuousClock.now < end else {
                if let stuck { throw stuck }
                throw CommandFailure("nobody has signed in at \(mvpd) within \(wait) seconds", advice: "--wait gives more time, up to ten minutes")
            }
            try await Task.sleep(for: .milliseconds(500))
        }
        try show(try await RunningCluster.ask { try await $0.report(trace: id) })
    }

    private static func visit(_ address: String, as person: String) async throws {
        try await HTTPExchange.once { exchange in
            var visitor = SimulatedPerson(exchange: exchange)
            try await visitor.signIn(at: address, name: person, password: person)
        }
    }

    private func channel() async throws -> String {
        if let requestor { return requestor }
        let answer = try await AdministrationCall.send("GET", "/integrations?mvpd=\(FormEncoding.encode(mvpd))&size=1")
        let first = (answer.object["items"] as? [[String: Any]])?.first?["entity"] as? [String: Any]
        guard let found = first?["requestor"] as? String else {
            throw CommandFailure(
                "\(mvpd) is integrated with no channel", advice: "'boxoffice mvpd add' integrates it with --requestor, or pass that here")
        }
        return found
    }

    private func signIn(for requestor: String, on cluster: ClusterFile, _ exchange: HTTPExchange) async throws {
        var app = StreamingApp(exchange: exchange, gateway: cluster.gateway, requestor: requestor, deviceID: UUID().uuidString)
        try await app.register(statement: try await statement(for: requestor, of: cluster))
        let code = try await app.requestCode().code
        if let person {
            return try await SecondScreen(exchange: exchange, gateway: cluster.gateway, requestor: requestor).signIn(code, at: mvpd, as: person)
        }
        // The report alone is the answer of a program that reads it.
        let notice = "Open \(cluster.gateway)/activate?code=\(FormEncoding.encode(code)), choose \(mvpd) and sign in"
        FileHandle.standardError.write(Data((notice + "\n").utf8))
    }

    /// The statement of an application that may act for the channel.
    private func statement(for requestor: String, of cluster: ClusterFile) async throws -> String {
        let statements = try await SoftwareStatements.all(of: cluster)
        let answer = try await AdministrationCall.send("GET", "/applications?requestor=\(FormEncoding.encode(requestor))&size=200")
        let applications = (answer.object["items"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        guard let found = applications.compactMap({ statements[$0] }).first else {
            throw CommandFailure(
                "no application of \(requestor) has a software statement here",
                advice: "add one for the channel, as Shared/Documents/Operations/Administration.md shows")
        }
        return found
    }

    private func traces() async throws -> [String] {
        let answer = try await AdministrationCall.send("GET", "/sign-ins?mvpd=\(FormEncoding.encode(mvpd))")
        return (answer.object["signIns"] as? [[String: Any]] ?? []).compactMap { $0["trace"] as? String }
    }

    /// - Parameter isOver: True when the sign-in has ended: its report is there, or comes in a moment.
    private func report(besides known: Set<String>, isOver: Bool) async throws -> ExplainedSignIn? {
        let end = ContinuousClock.now + (isOver ? .seconds(2) : .seconds(wait))
        repeat {
            if let trace = try await traces().first(where: { !known.contains($0) }) {
                return try await RunningCluster.ask { try await $0.report(trace: trace) }
            }
            try await Task.sleep(for: .milliseconds(500))
        } while ContinuousClock.now < end
        return nil
    }
}

/// `boxoffice mvpd`: connects an MVPD, and tries it.
package struct MvpdCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "mvpd", abstract: "Connect an MVPD by its metadata, and try a sign-in at it.",
        subcommands: [MvpdAddCommand.self, MvpdTestCommand.self])

    package init() {}
}
