@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The cost of a journey upstream, and the calls that never get there (bridge §15.2, §18).
extension BridgeTests {
    /// Calls of the journey, but for the list, which is read once in two minutes for each class of devices.
    private func calls(_ upstream: StandInUpstream, _ journey: () async throws -> Void) async throws -> [String: Int] {
        try await upstream.forgetCalls()
        try await journey()
        var counts = try await upstream.counts()
        for operation in ["configuration", "signIn", "authenticate", "mvpdLogout"] { counts[operation] = nil }
        return counts
    }

    /// The calls of a device from its first sign-in to its logout.
    private func walk(_ device: Device, _ upstream: StandInUpstream) async throws -> (first: [String: Int], later: [String: Int]) {
        let waiting = try await calls(upstream) { () async throws -> Void in
            _ = try await BridgeTrait.list("ACME1", of: device.cluster)
            let code = try await device.code()
            _ = try await device.record(code)
            for _ in 0..<20 { #expect(try await device.checkAuthn() == 403) }
            #expect(try await device.authnToken().status == 404)
            #expect(try await device.authzToken("ACME1-NEWS").status == 412)
        }
        #expect(waiting == [:])
        let first = try await calls(upstream) { try await signIn(device) }
        let checks = try await calls(upstream) { () async throws -> Void in
            for _ in 0..<10 { #expect(try await device.checkAuthn() == 200) }
            #expect(try await device.authnToken().status == 200)
        }
        #expect(checks == [:], "it was confirmed a moment ago")
        let play = try await calls(upstream) { () async throws -> Void in
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
            #expect(try await device.authzToken("ACME1-NEWS").status == 200)
        }
        #expect(play == ["authorize": 1])
        let token = try await calls(upstream) { () async throws -> Void in
            #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        }
        #expect(token == ["authorize": 1])
        let told = try await calls(upstream) { () async throws -> Void in
            #expect(try await device.get("/api/v1/tokens/usermetadata").status == 200)
        }
        #expect(told == ["profile": 1], "a decision may have changed it")
        let resources = (1...5).map { "ACME1-\($0)" }.joined(separator: ",")
        let asked = try await calls(upstream) { () async throws -> Void in
            #expect(try await device.preauthorize(resources).status == 200)
        }
        #expect(asked == ["preauthorize": 1], "more go in batches of five (B75)")
        let logout = try await calls(upstream) { () async throws -> Void in
            #expect(try await device.logout() == 204)
            try await Condition.wait("upstream has heard of it") { try await upstream.count("logout") == 1 }
        }
        #expect(logout == ["logout": 1])
        let later = try await calls(upstream) { try await signIn(device) }
        return (first, later)
    }

    @Test("bridge B109: each journey costs upstream what the specification says, by a client of each device and by shared ones")
    func costsCalls() async throws {
        let upstream = try await upstream()
        let own = try await walk(try await Device.make(), upstream)
        #expect(own.first == ["register": 1, "token": 1, "createSession": 1, "profileByCode": 1])
        #expect(own.later == ["createSession": 1, "profileByCode": 1])
        let olga = try await Administrator.fresh()
        func scope(_ change: [String: Any?]) async throws {
            let changed = try await olga.change("/upstreams/vendor") { record in for (name, value) in change { record[name] = value } }
            try #require(changed.status == 200, "\(changed.text)")
            try await olga.push("Whose clients of the upstream are")
        }
        try await scope(["clientScope": "shared", "shards": 1])
        // Registers the one that all have from now on.
        try await Condition.wait("authentication has it") {
            let device = try await Device.make()
            let counts = try await calls(upstream) { try await signIn(device) }
            return counts["register"] == nil
        }
        let shared = try await walk(try await Device.make(), upstream)
        #expect(shared.first == ["createSession": 1, "profileByCode": 1])
        #expect(shared.later == shared.first)
        try await scope(["clientScope": nil, "shards": nil])
        try await Condition.wait("authentication has it") {
            let device = try await Device.make()
            return try await calls(upstream) { try await signIn(device) }["register"] == 1
        }
    }

    @Test("bridge B23: upstream hears the address of the television, also when a browser elsewhere begins the sign-in, and only that one")
    func namesAddresses() async throws {
        let upstream = try await upstream()
        var device = try await Device.make()
        device.forwarded = "81.2.69.160"
        let code = try await device.code()
        device.forwarded = "81.2.69.161"
        try await signIn(device, code: code)
        let created = try #require(try await upstream.entries("createSession").last)
        #expect(created.headers["x-forwarded-for"] == "81.2.69.160")
        device.forwarded = "198.51.100.9, 81.2.69.162"
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let decided = try #require(try await upstream.entries("authorize").last)
        #expect(decided.headers["x-forwarded-for"] == "81.2.69.162")
    }

    @Test("bridge B115: no word of the vendor's, no signing key and no token of an SDK reaches upstream")
    func keepsWordsOfSdks() async throws {
        let upstream = try await upstream()
        let sdk = try await SdkApp.web()
        let code = try await sdk.code()
        func goThrough(_ begun: HTTPAnswer) async throws {
            let back = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
            let end = try await sdk.cluster.exchange.send("GET", try #require(back.header("location")))
            #expect(end.header("location") == sdk.end, "\(end.status) \(end.text)")
        }
        try await goThrough(try await sdk.cluster.exchange.send("GET", sdk.authenticate(code, mvpd: "CoastCable")))
        let token = try (try await sdk.session(code)).storedToken("authnToken")
        let permit = try (try await sdk.authorize(token, mvpd: "CoastCable")).storedToken("authzToken")
        #expect(try await sdk.shortAuthorize(permit).status == 200)
        let app = try SigningApp()
        func sign(_ path: String, _ uri: String, _ query: [String: String] = [:], method: String = "GET") async throws -> HTTPAnswer {
            try await app.send(
                method, path, query.merging(["deviceId": app.device, "format": "json"]) { first, _ in first }, header: app.header(method, uri),
                body: method == "POST" ? "" : nil)
        }
        let made = try await sign("/reggie/v1/ACME1/regcode", "/regcode", method: "POST")
        let signed = try #require(made.object["code"] as? String, "\(made.text)")
        let begun = try await app.cluster.send(
            Call(
                "GET", "/api/v1/authenticate",
                query: [
                    "reg_code": signed, "requestor_id": "ACME1", "mso_id": "CoastCable", "domain_name": "adobe.com", "noflash": "true",
                    "no_iframe": "true", "redirect_url": sdk.end,
                ], headers: ["Accept": "application/json"]))
        try await goThrough(begun)
        let play = ["requestor": "ACME1", "resource": "ACME1-NEWS"]
        #expect(try await sign("/api/v1/authorize", "/authorize", play).status == 200)
        #expect(try await sign("/api/v1/mediatoken", "/mediatoken", play).status == 200)
        let seen = try await upstream.control("GET", "log").text.lowercased()
        #expect(seen.contains("/decisions/authorize/coastcable"))
        let secrets = ["adobe.com", "auth.adobe", token, permit, app.pair.publicKey, app.pair.secret, "signature=", sdk.bearer ?? "", sdk.seal]
        for secret in secrets where !secret.isEmpty { #expect(!seen.contains(secret.lowercased()), "\(secret.prefix(16))") }
    }
}
