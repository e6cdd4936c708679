import Clocks
import Cryptography
import Foundation
@testable import ServiceKit
import Testing

@Suite("What a check of settings says of certificates")
struct CertificateDoubtsTests {
    @Test("one that has ended, and one that has not begun, are said with their dates; nothing of what is good, or is no certificate")
    func dates() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("doubts-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let now = Timestamp(seconds: 1_900_000_000)
        let files = SettingsFiles(settingsFile: folder.path + "/gateway.json")
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appendingPathComponent(name))
            _ = files.path(name)
        }
        func certificate(_ begin: Int, _ end: Int) throws -> String {
            try CertifiedKey.selfSigned(
                commonName: "a", validity: CertificateValidity(notBefore: now + .seconds(begin), notAfter: now + .seconds(end))
            ).certificate.pem()
        }
        try write("good.crt", certificate(-10, 10))
        try write("ended.crt", "\u{FEFF}\(certificate(-10, 10))\(certificate(-10, -5))")
        try write("early.crt", certificate(5, 10))
        try write("text.txt", "no certificate")
        _ = (files.path("."), files.path("absent.crt"), files.path("ended.crt"))
        let doubts = CertificateDoubts.of(files.paths, at: now)
        #expect(doubts.count == 2 && doubts.allSatisfy { $0.contains("2030-03-17T") }, "\(doubts)")
        #expect(doubts.first?.hasPrefix("a certificate in \(files.path("ended.crt")) ended at ") == true)
        #expect(doubts.last?.contains("early.crt is good from ") == true)
    }
}
