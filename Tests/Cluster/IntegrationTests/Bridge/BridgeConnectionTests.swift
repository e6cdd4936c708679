@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import Testing

/// How upstreams are reached, as their records say (bridge §3.1), and what they hear of a device's connection (§5.1).
extension BridgeTests {
    /// A second stand-in, whose API is also served by HTTPS: by HTTP/2 to clients with a certificate, and without either at the first address.
    private struct SecureUpstream {
        let copy: SecondCopy
        let standIn: StandInUpstream
        let authority: CertificateAuthority
        /// Origin of HTTP/2, which demands a certificate of clients.
        let strict: String
        /// Origin of HTTP/1.1, which demands none.
        let plain: String

        static func start(_ cluster: TestCluster) async throws -> SecureUpstream {
            let authority = try CertificateAuthority.create(name: "An upstream's")
            try authority.certificate.pem().write(to: file("upstream-authority.crt", cluster), atomically: true, encoding: .utf8)
            for (name, names) in [
                ("upstream-server", CertificateNames(dns: ["localhost"])), ("upstream-client", CertificateNames(dns: ["tv.example"])),
            ] {
                let identity = try authority.issue(commonName: name, names: names)
                try identity.certificate.pem().write(to: file("\(name).crt", cluster), atomically: true, encoding: .utf8)
                try identity.key.pem().write(to: file("\(name).key", cluster), atomically: true, encoding: .utf8)
            }
            let served = ["certificate": file("upstream-server.crt", cluster).path, "key": file("upstream-server.key", cluster).path]
            var port = 0
            let copy = try SecondCopy.start(.sandbox, of: cluster) { settings in
                port = try #require((settings["listen"] as? [String: Any])?["port"] as? Int) + 2
                for name in ["debug", "data", "apple"] { settings[name] = nil }
                var upstream = try #require(settings["upstream"] as? [String: Any])
                upstream["listen"] = ["address": "127.0.0.1", "port": port]
                upstream["publicURL"] = "http://127.0.0.1:\(port)"
                var secure: [String: Any] = served
                secure["clientAuthorities"] = file("upstream-authority.crt", cluster).path
                secure["listen"] = ["address": "127.0.0.1", "port": port + 1]
                upstream["secure"] = secure
                settings["upstream"] = upstream
                settings["tls"] = served
            }
            let standIn = StandInUpstream(exchange: cluster.exchange, address: "http://127.0.0.1:\(port)")
            try await Condition.wait("the second stand-in serves: \(copy.output)") {
                (try? await standIn.send("GET", "/healthz").status) == 200
            }
            try await BridgeTrait.offerClosable(standIn)
            return SecureUpstream(
                copy: copy, standIn: standIn, authority: authority, strict: "https://localhost:\(port + 1)", plain: "https://localhost:\(port)")
        }

        static func file(_ name: String, _ cluster: TestCluster) -> URL { cluster.home.pki.appendingPathComponent(name) }
    }

    private func check(_ upstream: String) throws -> Program {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program, "upstream", "check", upstream, "--json"])
    }

    /// Changes the record of the second stand-in.
    private func set(_ members: [String: Any?]) async throws {
        let olga = try await Administrator.fresh()
        let changed = try await olga.change("/upstreams/secure") { record in for (name, value) in members { record[name] = value } }
        try #require(changed.status == 200, "\(changed.text)")
        try await olga.push("How an upstream is reached")
    }

    private func lead(_ requestor: String, to upstream: String) async throws {
        let olga = try await Administrator.fresh()
        let changed = try await olga.change("/requestors/\(requestor)") { record in
            var bridge = try #require(record["upstream"] as? [String: Any])
            bridge["upstream"] = upstream
            record["upstream"] = bridge
        }
        try #require(changed.status == 200, "\(changed.text)")
        try await olga.push("Another upstream of \(requestor)")
    }

    private func log(of service: ClusterService, _ cluster: TestCluster) throws -> String {
        try String(contentsOf: cluster.home.log(of: service), encoding: .utf8)
    }

    @Test(
        "bridge §3.1: HTTP/2 is agreed or falls back, a demanded certificate is shown, an old connection left; a lost certificate closes one upstream"
    )
    func reachesAsRecordsSay() async throws {
        _ = try await upstream()
        let cluster = try TestCluster.running()
        let secure = try await SecureUpstream.start(cluster)
        let client: [String: Any] = ["id": "tv", "statementReference": "acme-secure", "requestors": "all", "platforms": "all"]
        let olga = try await Administrator.fresh()
        #expect(try await olga.send("POST", "/secrets/acme-secure", ["secret": try await secure.standIn.statement()]).status == 200)
        let record: [String: Any] = [
            "id": "secure", "baseUrl": secure.strict, "userAgentBaseUrl": secure.standIn.address, "clients": [client], "protocol": "http2",
            "clientCertificate": "tv", "trustAnchors": [try secure.authority.certificate.pem()],
            "seconds": ["connectionAge": 10, "decisionFresh": 0],
        ]
        let made = try await olga.send("POST", "/upstreams", record)
        try #require(made.status == 201, "\(made.text)")
        try await olga.push("An upstream by HTTP/2")
        try await lead("ACME1", to: "secure")
        do {
            try await walk(secure, cluster)
        } catch {
            try? await lead("ACME1", to: "vendor")
            await secure.copy.stop()
            throw error
        }
        try await lead("ACME1", to: "vendor")
        try await Condition.wait("ACME1 is where it was") {
            let device = try await Device.make()
            return try await device.authenticate(try await device.code(), mvpd: "CoastCable").header("location")?.contains(secure.standIn.address)
                == false
        }
        await secure.copy.stop()
    }

    private func walk(_ secure: SecureUpstream, _ cluster: TestCluster) async throws {
        func pair(_ name: String) -> [String: String] {
            let (certificate, key) = (SecureUpstream.file("\(name).crt", cluster), SecureUpstream.file("\(name).key", cluster))
            return ["certificate": certificate.path, "key": key.path]
        }
        let missing = pair("upstream-missing")
        try await cluster.restart(.authentication) { settings in
            var own = try #require(settings["authentication"] as? [String: Any])
            own["clientCertificates"] = ["tv": pair("upstream-client"), "lost": missing]
            settings["authentication"] = own
        }
        try await Condition.wait("a check passes by HTTP/2, with the certificate") { try check("secure").status == 0 }
        let started = try log(of: .authentication, cluster)
        #expect(started.contains("client_certificate.unreadable") && started.contains("upstream-missing"))
        #expect(started.components(separatedBy: "bridge.connection_settings").count == 2, "the record is named once")
        // A person signs in and plays: all of it by a connection or two.
        let device = try await Device.make()
        try await secure.standIn.forgetCalls()
        let begun = try await device.authenticate(try await device.code(), mvpd: "CoastCable")
        let back = try await secure.standIn.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
        #expect(try await cluster.exchange.send("GET", try #require(back.header("location"))).status == 302)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        let calls = try await secure.standIn.entries().filter { !$0.isOfBrowser }
        #expect(calls.count >= 4 && calls.allSatisfy { $0.httpVersion == "2" }, "\(calls.map { "\($0.operation) \($0.httpVersion)" })")
        let ports = Set(calls.filter { $0.operation == "authorize" }.map(\.port))
        try await Condition.wait("the connection is left for another one", within: .seconds(20)) {
            #expect(try await device.authorize("ACME1-NEWS").status == 200)
            try await Task.sleep(for: .milliseconds(500))
            return try await secure.standIn.entries("authorize").contains { !ports.contains($0.port) }
        }
        // A certificate that cannot be read closes this upstream alone.
        try await set(["clientCertificate": "lost"])
        var closed = try check("secure")
        try await Condition.wait("the upstream is closed") {
            closed = try check("secure")
            return closed.status == 4
        }
        #expect(closed.output.contains("authentication.clientCertificates.lost") && closed.output.contains("upstream-missing"), "\(closed.output)")
        #expect(try await Device.make().authorize("ACME1-NEWS").status == 403, "nobody is signed in there")
        #expect(try await device.authenticate(try await device.code(), mvpd: "CoastCable").status == 503)
        #expect(try log(of: .authentication, cluster).contains("bridge.no_certificate"))
        let bravo = try await Device.make("BRAVO")
        #expect(try await bravo.authenticate(try await bravo.code(), mvpd: "CoastCable").status == 302, "another upstream")
        // The files are taken in when they come, without a restart.
        for kind in ["crt", "key"] {
            try FileManager.default.copyItem(
                at: SecureUpstream.file("upstream-client.\(kind)", cluster), to: SecureUpstream.file("upstream-missing.\(kind)", cluster))
        }
        try await Condition.wait("the certificate is taken in", within: .seconds(20)) { try check("secure").status == 0 }
        // A server that demands a certificate takes nobody without.
        try await set(["clientCertificate": nil])
        try await Condition.wait("the server refuses") { try check("secure").status == 4 }
        // A server that agrees to nothing is asked by HTTP/1.1.
        try await set(["baseUrl": secure.plain])
        try await Condition.wait("a check passes by HTTP/1.1") { try check("secure").status == 0 }
        let last = try #require(try await secure.standIn.entries("preauthorize").last)
        #expect(last.httpVersion == "1.1")
    }

    @Test("bridge B22: a device's port goes along with its address, as the proxy says it, and from the code to the browser's way")
    func tellsPorts() async throws {
        let upstream = try await upstream()
        let cluster = try TestCluster.running()
        try await cluster.restart(.gateway) { settings in
            var own = try #require(settings["gateway"] as? [String: Any])
            own["clientPortHeader"] = "X-Client-Port"
            settings["gateway"] = own
        }
        var device = try await Device.make()
        device.forwarded = "8.8.4.4"
        func told(_ operation: String) async throws -> [String: Any] {
            let header = try #require(try await upstream.entries(operation).last?.headers["x-device-info"])
            let data = try #require(Data(base64Encoded: header))
            return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        }
        let answer = try await cluster.send(device.codeCall().with { $0.headers["X-Client-Port"] = "50412" })
        let code = try #require(answer.object["code"] as? String, "\(answer.text)")
        try await signIn(device, code: code)
        for operation in ["register", "createSession", "profileByCode"] {
            let told = try await told(operation)
            #expect(told["connectionIp"] as? String == "8.8.4.4" && told["connectionPort"] as? String == "50412", "\(operation): \(told)")
        }
        for (value, port) in [("50999", "50999"), ("70000", nil), ("80, 81", nil)] as [(String, String?)] {
            let call = device.call("/api/v1/authorize", ["resource": "ACME1-\(value.prefix(5))"]).with { $0.headers["X-Client-Port"] = value }
            _ = try await cluster.send(call)
            let told = try await told("authorize")
            #expect(told["connectionIp"] as? String == "8.8.4.4" && told["connectionPort"] as? String == port, "\(value): \(told)")
        }
    }
}
