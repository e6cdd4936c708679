import Clocks
import Cryptography
import ManualClocks
import Testing

@testable import ServiceKit

@Suite struct CertificateDatesTests {
    @Test("of several certificates in a file the first end is told, and of files without one nothing")
    func ends() throws {
        let folder = try Folder()
        try folder.makePki(["config"])
        let leaf = try Certificate(pemFile: folder.path + "/config.crt")
        let authority = try Certificate(pemFile: folder.path + "/ca.crt")
        #expect(leaf.notAfter < authority.notAfter)
        try folder.write(try authority.pem() + leaf.pem(), to: "chain.crt")
        try folder.write("no certificate", to: "broken.crt")
        let dates = CertificateDates(files: [
            ("wire", folder.path + "/chain.crt"), ("wire authority", folder.path + "/ca.crt"), ("https", folder.path + "/broken.crt"),
            ("media token", folder.path + "/absent.crt"),
        ])
        #expect(dates.ends.map(\.use) == ["wire", "wire authority"])
        #expect(dates.ends.map(\.moment) == [leaf.notAfter, authority.notAfter])
    }

    @Test("callers are told of certificates that end within 60 days, the first to end first, and of ten at most")
    func tellsCallers() throws {
        let now = Timestamp(seconds: 1_900_000_000)
        let day: Int64 = 86_400
        func end(_ days: Int64) -> (use: String, moment: Timestamp) { ("use \(days)", now + .seconds(days * day)) }
        let told = CertificateDates.soon([end(61), end(59), end(-1), end(3)], now: now)
        #expect(told.map(\.use) == ["use -1", "use 3", "use 59"])
        #expect(told.map(\.endsAtMilliseconds) == [-1, 3, 59].map { UInt64((now + .seconds($0 * day)).milliseconds) })
        #expect(CertificateDates.soon((0..<30).map { end($0) }, now: now).map(\.use) == (0..<10).map { "use \($0)" })
        #expect(CertificateDates.soon([(String(repeating: "a", count: 300), now)], now: now).first?.use.utf8.count == 100)
    }

    @Test(
        "a program's own certificate, or all of its authorities, that have ended make it not ready; of several authorities one is enough, and what cannot be read is told elsewhere"
    )
    func wire() throws {
        let folder = try Folder()
        let now = Timestamp(seconds: 1_900_000_000)
        func certificate(_ begin: Int, _ end: Int) throws -> String {
            try CertifiedKey.selfSigned(
                commonName: "a", validity: CertificateValidity(notBefore: now + .seconds(begin), notAfter: now + .seconds(end))
            ).certificate.pem()
        }
        let (good, ended, early) = (try certificate(-10, 10), try certificate(-10, -5), try certificate(5, 10))
        func lacking(_ own: String, _ anchors: String) throws -> String? {
            try folder.write(own, to: "own.crt")
            try folder.write(anchors, to: "ca.crt")
            return WireCertificate([folder.path + "/own.crt", folder.path + "/ca.crt"], clock: ManualClock(now)).lacking
        }
        #expect(try lacking(good + ended, ended + good) == nil)
        #expect(try lacking("none", "none") == nil)
        #expect(try lacking(ended, good)?.hasSuffix("own.crt has expired: replace it, and it is taken in") == true)
        #expect(try lacking(good, ended + ended)?.contains("ca.crt has expired") == true)
        #expect(try lacking(early, good)?.contains("own.crt is not good yet") == true)
    }
}
