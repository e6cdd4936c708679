@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Clocks
import Cryptography
import Foundation
import Testing
import TextEncodings

/// A cluster whose gateway has two names for people and apps, and certificates of two more.
@Suite("Two public names", .serialized)
struct TwoNamesTests {
    @Test("an app uses both names, and its person signs in by either: what MVPDs have registered is one, and the cookie is where their answer comes")
    func bothNames() async throws {
        try await withCluster { cluster in
            let (home, other) = (cluster.gateway, "http://localhost:\(cluster.ports.main(.gateway))")
            let statement = try #require(try ClusterFile.read(cluster.home)?.softwareStatements["acme-tv"])
            var one = StreamingApp(exchange: cluster.exchange, gateway: other, requestor: "ACME1", deviceID: "two-names")
            try await one.register(statement: statement)
            // The token of one name is good at the other, and the device the same.
            let two = StreamingApp(
                exchange: cluster.exchange, gateway: home, requestor: "ACME1", deviceID: "two-names", accessToken: one.accessToken)

            // Each name is told addresses of its own.
            let code = try await one.requestCode()
            #expect(code.registrationURL == "\(other)/activate")
            #expect(try await two.requestCode().registrationURL == "\(home)/activate")
            for (app, origin) in [(one, other), (two, home)] {
                let fault = try await app.send("GET", "/api/v2/ACME1/nowhere")
                #expect(fault.text.replacingOccurrences(of: "\\/", with: "/").contains("\(origin)/help/errors#"))
            }
            // The documents for MVPDs are the same everywhere.
            let documents = try await [home, other].asyncMap { try await cluster.exchange.send("GET", "\($0)/sp/metadata") }
            #expect(documents[0].text == documents[1].text && documents[0].text.contains("\(home)/sp/saml/SAMLAssertionConsumer"))
            #expect(!documents[0].text.contains("localhost"))

            // The second screen: the address that the TV shows leads to where sign-ins are.
            let shown = try await cluster.exchange.send("GET", "\(other)/activate?code=\(code.code)", headers: [("Accept", "text/html")])
            #expect(shown.status == 302 && shown.header("location") == "\(home)/activate?code=\(code.code)")
            var person = SimulatedPerson(exchange: cluster.exchange)
            let done = try await person.signIn(
                at: "\(other)/activate/sign-in?code=\(code.code)&mvpd=NorthCable", name: "ada", password: "ada", until: "\(home)/activate/done")
            #expect(done.contains(code.code))
            for app in [one, two] { #expect(try await app.isSignedIn()) }
            try await one.authorize("ACME1-NEWS")
            #expect(try await !two.mediaToken("ACME1-NEWS").serialized.isEmpty)

            // Logout at one name is logout at both.
            #expect(try await two.send("DELETE", "/api/v1/logout?\(two.deviceSet())").status == 204)
            #expect(try await !one.isSignedIn())

            // An app's own page: SAML and OAuth, REST v1 and v2, begun at each name.
            for mvpd in ["NorthCable", "OpenFiber"] {
                for (app, origin) in [(one, other), (two, home)] {
                    try await Self.signIn(app, at: mvpd, from: origin, ending: home, cluster)
                    for either in [one, two] { #expect(try await either.isSignedIn(), "\(mvpd) from \(origin)") }
                    #expect(try await app.send("DELETE", "/api/v1/logout?\(app.deviceSet())").status == 204)
                }
            }
            for (app, origin) in [(one, other), (two, home)] {
                try await Self.signInByV2(app, from: origin, ending: home, cluster)
                for either in [one, two] {
                    let profiles = try await either.object("GET", "/api/v2/ACME1/profiles/NorthCable", headers: [either.deviceIdentifier])
                    #expect((profiles["profiles"] as? [String: Any])?["NorthCable"] != nil, "from \(origin)")
                }
                #expect(try await app.send("DELETE", "/api/v1/logout?\(app.deviceSet())").status == 204)
            }
        }
    }

    @Test("a name that is not served gets what publicOrigin gets, whatever a request says of itself")
    func foreignNames() async throws {
        try await withCluster { cluster in
            for host in ["evil.example", "localhost.evil.example"] {
                let answer = try Peer.curl(
                    cluster,
                    [
                        "-i", "-H", "Host: \(host)", "-H", "X-Forwarded-Host: evil.example", "\(cluster.gateway)/api/v2/ACME1/nowhere",
                        "\(cluster.gateway)/activate", "\(cluster.gateway)/docs",
                    ])
                #expect(answer.output.replacingOccurrences(of: "\\/", with: "/").contains("\(cluster.gateway)/help/errors#"))
                #expect(!answer.output.contains("evil.example") && !answer.output.lowercased().contains("location:"))
            }
            let twofold = try Peer.curl(cluster, ["-i", "-H", "Host: localhost@evil.example", "\(cluster.gateway)/activate"])
            #expect(
                twofold.output.hasPrefix("HTTP/1.1 400 ") && !twofold.output.contains("evil.example"), "a name that can be read in two ways is none")
            let led = try Peer.curl(cluster, ["-i", "-H", "Host: localhost", "\(cluster.gateway)/activate?code=x&u=//evil.example"])
            #expect(led.output.contains("ocation: \(cluster.gateway)/activate?code=x&u=//evil.example\r"))
        }
    }

    @Test("each name has its certificate; one is renewed, refused for the wrong name and alarmed, without a restart")
    func certificates() async throws {
        try await withCluster { cluster in
            #expect(try Self.status("api.tv.example", cluster) == "200")
            #expect(try Self.status("watch.acme.example", cluster) == "200")
            #expect(try Self.status("localhost", cluster) == "200")
            #expect(try Self.status("other.example", cluster) == "000", "no certificate is for that")
            let pid = try cluster.process(.gateway).pid
            // The written addresses follow the name over each version of HTTP.
            for (name, origin) in [("api.tv.example", cluster.gateway), ("watch.acme.example", "http://localhost:\(cluster.ports.main(.gateway))")] {
                for version in ["--http1.1", "--http2"] {
                    let url = "https://\(name):\(cluster.ports.https)/api/v2/ACME1/nowhere"
                    let answer = try Peer.curl(cluster, [version, "--resolve", "\(name):\(cluster.ports.https):127.0.0.1", url])
                    #expect(answer.output.replacingOccurrences(of: "\\/", with: "/").contains("\(origin)/help/errors#"), "\(name) \(version)")
                }
            }

            let before = try Self.fingerprint("api.tv.example", cluster)
            try Self.issue("api", for: ["api.tv.example"], cluster)
            try await Condition.wait("the new certificate") { try Self.fingerprint("api.tv.example", cluster) != before }
            let renewed = try Self.fingerprint("api.tv.example", cluster)

            try Self.issue("api", for: ["watch.acme.example"], cluster)
            try await Condition.wait("the refusal") {
                try cluster.gatewayLog("https.reload_refused").contains { $0.contains("is for watch.acme.example, not for 'api.tv.example'") }
            }
            #expect(try Self.fingerprint("api.tv.example", cluster) == renewed && Self.status("api.tv.example", cluster) == "200")
            let metrics = try await cluster.exchange.send("GET", "http://127.0.0.1:\(cluster.ports.debug(.gateway))/metrics").text
            #expect(metrics.contains(#"boxoffice_gateway_certificate_refused{certificate="https api.tv.example"} 1"#))
            #expect(metrics.contains(#"boxoffice_gateway_certificate_refused{certificate="https watch.acme.example"} 0"#))
            for use in ["https", "https api.tv.example", "https watch.acme.example"] {
                #expect(metrics.contains("boxoffice_certificate_ends_timestamp_seconds{certificate=\"\(use)\"}"), "\(use)")
            }
            try Self.issue("api", for: ["api.tv.example"], cluster)
            try await Condition.wait("the end of the alarm") {
                try await cluster.exchange.send("GET", "http://127.0.0.1:\(cluster.ports.debug(.gateway))/metrics").text
                    .contains(#"boxoffice_gateway_certificate_refused{certificate="https api.tv.example"} 0"#)
            }
            #expect(try cluster.process(.gateway).pid == pid && Self.fingerprint("api.tv.example", cluster) != renewed)
        }
    }

    @Test("before a start, a certificate for another name, a key of another and a bad name are named in one line")
    func refusedSettings() async throws {
        try await withCluster { cluster in
            try await cluster.stop()
            let file = cluster.home.settings(of: .gateway)
            func check(_ problem: String) throws {
                let outcome = try Program.run(
                    cluster.starter.binaries.appendingPathComponent("gateway").path, ["--config", file.path, "--check-config"])
                #expect(outcome.status == 78 && outcome.lines.count == 1 && outcome.output.contains(problem), "\(problem): \(outcome.lines)")
            }
            try Self.issue("api", for: ["other.example"], cluster)
            try check("is for other.example, not for 'api.tv.example'")
            try Self.issue("api", for: ["api.tv.example"], cluster)
            let pki = LocalPki(folder: cluster.home.pki)
            let key = try Data(contentsOf: URL(fileURLWithPath: pki.path("api.key")))
            try Data(contentsOf: URL(fileURLWithPath: pki.path("watch.key"))).write(to: URL(fileURLWithPath: pki.path("api.key")))
            try check("do not belong together")
            try FileManager.default.removeItem(atPath: pki.path("api.key"))
            try check("api.key cannot be read")
            try key.write(to: URL(fileURLWithPath: pki.path("api.key")))
            try Self.edit(file) { gateway in
                var hosts = gateway["hosts"] as? [[String: Any]] ?? []
                hosts[0]["name"] = "https://api.tv.example"
                gateway["hosts"] = hosts
            }
            try check("gateway.hosts.name")
        }
    }

    // MARK: -

    private static func signIn(
        _ app: StreamingApp, at mvpd: String, from origin: String, ending home: String, _ cluster: TestCluster
    ) async throws {
        let code = try await app.requestCode().code
        let end = "\(home)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", app.requestor), ("mso_id", mvpd), ("domain_name", "acme.example"), ("noflash", "true"),
            ("redirect_url", "\(end)?code=\(code)&requestor=\(app.requestor)"),
        ])
        var person = SimulatedPerson(exchange: cluster.exchange)
        _ = try await person.signIn(at: "\(origin)/api/v1/authenticate?\(query)", name: "ada", password: "ada", until: end)
    }

    /// By the address that the session has, at the name that the app calls.
    private static func signInByV2(_ app: StreamingApp, from origin: String, ending home: String, _ cluster: TestCluster) async throws {
        let end = "\(home)/activate/done"
        let form = FormEncoding.encode([("mvpd", "NorthCable"), ("domainName", "acme.example"), ("redirectUrl", end)])
        let headers = [app.deviceIdentifier, ("Content-Type", "application/x-www-form-urlencoded")]
        let session = try await app.object("POST", "/api/v2/ACME1/sessions", headers: headers, body: form)
        let path = try #require(session["url"] as? String)
        #expect(path.hasPrefix("/api/v2/authenticate/ACME1/"))
        var person = SimulatedPerson(exchange: cluster.exchange)
        _ = try await person.signIn(at: origin + path, name: "ada", password: "ada", until: end)
    }

    private static func edit(_ file: URL, _ change: (inout [String: Any]) -> Void) throws {
        var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var gateway = try #require(settings["gateway"] as? [String: Any])
        change(&gateway)
        settings["gateway"] = gateway
        try JSONSerialization.data(withJSONObject: settings).write(to: file, options: .atomic)
    }

    /// Key first, each as a whole.
    private static func issue(_ file: String, for names: [String], _ cluster: TestCluster) throws {
        let pki = LocalPki(folder: cluster.home.pki)
        let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: pki.path("ca.crt"), keyFile: pki.path("ca.key")))
        let identity = try authority.issue(commonName: names[0], names: CertificateNames(dns: names))
        try Data(identity.key.pem().utf8).write(to: URL(fileURLWithPath: pki.path("\(file).key")), options: .atomic)
        try Data(identity.certificate.pem().utf8).write(to: URL(fileURLWithPath: pki.path("\(file).crt")), options: .atomic)
    }

    private static func status(_ name: String, _ cluster: TestCluster) throws -> String {
        let port = cluster.ports.https
        let words = ["-o", "/dev/null", "-w", "%{http_code}", "--resolve", "\(name):\(port):127.0.0.1", "https://\(name):\(port)/healthz"]
        return String(try Peer.curl(cluster, words).output.suffix(3))
    }

    private static func fingerprint(_ name: String, _ cluster: TestCluster) throws -> String {
        let command =
            "openssl s_client -connect 127.0.0.1:\(cluster.ports.https) -servername \(name) </dev/null 2>/dev/null | openssl x509 -noout -fingerprint"
        let outcome = try Program.run("/bin/sh", ["-c", command])
        try #require(outcome.status == 0, "\(outcome.output)")
        return outcome.output
    }

    private func withCluster(_ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        do {
            _ = try await cluster.starter.start()
            try await cluster.stop()
            let pki = cluster.home.pki.path
            try Self.issue("api", for: ["api.tv.example"], cluster)
            try Self.issue("watch", for: ["*.acme.example"], cluster)
            try Self.edit(cluster.home.settings(of: .gateway)) { gateway in
                gateway["hosts"] = [
                    [
                        "name": "api.tv.example", "origin": "http://127.0.0.1:\(cluster.ports.main(.gateway))", "certificate": "\(pki)/api.crt",
                        "key": "\(pki)/api.key",
                    ],
                    [
                        "name": "watch.acme.example", "origin": "http://localhost:\(cluster.ports.main(.gateway))",
                        "certificate": "\(pki)/watch.crt", "key": "\(pki)/watch.key",
                    ],
                    ["name": "localhost", "origin": "http://localhost:\(cluster.ports.main(.gateway))"],
                ]
            }
            _ = try await cluster.starter.start()
            try await body(cluster)
        } catch {
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ change: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await change(element)) }
        return values
    }
}
