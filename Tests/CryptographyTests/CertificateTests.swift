import Clocks
import Cryptography
import Testing

@Suite struct CertificateTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func theAuthorityIssuesForNamesAndAddresses() throws {
        let authority = try CertificateAuthority.create(name: "Test authority")
        let leaf = try authority.issue(
            commonName: "gateway", names: CertificateNames(dns: ["gateway.boxoffice", "localhost"], addresses: ["127.0.0.1", "::1"]),
            validity: .days(30, from: now))
        #expect(leaf.certificate.dnsNames == ["gateway.boxoffice", "localhost"])
        #expect(leaf.certificate.subject == "CN=gateway")
        #expect(leaf.certificate.issuer == "CN=Test authority")
        #expect(leaf.certificate.isSigned(by: authority.certificate))
        #expect(leaf.certificate.belongs(to: leaf.key))
        #expect(leaf.certificate.notBefore == now - .seconds(300))
        #expect(leaf.certificate.notAfter == now + .seconds(30 * 86_400))
        #expect(leaf.certificate.isValid(at: now))
        #expect(!leaf.certificate.isValid(at: now + .seconds(31 * 86_400)))
    }

    @Test func anotherAuthorityOfTheSameNameDidNotSignIt() throws {
        let leaf = try CertificateAuthority.create(name: "Same").issue(commonName: "a", names: CertificateNames(dns: ["a.boxoffice"]))
        #expect(try !leaf.certificate.isSigned(by: CertificateAuthority.create(name: "Same").certificate))
    }

    @Test func certificatesSurvivePEMAndDER() throws {
        let first = try CertifiedKey.selfSigned(commonName: "first").certificate
        let second = try CertifiedKey.selfSigned(commonName: "second", key: .rsa(.generate()), usage: .encryption).certificate
        #expect(try Certificate(pem: first.pem()) == first)
        #expect(try Certificate(der: second.der) == second)
        #expect(try Certificate.all(pem: first.pem() + second.pem()) == [first, second])
        #expect(first.fingerprint == SHA256.hash(first.der))
        #expect(first.fingerprint != second.fingerprint)
    }

    @Test func theKeyOfACertificateVerifies() throws {
        let identity = try CertifiedKey.selfSigned(commonName: "media tokens", key: .rsa(.generate()))
        guard case .rsa(let key) = identity.key, case .rsa(let publicKey) = try identity.certificate.publicKey() else {
            Issue.record("not an RSA certificate")
            return
        }
        #expect(try publicKey.isValid(key.sign([1, 2, 3]), for: [1, 2, 3]))
    }

    @Test func refusesWhatIsNoCertificate() throws {
        let certificate = try CertifiedKey.selfSigned(commonName: "a").certificate
        #expect(throws: CryptographyError.notPEM(expected: "certificate")) {
            try Certificate(pem: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
        }
        #expect(throws: CryptographyError.notPEM(expected: "certificate")) { try Certificate(pem: "") }
        #expect(throws: CryptographyError.malformed("certificate")) { try Certificate(der: [0x30, 0x03, 1, 1]) }
        #expect(throws: CryptographyError.self) { try Certificate(der: certificate.der + [0]) }
        #expect(throws: CryptographyError.self) { try CertifiedKey(certificate: certificate, key: .p256(.generate())) }
    }

    @Test(arguments: ["a.boxoffice,DNS:evil.example", "", "a b", "naïve.example"])
    func refusesHostileDNSNames(name: String) throws {
        let authority = try CertificateAuthority.create(name: "Test authority")
        #expect(throws: CryptographyError.self) { try authority.issue(commonName: "x", names: CertificateNames(dns: [name])) }
    }

    @Test func refusesBadAddressesNamesAndDates() throws {
        let authority = try CertificateAuthority.create(name: "Test authority")
        #expect(throws: CryptographyError.self) { try authority.issue(commonName: "x", names: CertificateNames(addresses: ["127.0.0.1.5"])) }
        #expect(throws: CryptographyError.self) { try authority.issue(commonName: "", names: CertificateNames()) }
        #expect(throws: CryptographyError.self) {
            try authority.issue(commonName: "x", names: CertificateNames(), validity: CertificateValidity(notBefore: now, notAfter: now))
        }
    }
}
