@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension RestartTests {
    /// `config` dies while versions are pushed, read and worked with.
    @Suite("Pushes that are cut off")
    struct KilledPushTests {
        private static let rounds = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1" ? 20 : 3

        private let local: Administrator
        private var cluster: TestCluster { local.cluster }

        init() throws { local = try Administrator.local() }

        @Test(
            "dashboard #26: config is killed in a push under load: the old version is served whole and no call fails, what was acknowledged is a success, and what was cut off is one too or nowhere"
        )
        func killedDuringPushes() async throws {
            let device = try await Device.make("ACME1")
            try await device.signIn()
            try #require(try await device.authorize("ACME1-NEWS").status == 200)
            let (apps, readers) = (CallStream(device: device), ConfigurationReader(cluster: cluster))
            let running = [Task { await apps.run() }, Task { await apps.run() }, Task { await readers.run() }, Task { await readers.run() }]
            var number = 0
            do {
                for round in 0..<Self.rounds { number = try await kill(in: round, from: number, readers) }
            } catch {
                Issue.record(error)
            }
            for task in running { task.cancel() }
            for task in running { await task.value }
            #expect(await readers.problems.prefix(5) == [])
            let (calls, failures) = await apps.outcome
            #expect(failures == [] && calls > 20 * Self.rounds, "\(calls) calls, \(failures.prefix(5))")
            let verdict = try await local.send("GET", "/history/verification")
            #expect(verdict.status == 200 && verdict.object["intact"] as? Bool == true, "\(verdict.text)")
        }

        /// - Parameter before: The number of the last push.
        /// - Returns: The number of the last push that was tried.
        private func kill(in round: Int, from before: Int, _ readers: ConfigurationReader) async throws -> Int {
            var number = before + 1
            try await edit(number)
            let version = try await local.push(Self.name(number))
            try await Condition.wait("push \(number) is served") { try await Self.served(cluster) == .whole(number) }
            let attempt = number + 1
            try await edit(attempt)
            let lastWords = Task { try await local.send("POST", "/draft/push", ["description": Self.name(attempt)]) }
            // Before, in and after its transaction, as the rounds go.
            try await Task.sleep(for: .milliseconds(3 * (round % 6)))
            let config = try cluster.process(.config)
            config.signal(SIGKILL)
            let answer = try await lastWords.value
            #expect(answer.status == 202 || answer.status == 503, "\(answer.status) \(answer.text)")
            try await Condition.wait("config is gone") { !config.isRunning }
            #expect(try await local.send("POST", "/draft/push", ["description": "into the void"]).status == 503)
            let seen = await readers.count
            try await Condition.wait("readers go on without config") { await readers.count >= seen + 20 }
            _ = try await cluster.starter.start()
            try await Condition.wait("config answers administrators") { try await local.send("GET", "/administrator").status == 200 }

            let versions = try #require(try await local.send("GET", "/versions").object["versions"] as? [[String: Any]])
            #expect(versions.contains { $0["version"] as? Int == version && $0["status"] as? String == "success" }, "push \(number) was acknowledged")
            let newest = try #require(versions.first)
            #expect(newest["current"] as? Bool == true && newest["status"] as? String == "success", "\(newest)")
            if newest["description"] as? String == Self.name(attempt) { number = attempt }
            #expect(newest["description"] as? String == Self.name(number))
            #expect(answer.status != 202 || newest["version"] as? Int == answer.object["version"] as? Int, "push \(attempt) was acknowledged")
            try await Condition.wait("push \(number) is served") { try await Self.served(cluster) == .whole(number) }
            try #require(try await local.send("DELETE", "/draft").status == 204)
            return attempt
        }

        @Test("dashboard #14: a cluster with an application whose statements are revoked comes up, with the statements of the others")
        func startsWithRevokedStatements() async throws {
            try #require(try await local.send("POST", "/applications/bravo-tv/revoke").status == 204)
            let config = try cluster.process(.config)
            config.signal(SIGTERM)
            try await Condition.wait("config has stopped") { !config.isRunning }
            #expect(try await cluster.starter.start().map(\.service) == [.config])
            let statements = try #require(try ClusterFile.read(cluster.home)).softwareStatements
            #expect(statements["bravo-tv"] == nil && statements["acme-tv"] != nil, "\(statements.keys.sorted())")
            #expect(try await local.send("GET", "/applications/bravo-tv/statement").status == 200, "the next statement")
        }

        private static func name(_ number: Int) -> String { "Cut \(number)" }

        /// One push changes a channel and an MVPD, and one answer of the gateway has both.
        private func edit(_ number: Int) async throws {
            for (path, member) in [("/requestors/ACME2", "name"), ("/mvpds/NorthCable", "displayName")] {
                let answer = try await local.change(path) { $0[member] = Self.name(number) }
                try #require(answer.status == 200, "\(answer.text)")
            }
        }

        fileprivate enum Served: Equatable {
            /// Both parts are of the push with this number; 0: of none.
            case whole(Int)
            case broken(String)
        }

        /// What the gateway tells apps now.
        fileprivate static func served(_ cluster: TestCluster) async throws -> Served {
            let answer = try await cluster.send(Call("GET", "/api/v1/config/ACME2.json"))
            let numbers = answer.text.matches(of: /"(?:name|displayName)":"Cut ([0-9]+)"/).compactMap { Int($0.1) }
            guard answer.status == 200 else { return .broken("\(answer.status) \(answer.text.prefix(200))") }
            guard let number = numbers.first else { return .whole(0) }
            return numbers == [number, number] ? .whole(number) : .broken("\(numbers)")
        }
    }
}

/// Reads the configuration as apps do, one time after the other, until it is cancelled.
private actor ConfigurationReader {
    private let cluster: TestCluster
    private(set) var count = 0
    private(set) var problems: [String] = []

    init(cluster: TestCluster) { self.cluster = cluster }

    func run() async {
        var last = 0
        while !Task.isCancelled {
            do {
                switch try await RestartTests.KilledPushTests.served(cluster) {
                case .whole(let number) where number >= last: last = number
                case .whole(let number): problems.append("\(number) after \(last)")
                case .broken(let what): problems.append(what)
                }
                count += 1
            } catch {
                // The end of the test aborts what is under way.
                if !Task.isCancelled { problems.append("\(error)") }
            }
        }
    }
}
