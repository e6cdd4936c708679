@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Clocks
import Cryptography
import Foundation
import Testing

/// Keys of SAML, and keys that seal: what they sealed before they changed is opened afterwards.
extension KeyRotationTests {
    /// Certificates in the metadata for the MVPDs.
    private static func certificates(for use: String) async throws -> [String] {
        let cluster = try TestCluster.running()
        let answer = try await cluster.exchange.send("GET", "\(cluster.gateway)/sp/metadata?requestor=ACME1")
        try #require(answer.status == 200, "\(answer.text)")
        return answer.text.components(separatedBy: " use=\"\(use)\"").dropFirst().compactMap { part in
            part.components(separatedBy: "X509Certificate>").dropFirst().first?.components(separatedBy: "<").first
        }
    }

    /// The files of a key pair below `pki`, and another pair for them.
    private struct Pair {
        let names: [String]
        let before: [Data]
        let next: [Data]

        init(_ name: String) throws {
            names = ["\(name).key", "\(name).crt"]
            let pki = try TestCluster.running().home.pki
            before = try names.map { try Data(contentsOf: pki.appendingPathComponent($0)) }
            let validity = CertificateValidity(notBefore: SystemClock().now() - .seconds(3600), notAfter: SystemClock().now() + .seconds(86_400))
            let key = PrivateKey.rsa(try RSAPrivateKey.generate())
            let made = try CertifiedKey.selfSigned(commonName: "Another", key: key, validity: validity)
            next = [Data(try key.pem().utf8), Data(try made.certificate.pem().utf8)]
        }

        func write(_ contents: [Data]) throws {
            let pki = try TestCluster.running().home.pki
            for (name, content) in zip(names, contents) { try content.write(to: pki.appendingPathComponent(name), options: .atomic) }
        }
    }

    @Test("another signing key of SAML: metadata lists both certificates, the one that signs first, and sign-ins go on")
    func samlSigning() async throws {
        let cluster = try TestCluster.running()
        let single = try await Self.certificates(for: "signing")
        #expect(single.count == 1)
        let pair = try Pair("saml-signing")
        try pair.write(pair.next)
        try await Condition.wait("both certificates") { try await Self.certificates(for: "signing").count == 2 }
        #expect(try await Self.certificates(for: "signing").contains(single[0]))
        try pair.write(pair.before)
        try await Condition.wait("the certificate from before signs again") { try await Self.certificates(for: "signing").first == single[0] }
        let app = try await cluster.app()
        _ = try await cluster.signIn(app, code: try await app.requestCode().code)
        #expect(try await app.isSignedIn())
    }

    @Test("another encryption key of SAML while people sign in: none fails; answers to the former certificate are opened, and to the new one")
    func samlEncryption() async throws {
        let cluster = try TestCluster.running()
        let people = EncryptedSignIns(cluster: cluster)
        let crowd = (0..<3).map { _ in Task { await people.run() } }
        try await people.waitForMore(5)
        let before = try await Self.certificates(for: "encryption")
        let pair = try Pair("saml-encryption")
        // The key first: between the two files the keys from before serve.
        try pair.write(pair.next)
        try await Condition.wait("the new certificate in the metadata") { try await Self.certificates(for: "encryption") != before }
        #expect(try await Self.certificates(for: "encryption").count == 1, "MVPDs are to take the new one")
        // The stand-in MVPD has read the certificate at its start, and encrypts to the former one.
        try await people.waitForMore(10)
        for task in crowd { task.cancel() }
        for task in crowd { await task.value }
        #expect(await people.problems == [])

        try await cluster.restart(.sandbox, signal: SIGTERM)
        try await people.signIn()
        try pair.write(pair.before)
        try await Condition.wait("the former certificate is back") { try await Self.certificates(for: "encryption") == before }
        try await people.signIn()
        try await cluster.restart(.sandbox, signal: SIGTERM)
        try await people.signIn()
    }

    /// Writes a key file, and waits until its service has taken it in.
    private static func write(_ content: Data, to file: URL, of service: ClusterService, until event: String) async throws {
        func count() throws -> Int { try log(of: service).split(separator: "\n").count { $0.contains("\"\(event)\"") } }
        let lines = try count()
        try content.write(to: file, options: .atomic)
        try await Condition.wait("\(file.lastPathComponent): \(event)") { try count() > lines }
    }

    private static func anotherKey() -> Data { Data(SymmetricKey.random().hexRepresentation.utf8) }

    @Test("another key of OAuth: a login that began under the former one ends well, and the tokens that it sealed serve decisions")
    func oauthSeal() async throws {
        let file = try TestCluster.running().home.pki.appendingPathComponent("oauth.key")
        let former = try Data(contentsOf: file)
        let settled = try await Device.make()
        try await settled.signInByOAuth()
        let waiting = try await Device.make()
        var browser = OAuthBrowser(waiting)
        let callback = try await browser.logIn(at: try await browser.start(waiting.code()), as: "ada")
        try await Self.write(Self.anotherKey(), to: file, of: .authentication, until: "keys.reloaded")
        let answer = try await browser.finish(callback)
        #expect(answer.status == 302 && answer.header("location") == waiting.end, "\(answer.status) \(answer.text)")
        for device in [settled, waiting] {
            let decision = try await device.authorize("ACME1-NEWS")
            #expect(decision.status == 200, "\(decision.text)")
        }
        try await Self.write(former, to: file, of: .authentication, until: "keys.reloaded")
        #expect(try await waiting.authorize("ACME1-SPORTS").status == settled.authorize("ACME1-SPORTS").status)
        let next = try await Device.make()
        try await next.signInByOAuth()
    }

    @Test("another key of written secrets: a secret that the former one sealed is used after the change, and after the change back")
    func secretsSeal() async throws {
        let cluster = try TestCluster.running()
        let local = try await Administrator.fresh()
        let secret = try String(contentsOf: cluster.home.pki.appendingPathComponent("openfiber.secret"), encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        func use(_ reference: String) async throws {
            _ = try await local.change("/mvpds/OpenFiber") { entry in
                var oauth = entry["oauth"] as? [String: Any] ?? [:]
                oauth["clientSecretReference"] = reference
                entry["oauth"] = oauth
            }
            try await MvpdTests.publish("the secret \(reference)", local)
        }
        for reference in ["openfiber-a", "openfiber-b"] {
            let written = try await local.send("POST", "/secrets/\(reference)", ["secret": secret])
            try #require(written.status == 200, "\(written.text)")
        }
        let file = cluster.home.data.appendingPathComponent("authentication/secrets.key")
        let former = try Data(contentsOf: file)
        try await Self.write(Self.anotherKey(), to: file, of: .authentication, until: "secret_keys.reloaded")
        // Nothing has read it before.
        try await use("openfiber-a")
        try await Device.make().signInByOAuth()
        try await Self.write(former, to: file, of: .authentication, until: "secret_keys.reloaded")
        try await use("openfiber-b")
        try await Device.make().signInByOAuth()
        try await use("openfiber")
    }

    @Test("another seal of automatic sign-in: a value that was given out before is redeemed after, and is taken back at Apple")
    func autoSignInSeal() async throws {
        let cluster = try TestCluster.running()
        let file = cluster.home.pki.appendingPathComponent("autosignin-seal.key")
        let former = try Data(contentsOf: file)
        let app = try await AppleApp.make()
        try await app.signIn(as: "ada")
        let optIn = try await app.optIn()
        try await Self.write(Self.anotherKey(), to: file, of: .autosignin, until: "seal_keys.reloaded")
        let guest = try await app.another()
        try await guest.signInBy(optIn.value)
        #expect(try await guest.device.checkAuthn() == 200)
        let second = try await app.another()
        try await Self.write(former, to: file, of: .autosignin, until: "seal_keys.reloaded")
        try await second.signInBy(optIn.value)
        #expect(try await app.optOut(optIn.family).status == 200)
        try await Condition.wait("Apple deletes the value") { try await app.apple.token().value == nil }
    }
}

/// People who sign in at an MVPD that encrypts, one after the other, until they are told to stop.
private actor EncryptedSignIns {
    private let cluster: TestCluster
    private var count = 0
    private(set) var problems: [String] = []

    init(cluster: TestCluster) { self.cluster = cluster }

    nonisolated func signIn() async throws {
        let app = try await cluster.app()
        _ = try await cluster.signIn(app, code: try await app.requestCode().code, at: "LakeTel")
        #expect(try await app.isSignedIn())
    }

    func run() async {
        while !Task.isCancelled {
            do {
                try await signIn()
                count += 1
            } catch {
                // The end of the test aborts what is under way.
                if !Task.isCancelled { problems.append("\(error)") }
            }
        }
    }

    /// Until so many more have signed in.
    nonisolated func waitForMore(_ more: Int) async throws {
        let before = await count
        try await Condition.wait("\(more) more sign-ins", within: .seconds(30)) { await self.count >= before + more }
    }
}
