import Cryptography
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
}
