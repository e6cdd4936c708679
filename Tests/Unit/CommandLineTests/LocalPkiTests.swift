@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Clocks
import Cryptography
import Foundation
import Testing

@Suite struct LocalPkiTests {
    @Test func makesWhatIsMissingAndKeepsTheRest() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            #expect(try pki.ensure().first == "ca")
            #expect(try pki.ensure().isEmpty)
            let before = try Data(contentsOf: URL(fileURLWithPath: pki.path("gateway.crt")))
            try FileManager.default.removeItem(atPath: pki.path("config.key"))
            #expect(try pki.ensure() == ["config"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: pki.path("gateway.crt"))) == before)
        }
    }

    @Test func servicesAreNamedInTheirCertificates() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            let authority = try Certificate(pemFile: pki.path("ca.crt"))
            for name in LocalPki.peers {
                let certificate = try Certificate(pemFile: pki.path("\(name).crt"))
                #expect(certificate.dnsNames.contains("\(name).boxoffice"))
                #expect(certificate.isSigned(by: authority))
            }
        }
    }

    @Test func keysAreReadableByTheirOwnerAlone() throws {
        try withHome { home in
            try LocalPki(folder: home.pki).ensure()
            let secrets = try FileManager.default.contentsOfDirectory(atPath: home.pki.path).filter {
                !$0.hasSuffix(".crt") && !$0.hasSuffix(".jwks") && !$0.hasSuffix(".pub")
            }
            #expect(secrets.count > 10)
            for name in secrets {
                let attributes = try FileManager.default.attributesOfItem(atPath: home.pki.appendingPathComponent(name).path)
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test func theStandInApplesKeysHaveTheirPublicHalvesBesideThem() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            try FileManager.default.removeItem(atPath: pki.path("apple-acme-purchase.pub"))
            #expect(try pki.ensure().isEmpty)
            for name in LocalPki.appleKeys {
                let key = try P256PrivateKey(pemFile: pki.path("\(name).key"))
                let publicKey = try P256PublicKey(pem: String(contentsOfFile: pki.path("\(name).pub"), encoding: .utf8))
                #expect(try publicKey.digest() == key.publicKey.digest(), "\(name)")
            }
            let seal = try String(contentsOfFile: pki.path("autosignin-seal.key"), encoding: .utf8)
            #expect(seal.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
        }
    }

    @Test func aDamagedKeyIsReportedWithTheFolder() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            try Data("rubbish".utf8).write(to: URL(fileURLWithPath: pki.path("ca.key")))
            #expect { try pki.ensure() } throws: { "\($0)".contains(home.pki.path) }
        }
    }
}

@Suite("Renewal of the local PKI's certificates") struct CertificateRenewalTests {
    @Test("one with less than a third of its time left is renewed, for as long, with its key and names; others and keys stay")
    func due() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            try pki.ensureLan("192.0.2.7")
            let (before, now) = (try Self.content(home), SystemClock().now())
            let life = try Self.life(pki, "gateway")
            #expect(try pki.renew(at: now + life * 2 / 3 - .seconds(600)).isEmpty)
            #expect(try Self.content(home) == before)
            let late = now + life * 2 / 3
            #expect(try Set(pki.renew(at: late)) == Set(LocalPki.peers + LocalPki.https + ["lan-192.0.2.7"]))
            let after = try Self.content(home)
            #expect(Set(after.keys) == Set(before.keys))
            let authority = try Certificate(pemFile: pki.path("ca.crt"))
            for name in LocalPki.peers + LocalPki.https + ["lan-192.0.2.7"] {
                let pair = try CertifiedKey(certificateFile: pki.path("\(name).crt"), keyFile: pki.path("\(name).key"))
                #expect(pair.certificate.isSigned(by: authority) && pair.certificate.isValid(at: late), "\(name)")
                #expect(try Self.life(pki, name) == life && before["\(name).crt"] != after["\(name).crt"], "\(name)")
            }
            #expect(try Certificate(pemFile: pki.path("gateway.crt")).dnsNames == ["gateway.boxoffice", "localhost"])
            for (name, content) in before where !name.hasSuffix(".crt") { #expect(after[name] == content, "\(name)") }
            for name in ["ca", "media-token"] { #expect(after["\(name).crt"] == before["\(name).crt"]) }
            #expect(try pki.renew(at: late).isEmpty)
        }
    }

    @Test("what is not of the authority, or lacks its key, is left alone; what it does not have is not made")
    func others() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            #expect(try pki.renew().isEmpty)
            try pki.ensureConnections()
            let names = CertificateNames(dns: ["config.boxoffice"])
            let stranger = try CertificateAuthority.create(name: "another").issue(commonName: "x", names: names)
            try Data(stranger.certificate.pem().utf8).write(to: URL(fileURLWithPath: pki.path("config.crt")))
            try Data(stranger.key.pem().utf8).write(to: URL(fileURLWithPath: pki.path("config.key")))
            try FileManager.default.removeItem(atPath: pki.path("gateway.key"))
            let renewed = try pki.renew(at: SystemClock().now() + .seconds(360 * 86_400))
            #expect(!renewed.contains("config") && !renewed.contains("gateway") && renewed.contains("authentication"))
            #expect(!FileManager.default.fileExists(atPath: pki.path("gateway.key")))
        }
    }

    @Test("it is looked for often enough, whatever their life is", arguments: [(60, 5), (6, 1), (31_536_000, 3600)])
    func interval(seconds: Int, interval: Int) throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureConnections()
            try Self.shorten(pki, to: .seconds(seconds))
            #expect(pki.renewalInterval == .seconds(interval))
        }
    }

    /// Gives all certificates for TLS another life, from now on.
    static func shorten(_ pki: LocalPki, to life: Duration) throws {
        let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: pki.path("ca.crt"), keyFile: pki.path("ca.key")))
        let now = Timestamp(seconds: SystemClock().now().seconds)
        for connection in LocalPki.connections {
            let key = try CertifiedKey(certificateFile: pki.path("\(connection.file).crt"), keyFile: pki.path("\(connection.file).key")).key
            let validity = CertificateValidity(notBefore: now, notAfter: now + life)
            let issued = try authority.issue(commonName: connection.commonName, names: connection.names, key: key, validity: validity)
            try Data(issued.certificate.pem().utf8).write(to: URL(fileURLWithPath: pki.path("\(connection.file).crt")))
        }
    }

    private static func content(_ home: ClusterHome) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: home.pki.path).reduce(into: [:]) {
            $0[$1] = try Data(contentsOf: home.pki.appendingPathComponent($1))
        }
    }

    private static func life(_ pki: LocalPki, _ name: String) throws -> Duration {
        let certificate = try Certificate(pemFile: pki.path("\(name).crt"))
        return certificate.notAfter - certificate.notBefore
    }
}

@Suite struct QrCodeTests {
    @Test func drawsASquareWithAQuietZone() {
        let lines = QrCode.lines(for: "http://127.0.0.1:8080/activate?code=ABCDEFG")
        #expect(lines.count > 12)
        #expect(Set(lines.map(\.count)).count == 1)
        #expect(lines[0].allSatisfy { $0 == "█" })
    }

    @Test func aTextThatFitsNoCodeGivesNone() {
        #expect(QrCode.lines(for: String(repeating: "x", count: 5000)).isEmpty)
    }
}

@Suite struct IssuedCertificateTests {
    @Test func areOfTheAuthorityWithAKeyOfTheirOwn() throws {
        try withHome { home in
            let (pki, folder) = (LocalPki(folder: home.pki), home.root.appendingPathComponent("mine"))
            try pki.ensureQuickly()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            #expect(try pki.issue("config", to: folder))
            let issued = LocalPki(folder: folder)
            let certificate = try Certificate(pemFile: issued.path("config.crt"))
            #expect(certificate.dnsNames.contains("config.boxoffice"))
            #expect(certificate.isSigned(by: try Certificate(pemFile: pki.path("ca.crt"))))
            #expect(try TextFile.read(issued.path("config.key")) != TextFile.read(pki.path("config.key")))
            #expect(try TextFile.read(issued.path("ca.crt")) == TextFile.read(pki.path("ca.crt")))
            #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder.path)) == ["config.crt", "config.key", "ca.crt"])
            #expect(try !pki.issue("config", to: folder), "what is good for long enough is kept")
        }
    }

    @Test func forAHostHaveItsNameAndNoOther() throws {
        try withHome { home in
            let (pki, folder) = (LocalPki(folder: home.pki), home.root.appendingPathComponent("host"))
            try pki.ensureQuickly()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            #expect(try pki.issue("authentication", host: "a1", to: folder))
            let certificate = try Certificate(pemFile: LocalPki(folder: folder).path("authentication.crt"))
            #expect(certificate.dnsNames == ["authentication.boxoffice", "authentication.a1.boxoffice"])
            let days = certificate.notAfter.seconds - certificate.notBefore.seconds
            #expect((days / 86_400) == 90)
            #expect(try !pki.issue("authentication", host: "a1", to: folder), "what is good for long enough is kept")
            #expect(try pki.issue("authentication", host: "a2", to: folder), "another host's is not")
        }
    }

    @Test func doNotTakeTheClustersOwnPlace() throws {
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureQuickly()
            #expect(throws: CommandFailure.self) { try pki.issue("config", to: home.pki) }
        }
    }

    @Test(
        arguments: [
            ["--issue", "config"], ["--issue", "Config", "--folder", "d"], ["--issue", "a.b", "--folder", "d"], ["--issue", "", "--folder", "d"],
            ["--host", "a1"], ["--issue", "config", "--folder", "d", "--host", "A1"], ["--issue", "config", "--folder", "d", "--host", "a..b"],
        ])
    func needANameAndAFolder(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try PkiCommand.parse(arguments) }
    }
}
