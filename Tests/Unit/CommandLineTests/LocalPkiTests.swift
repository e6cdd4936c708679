@testable import BoxofficeCommand
import Cryptography
import Foundation
import Testing

@Suite struct LocalPkis {
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
            try pki.ensure()
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
            try pki.ensure()
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
            try pki.ensure()
            try Data("rubbish".utf8).write(to: URL(fileURLWithPath: pki.path("ca.key")))
            #expect { try pki.ensure() } throws: { "\($0)".contains(home.pki.path) }
        }
    }
}

@Suite struct QrCodes {
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

@Suite struct IssuedCertificates {
    @Test func areOfTheAuthorityWithAKeyOfTheirOwn() throws {
        try withHome { home in
            let (pki, folder) = (LocalPki(folder: home.pki), home.root.appendingPathComponent("mine"))
            try pki.ensure()
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
            try pki.ensure()
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
            try pki.ensure()
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
