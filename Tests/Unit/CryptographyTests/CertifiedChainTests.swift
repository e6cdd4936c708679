import Clocks
@testable import Cryptography
import Foundation
import Testing

@Suite("Certificates and keys in files")
struct CertifiedChainTests {
    @Test("the certificate of the key comes first, then its issuers in their order, whatever the order of the file")
    func order() throws {
        let authority = try CertificateAuthority.create(name: "Root")
        let leaf = try authority.issue(commonName: "a", names: CertificateNames(dns: ["a.example"]))
        let stranger = try CertifiedKey.selfSigned(commonName: "stranger").certificate
        let key = try leaf.key.pem()
        for certificates in [
            [leaf.certificate, authority.certificate], [authority.certificate, leaf.certificate],
            [authority.certificate, stranger, leaf.certificate],
        ] {
            let chain = try CertifiedChain(certificates, keyPEM: key)
            #expect(chain.certificates.prefix(2) == [leaf.certificate, authority.certificate] && chain.certificates.count == certificates.count)
            #expect(chain.facts.weakness == nil)
        }
        // A chain that is in order already stays as it is.
        #expect(try CertifiedChain([leaf.certificate, stranger, authority.certificate], keyPEM: key).certificates[1] == stranger)
        #expect(throws: CryptographyError.keyOfAnother) { try CertifiedChain([authority.certificate, stranger], keyPEM: key) }
    }

    @Test("a mark before the text is skipped, and an encrypted key says that it is one (RFC 7468 §11, RFC 1421 §4.6.1.1)")
    func texts() throws {
        let made = try CertifiedKey.selfSigned(commonName: "a")
        let (certificate, key) = (try made.certificate.pem(), try made.key.pem())
        #expect(try Certificate.all(pem: "\u{FEFF}\(certificate)") == [made.certificate])
        #expect(try made.certificate.belongs(to: PrivateKey(pem: "\u{FEFF}\(key)")))
        #expect(try Certificate.all(pem: certificate.replacing("\n", with: "\r\n")) == [made.certificate])
        let encrypted = key.replacing("PRIVATE KEY", with: "ENCRYPTED PRIVATE KEY")
        let kind = "EC PRIVATE KEY"
        let older = "-----BEGIN \(kind)-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END \(kind)-----\n"
        for text in [encrypted, older, "\u{FEFF}\(encrypted)"] {
            let error = #expect(throws: CryptographyError.self) { try PrivateKey(pem: text) }
            #expect(error == .encryptedKey && error?.description.contains("passphrase") == true)
        }
        #expect(throws: CryptographyError.notPEM(expected: "private key")) { try PrivateKey(pem: certificate) }
    }

    @Test("RSA below 2048 bits is said")
    func weakness() throws {
        let openssl = Process()
        let output = Pipe()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        (openssl.arguments, openssl.standardOutput, openssl.standardError) = (["genrsa", "1024"], output, FileHandle.nullDevice)
        try openssl.run()
        let facts = try #require(PrivateKeyFacts(pem: Pem.text(output.fileHandleForReading.readDataToEndOfFile())))
        openssl.waitUntilExit()
        #expect(facts.weakness?.contains("1024 bits") == true)
        #expect(try PrivateKeyFacts(pem: PrivateKey.rsa(.generate()).pem())?.weakness == nil)
        #expect(PrivateKeyFacts(pem: "nothing") == nil)
    }
}
