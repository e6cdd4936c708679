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

    @Test(arguments: ["991340250000Z", "aaaaaaaaaaaaZ", "             "])
    func aCertificateWithADateThatIsNoneIsRefused(date: String) throws {
        let authority = try CertificateAuthority.create(name: "Test authority")
        let order = try authority.issue(commonName: "gateway", names: CertificateNames(dns: ["gateway.boxoffice"]), validity: .days(30, from: now))
        var bytes = order.certificate.der
        // A date before 2050 is a UTCTime, tag 23 with 13 octets; the first one is the begin.
        let place = try #require(bytes.indices.dropLast(15).first { bytes[$0] == 23 && bytes[$0 + 1] == 13 && bytes[$0 + 14] == UInt8(ascii: "Z") })
        bytes.replaceSubrange(place + 2..<place + 15, with: Array(date.utf8))
        #expect(throws: CryptographyError.self) { try Certificate(der: bytes) }
        let pem = "-----BEGIN CERTIFICATE-----\n\(Base64.standard.encode(bytes))\n-----END CERTIFICATE-----\n"
        #expect(throws: CryptographyError.self) { try Certificate.all(pem: pem) }
    }

    @Test func momentsBeyondAllNumbersAreTheEnd() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(Timestamp(seconds: .max) == last && Timestamp(seconds: .min) == first)
        #expect(last + .seconds(1) == last && first - .seconds(1) == first && last + .seconds(Int64.max) == last)
        #expect((now - .seconds(Int64.max)).milliseconds < -9_000_000_000_000_000_000)
        #expect((now + .seconds(Int64.min)).milliseconds < -9_000_000_000_000_000_000)
        #expect(last - first == .milliseconds(Int64.max) && first - last == .milliseconds(Int64.min))
        #expect(first.seconds == Int64.min / 1000 - 1 && Timestamp(milliseconds: -1).seconds == -1 && Timestamp(milliseconds: -1000).seconds == -1)
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
