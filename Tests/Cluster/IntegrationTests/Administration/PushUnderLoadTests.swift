@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AdministrationApiTests {
    /// Changes reach every service within a second, without a restart and without a failed request.
    @Suite("Pushes under load")
    struct PushUnderLoadTests {
        private static let pushes = 20

        @Test("twenty pushes during a stream of calls: none fails, and each is everywhere within a second", .tags(.timing), .onReleasePrograms)
        func pushes() async throws {
            let local = try await Administrator.fresh()
            let steady = try await Device.make("ACME1")
            try await steady.signIn()
            try #require(try await steady.authorize("ACME1-NEWS").status == 200)
            let observed = try await Device.make("ACME2")
            try await observed.signIn()
            let stream = CallStream(device: steady)
            let running = (0..<4).map { _ in Task { await stream.run() } }
            var slowest = Duration.zero
            for number in 1...Self.pushes {
                slowest = max(slowest, try await push(number, local, observed))
            }
            for task in running { task.cancel() }
            for task in running { await task.value }
            let (calls, failures) = await stream.outcome
            #expect(failures == [], "\(failures.prefix(5))")
            #expect(calls > 100, "a stream of \(calls) calls")
            #expect(slowest < .seconds(1), "the slowest push took \(slowest)")
        }

        /// - Returns: The time from the answer to the push until the gateway, authentication and authorization all apply it.
        private func push(_ number: Int, _ local: Administrator, _ observed: Device) async throws -> Duration {
            let isOn = number.isMultiple(of: 2)
            let name = "Push \(number)"
            #expect(try await local.change("/requestors/ACME2") { $0["name"] = name }.status == 200)
            #expect(try await local.change("/integrations/ACME2/NorthCable") { $0["enabled"] = isOn }.status == 200)
            try await local.push(name)
            let start = ContinuousClock.now
            async let gateway: Void = Condition.wait("the gateway has push \(number)") {
                let answer = try await local.cluster.send(Call("GET", "/api/v1/config/ACME2.json"))
                return (answer.object["requestor"] as? [String: Any])?["name"] as? String == name
            }
            async let authentication: Void = Condition.wait("authentication has push \(number)") {
                try await observed.checkAuthn() == (isOn ? 200 : 403)
            }
            async let authorization: Void = Condition.wait("authorization has push \(number)") {
                try await observed.authorize("ACME2-MOVIES").status == (isOn ? 200 : 400)
            }
            _ = try await (gateway, authentication, authorization)
            return ContinuousClock.now - start
        }
    }
}

/// Calls of an app, one after the other, until cancelled.
actor CallStream {
    private let device: Device
    private var calls = 0
    private var failures: [String] = []

    init(device: Device) { self.device = device }

    var outcome: (calls: Int, failures: [String]) { (calls, failures) }

    func run() async {
        while !Task.isCancelled {
            await count("config", 200) { try await $0.cluster.send(Call("GET", "/api/v1/config/ACME1.json")).status }
            await count("checkauthn", 200) { try await $0.checkAuthn() }
            await count("authorize", 200) { try await $0.authorize("ACME1-NEWS").status }
            await count("tokens/authz", 200) { try await $0.authzToken("ACME1-NEWS").status }
            await count("regcode", 201) { try await $0.requestCode().status }
        }
    }

    private func count(_ name: String, _ expected: Int, _ call: (Device) async throws -> Int) async {
        do {
            let status = try await call(device)
            if status != expected { failures.append("\(name): \(status)") }
        } catch {
            // The end of the test aborts the calls that are under way.
            if !Task.isCancelled { failures.append("\(name): \(error)") }
        }
        calls += 1
    }
}
