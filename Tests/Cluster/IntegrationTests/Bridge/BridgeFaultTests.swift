@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension BridgeTests {
    private func authorized(_ device: Device, _ resource: String, _ faults: [String: Any]...) async throws -> HTTPAnswer {
        let upstream = try await upstream()
        for fault in faults { try await upstream.fail("authorize", fault) }
        let answer = try await device.authorize(resource)
        try await upstream.comeBack()
        return answer
    }

    @Test("bridge B94: trouble between upstream and MVPD is the app's to repeat; it is no sign-out")
    func passesMvpdTrouble() async throws {
        let device = try await Device.make()
        try await signIn(device)
        let upstream = try await upstream()
        try await upstream.control("DELETE", "permits")
        try await upstream.setDecisions([
            ["serviceProvider": "ACME1", "mvpd": "CoastCable", "resource": "ACME1-NEWS", "code": "network_connection_timeout", "times": 1]
        ])
        let troubled = try await device.authorize("ACME1-NEWS")
        #expect(troubled.status == 403, "\(troubled.text)")
        #expect(try await upstream.count("authorize") == 1)
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
    }

    @Test("bridge B97, B100, B101: throttling is waited for once, and what is no answer of a v2 server is 503, never a sign-out")
    func readsStrangeAnswers() async throws {
        let device = try await Device.make()
        try await signIn(device)
        let throttled: [String: Any] = ["kind": "answer", "status": 429, "headers": ["Retry-After": "1"], "body": "wait", "times": 1]
        #expect(try await authorized(device, "ACME1-NEWS", throttled).status == 200)
        let twice = try await authorized(device, "ACME1-SPORT", throttled.merging(["times": 2]) { $1 })
        #expect(twice.status == 429 && twice.header("retry-after") != nil, "\(twice.status) \(twice.text)")
        for strange in [
            ["kind": "answer", "status": 302, "headers": ["Location": "https://elsewhere.example/"], "body": ""],
            ["kind": "answer", "status": 200, "headers": ["Content-Type": "text/html"], "body": "<html>Welcome</html>"],
            ["kind": "answer", "status": 200, "body": "{\"decisions\": []}", "padTo": 600_000],
            ["kind": "answer", "status": 200, "body": "{\"decisions\": [{\"resource\": \"ACME1-SPORT\", \"authorized\": true}]}"],
            ["kind": "answer", "status": 200, "bodyBase64": "eyJkZWNpc2lvbnMiOiAi/yJ9"], ["kind": "truncate"],
        ] as [[String: Any]] {
            let answer = try await authorized(device, "ACME1-SPORT", strange.merging(["times": 0]) { $1 })
            let calls = try await StandInUpstream.running().count("authorize")
            #expect(answer.status == 503 && answer.header("retry-after") != nil, "\(strange): \(answer.status) \(answer.text)")
            #expect(calls == 1, "nobody asks again for an upstream that answers strangely")
        }
        #expect(try await device.checkAuthn() == 200)
    }

    @Test("bridge B95: while nobody is asked an answer takes 10 ms at most", .tags(.timing), .onReleasePrograms)
    func answersAtOnce() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        try await upstream.goAway()
        // It opens where half of the calls of half a minute failed.
        for number in 1...60 { _ = try await device.authorize("CLOSED-\(number)") }
        try await upstream.forgetCalls()
        var times: [Duration] = []
        for number in 1...21 {
            let start = ContinuousClock.now
            #expect(try await device.authorize("CLOSED-\(number)").status == 503)
            times.append(start.duration(to: .now))
        }
        #expect(try await upstream.count("authorize") == 0)
        try await upstream.comeBack()
        #expect(times.sorted()[10] <= .milliseconds(10), "\(times)")
        try await Condition.wait("it is asked again", within: .seconds(30)) { try await device.authorize("ACME1-NEWS").status == 200 }
    }

    @Test("bridge B45: a browser goes to no host that nobody named; what upstream refuses of a login is 400")
    func guardsBrowsers() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await upstream.fail("createSession", ["kind": "merge", "merge": ["url": "https://elsewhere.example/login"], "times": 1])
        let foreign = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
        #expect(foreign.status == 500 && foreign.header("location") == nil, "\(foreign.status)")
        try await upstream.fail("createSession", ["kind": "error", "code": "invalid_parameter_redirect_url", "times": 1])
        #expect(try await device.authenticate(try await device.code(), mvpd: "CoastCable").status == 400)
        try await upstream.fail("createSession", ["kind": "error", "code": "invalid_integration", "times": 1])
        #expect(try await device.authenticate(try await device.code(), mvpd: "MoorTel").status == 400)
    }

    @Test("bridge B11: of twenty first logins of a device at once one registers it")
    func registersOnce() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        var codes: [String] = []
        for _ in 0..<20 { codes.append(try await device.code()) }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for code in codes { group.addTask { try await device.authenticate(code, mvpd: "CoastCable").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 302 }, "\(statuses)")
        #expect(try await upstream.count("register") == 1)
        #expect(try await upstream.count("token") == 1)
    }

    @Test("bridge B108: stores and logs hold no bearer, media token or attribute of upstream's")
    func keepsSecrets() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let media = try #require(try await device.mediaToken("ACME1-NEWS").object["serializedToken"] as? String)
        let told = try await device.get("/api/v1/tokens/usermetadata").object["data"] as? [String: Any] ?? [:]
        let entries = try await upstream.entries()
        var secrets = Set(entries.compactMap { $0.headers["authorization"]?.replacing("Bearer ", with: "") }.filter { $0.count > 16 })
        secrets.insert(media)
        for name in ["zip", "userID", "upstreamUserID", "householdID"] {
            if let value = told[name] as? String, value.count > 4 { secrets.insert(value) }
        }
        #expect(secrets.count >= 3, "\(secrets.count)")
        try await Task.sleep(for: .seconds(1))
        let home = device.cluster.home
        for place in [home.data, home.logs] {
            for case let file as URL in FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil) ?? .init() {
                guard !file.lastPathComponent.hasPrefix("sandbox"), let content = try? Data(contentsOf: file) else { continue }
                for secret in secrets { #expect(content.range(of: Data(secret.utf8)) == nil, "\(file.lastPathComponent): \(secret.prefix(12))…") }
            }
        }
    }
}
