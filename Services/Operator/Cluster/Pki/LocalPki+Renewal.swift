internal import Clocks
internal import Cryptography
internal import Foundation

extension LocalPki {
    /// A certificate of the authority, for TLS.
    struct Connection: Sendable {
        /// Name of the files without their endings.
        let file: String
        let commonName: String
        let names: CertificateNames
    }

    /// Those that every cluster has.
    static let connections: [Connection] =
        peers.map { name in
            let dns = "\(name).boxoffice"
            return Connection(file: name, commonName: dns, names: CertificateNames(dns: [dns, "localhost"], addresses: ["127.0.0.1"]))
        }
        + https.map { Connection(file: $0, commonName: "localhost", names: CertificateNames(dns: ["localhost"], addresses: ["127.0.0.1", "::1"])) }

    /// The connection of HTTPS at this machine's address in its network.
    static func lanConnection(_ address: String) -> Connection {
        let names = CertificateNames(dns: ["localhost"], addresses: ["127.0.0.1", "::1", address])
        return Connection(file: lanName(address), commonName: "localhost", names: names)
    }

    /// Renews the certificates for TLS that have less than a third of their time left, for as long again and with their own keys. One file is
    /// replaced, so that no moment shows a certificate beside a key of another. A missing certificate stays missing.
    /// - Returns: The names of the renewed ones.
    /// - Throws: `CommandFailure`, as `ensure`.
    func renew(at now: Timestamp = SystemClock().now()) throws -> [String] {
        try make { renewed in
            guard !isMissing("ca.crt"), !isMissing("ca.key") else { return }
            let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: path("ca.crt"), keyFile: path("ca.key")))
            for connection in present {
                if try renew(connection.file, connection.commonName, connection.names, authority, at: now) { renewed.append(connection.file) }
            }
        }
    }

    /// Certificates that are due are looked for this often: twelve times in the life of the shortest, at most once an hour.
    var renewalInterval: Duration {
        let lives = present.compactMap { try? Self.life(Certificate(pemFile: path("\($0.file).crt"))) }
        return min(.seconds(3600), max(.seconds(1), (lives.min() ?? .seconds(86_400)) / 12))
    }

    private var present: [Connection] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let addresses = files.filter { $0.hasPrefix("lan-") && $0.hasSuffix(".crt") }.map { String($0.dropFirst(4).dropLast(4)) }.sorted()
        return (Self.connections + addresses.map(Self.lanConnection)).filter { !isMissing("\($0.file).crt") && !isMissing("\($0.file).key") }
    }

    /// - Returns: True when it was due. One of another authority is left alone.
    func renew(_ file: String, _ commonName: String, _ names: CertificateNames, _ authority: CertificateAuthority, at now: Timestamp) throws -> Bool {
        let old = try CertifiedKey(certificateFile: path("\(file).crt"), keyFile: path("\(file).key"))
        guard old.certificate.isSigned(by: authority.certificate), Self.isDue(old.certificate, at: now) else { return false }
        let life = Self.life(old.certificate)
        // Good a little earlier, for a peer whose clock is slow.
        let begin = now - min(.seconds(300), life / 24)
        let validity = CertificateValidity(notBefore: begin, notAfter: begin + life)
        let new = try authority.issue(commonName: commonName, names: names, key: old.key, validity: validity)
        try write(new.certificate.pem(), to: "\(file).crt", mode: 0o644)
        return true
    }

    static func isDue(_ certificate: Certificate, at now: Timestamp) -> Bool {
        now < certificate.notBefore || (certificate.notAfter - now) < life(certificate) / 3
    }

    private static func life(_ certificate: Certificate) -> Duration { certificate.notAfter - certificate.notBefore }
}

extension LocalPki {
    /// Names of which there is a certificate, and its key.
    static let certified = ["ca"] + peers + https + signers

    /// The files that `ensure` makes.
    static let files: [String] =
        certified.flatMap { ["\($0).crt", "\($0).key"] } + signingKeys.map { "\($0).key" } + appleKeys.flatMap { ["\($0).key", "\($0).pub"] }
        + symmetric + [platformKey, platformKeySet, "admin.token", testPassword]

    /// Those that are not there.
    var lacking: [String] { Self.files.filter { !FileManager.default.fileExists(atPath: path($0)) } }
}
