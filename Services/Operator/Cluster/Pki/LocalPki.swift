internal import Clocks
internal import CommandKit
internal import Cryptography
internal import Dispatch
package import Foundation
internal import Synchronization
internal import Tokens

/// The keys and certificates of a local cluster: what is missing or about to expire is made, what is there is kept.
package struct LocalPki: Sendable {
    package let folder: URL
    /// A certificate that others pin is made anew, with its key, when it has less time left.
    private static let renewal: Duration = .seconds(30 * 24 * 3600)
    /// The peers that get a certificate for mutual TLS; `operator` is the command line's own.
    static let peers = ["config", "authentication", "authorization", "autosignin", "gateway", "operator"]
    /// The certificates of HTTPS, for browsers and apps on this machine.
    static let https = ["gateway-https", "sandbox-https"]
    /// The owners of an RSA key whose certificate others pin: for signing documents, or for content that is encrypted to a programmer.
    static let signers = [
        "media-token", "saml-signing", "saml-encryption", "sandbox-northcable", "sandbox-laketel", "sandbox-openfiber", "sandbox-openfiber-next",
        "sandbox-upstream", "programmer-acme", "programmer-bravo",
    ]

    /// P-256 keys without a certificate.
    static let signingKeys = ["access-token", "statement", "media-token-ec"]
    /// The client secrets of the sandbox's providers and the one of the demo's key pair are no keys, but as good as some.
    static let symmetric = ["user-id.key", "oauth.key", "openfiber.secret", "console.secret", "acme-legacy.secret", "autosignin-seal.key"]

    /// The password of the stand-in MVPDs' subscriber whom scheduled sign-ins use.
    static let testPassword = "test-viewer.secret"

    /// Signs the identity tokens of the stand-in platform.
    static let platformKey = "platform-identity.key"
    /// Its public half.
    static let platformKeySet = "platform-identity.jwks"

    /// The keys that programmers have at the stand-in Apple; it knows their public halves, autosignin signs with them (apple §1.3, §2.4).
    static let appleKeys = ["apple-acme-sign-in", "apple-acme-purchase", "apple-bravo-sign-in", "apple-bravo-purchase"]

    package init(folder: URL) { self.folder = folder }

    /// - Returns: The names of what was made, in order; empty when nothing was missing.
    /// - Throws: `CommandFailure` when the folder cannot be written or a file in it is damaged.
    @discardableResult
    package func ensure() throws -> [String] {
        try make { made in
            try ensureConnectionKeys(&made)
            try ensureRSAKeys(&made)
            for name in Self.signingKeys where isMissing("\(name).key") {
                try write(try P256PrivateKey.generate().pem(), to: "\(name).key", mode: 0o600)
                made.append("\(name).key")
            }
            for name in Self.appleKeys { try ensureAppleKey(name, &made) }
            if isMissing("admin.token") {
                try write(SymmetricKey.random().hexRepresentation + "\n", to: "admin.token", mode: 0o600)
                made.append("admin.token")
            }
            if isMissing(Self.testPassword) {
                try write("ada\n", to: Self.testPassword, mode: 0o600)
                made.append(Self.testPassword)
            }
            for name in Self.symmetric where isMissing(name) {
                try write(SymmetricKey.random().hexRepresentation + "\n", to: name, mode: 0o600)
                made.append(name)
            }
        }
    }

    /// The part of `ensure` that services and their callers need to reach each other: the authority, and certificates for TLS.
    @discardableResult
    package func ensureConnections() throws -> [String] { try make(ensureConnectionKeys) }

    /// Makes the certificate of HTTPS for this machine's address in its network.
    @discardableResult
    func ensureLan(_ address: String) throws -> [String] {
        try make { made in
            let connection = Self.lanConnection(address)
            try ensure(connection.file, connection.commonName, connection.names, try ensureAuthority(&made), &made)
        }
    }

    /// The name of that certificate's file and of its key's.
    static func lanName(_ address: String) -> String { "lan-\(address)" }

    /// It waits for others that make keys in the folder: a key of one and a certificate of another would be no pair.
    func make(_ body: (inout [String]) throws -> Void) throws -> [String] {
        var made: [String] = []
        let turn = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if turn >= 0 { while flock(turn, LOCK_EX) != 0, errno == EINTR {} }
        defer { if turn >= 0 { close(turn) } }
        do { try body(&made) } catch let error as CryptographyError {
            throw CommandFailure(
                "the local PKI in \(folder.path) is damaged (\(PlainReason.of(error)))", advice: "remove that folder and start again")
        }
        return made
    }

    private func ensureConnectionKeys(_ made: inout [String]) throws {
        let authority = try ensureAuthority(&made)
        for connection in Self.connections { try ensure(connection.file, connection.commonName, connection.names, authority, &made) }
    }

    /// Keys that a service makes in its data folder, where its copies share that folder. On hosts, each with a data folder of its own, they come from
    /// here.
    static let sharedKeys: [String: [(setting: String, file: String)]] = [
        "authentication": [
            ("secretsKey", "authentication-secrets.key"), ("sdkTokenKey", "authentication-sdk-token.key"),
            ("sdkSealKey", "authentication-sdk-seal.key"), ("serviceTokenKey", "authentication-service-token.key"),
        ],
        "authorization": [("sdkTokenKey", "authorization-sdk-token.key")],
    ]

    /// Makes the keys that copies of a service on several hosts must have in common.
    @discardableResult
    func ensureSharedKeys() throws -> [String] {
        try make { made in
            for file in Self.sharedKeys.values.joined().map(\.file).sorted() where isMissing(file) {
                let text =
                    if file.hasSuffix("sdk-token.key") {
                        try P256PrivateKey.generate().pem()
                    } else if file.hasSuffix("service-token.key") {
                        try RSAPrivateKey.generate().pem()
                    } else {
                        SymmetricKey.random().hexRepresentation + "\n"
                    }
                try write(text, to: file, mode: 0o600)
                made.append(file)
            }
        }
    }

    /// Makes the passwords of the services at a PostgreSQL server, and takes the server's authority in.
    func ensureDatabase(_ database: HostDatabase) throws {
        _ = try make { made in
            for service in HostDatabase.services where isMissing(HostDatabase.passwordFile(service)) {
                try write(SymmetricKey.random().hexRepresentation + "\n", to: HostDatabase.passwordFile(service), mode: 0o600)
                made.append(HostDatabase.passwordFile(service))
            }
            let authority = try TextFile.read(database.authority)
            guard authority.contains("-----BEGIN CERTIFICATE-----") else {
                throw CommandFailure(
                    "\(database.authority) holds no certificate", advice: "give the PEM file of the authority of the servers' certificates")
            }
            try write(authority, to: HostDatabase.authorityFile, mode: 0o644)
        }
    }

    /// A certificate for a host is good for this long: it is made for one machine, and made anew by whoever keeps that machine.
    private static let hostValidity = 90

    /// Issues one identity for mutual TLS with a key of its own, for a service or a caller that somebody else runs.
    /// - Parameters:
    ///   - name: Without `.boxoffice`.
    ///   - host: The one host that it is for, a second name in the certificate; `nil`: this machine.
    ///   - target: Gets `NAME.crt`, `NAME.key` and `ca.crt`; another folder than this PKI's.
    /// - Returns: False when what is there is of this authority, has the same names and more than a third of its time left, and was kept.
    func issue(_ name: String, host: String? = nil, to target: URL) throws -> Bool {
        guard target.standardizedFileURL != folder.standardizedFileURL else {
            throw CommandFailure("\(target.path) is the folder of the local PKI", advice: "name another one with --folder")
        }
        let other = LocalPki(folder: target)
        var made: [String] = []
        do {
            let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: path("ca.crt"), keyFile: path("ca.key")))
            if let host {
                let names = CertificateNames(dns: ["\(name).boxoffice", "\(name).\(host).boxoffice"])
                try other.ensure(name, "\(name).boxoffice", names, authority, days: Self.hostValidity, &made)
            } else {
                let names = CertificateNames(dns: ["\(name).boxoffice", "localhost"], addresses: ["127.0.0.1"])
                try other.ensure(name, "\(name).boxoffice", names, authority, &made)
            }
            try other.write(authority.certificate.pem(), to: "ca.crt", mode: 0o644)
        } catch let error as CryptographyError {
            throw CommandFailure(
                "the local PKI in \(folder.path) or \(target.path) is damaged (\(PlainReason.of(error)))", advice: "remove the damaged file")
        }
        return !made.isEmpty
    }

    /// Issues a certificate of HTTPS for one host, with a key of its own. One of another authority stays: somebody has put it there.
    /// - Parameters:
    ///   - file: Its name without `.crt`.
    ///   - names: Under which clients reach the host.
    ///   - target: The folder that gets `FILE.crt` and `FILE.key`.
    /// - Returns: False when what is there was kept.
    func issueHTTPS(_ file: String, names: CertificateNames, to target: URL) throws -> Bool {
        let other = LocalPki(folder: target)
        var made: [String] = []
        do {
            let authority = CertificateAuthority(identity: try CertifiedKey(certificateFile: path("ca.crt"), keyFile: path("ca.key")))
            if !other.isMissing("\(file).crt"), try !Certificate(pemFile: other.path("\(file).crt")).isSigned(by: authority.certificate) {
                return false
            }
            try other.ensure(file, names.dns.first ?? file, names, authority, days: Self.hostValidity, &made)
        } catch let error as CryptographyError {
            throw CommandFailure(
                "the local PKI in \(folder.path) or \(target.path) is damaged (\(PlainReason.of(error)))", advice: "remove the damaged file")
        }
        return !made.isEmpty
    }

    func path(_ file: String) -> String { folder.appendingPathComponent(file).path }

    /// The bearer of the administration API.
    package func adminToken() throws -> String {
        try TextFile.read(path("admin.token")).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The key pairs with which the demo's app without client registration signs; the public key stands in the demo catalogue.
    func demoPairs() throws -> [String: ClusterFile.SigningPair] {
        guard !isMissing("acme-legacy.secret") else { return [:] }
        let secret = try TextFile.read(path("acme-legacy.secret")).trimmingCharacters(in: .whitespacesAndNewlines)
        return ["acme-legacy": ClusterFile.SigningPair(publicKey: "AcmeLegacyDemoPairOf2016", secret: secret)]
    }

    private func ensureAuthority(_ made: inout [String]) throws -> CertificateAuthority {
        if !isMissing("ca.crt"), !isMissing("ca.key") {
            return CertificateAuthority(identity: try CertifiedKey(certificateFile: path("ca.crt"), keyFile: path("ca.key")))
        }
        let authority = try CertificateAuthority.create(name: "Boxoffice local authority")
        try write(authority.identity.key.pem(), to: "ca.key", mode: 0o600)
        try write(authority.certificate.pem(), to: "ca.crt", mode: 0o644)
        made.append("ca")
        return authority
    }

    private func ensure(
        _ name: String, _ commonName: String, _ names: CertificateNames, _ authority: CertificateAuthority, days: Int = 365,
        _ made: inout [String]
    ) throws {
        guard try hasPair(name, names, authority) else {
            try write(authority.issue(commonName: commonName, names: names, validity: .days(days)), as: name)
            return made.append(name)
        }
        let now = SystemClock().now()
        if try renew(name, commonName, names, authority, at: now) { made.append(name) }
    }

    /// True when there is a certificate of the authority with these names, and its key.
    private func hasPair(_ name: String, _ names: CertificateNames, _ authority: CertificateAuthority) throws -> Bool {
        guard !isMissing("\(name).crt"), !isMissing("\(name).key") else { return false }
        let certificate = try Certificate(pemFile: path("\(name).crt"))
        return certificate.isSigned(by: authority.certificate) && names.dns.allSatisfy(certificate.dnsNames.contains)
    }

    /// Makes the keys that must be RSA. These take most of the time of a first start, so that all processors look for all of them at once.
    private func ensureRSAKeys(_ made: inout [String]) throws {
        let signers = try Self.signers.filter { try !isCurrent($0) }
        let isPlatformMissing = isMissing(Self.platformKey)
        var keys = try Self.findRSAKeys(count: signers.count + (isPlatformMissing ? 1 : 0))
        for name in signers {
            try write(CertifiedKey.selfSigned(commonName: name, key: .rsa(keys.removeLast()), validity: .days(3650)), as: name)
            made.append(name)
        }
        if isPlatformMissing {
            try write(keys.removeLast().pem(), to: Self.platformKey, mode: 0o600)
            made.append(Self.platformKey)
        }
        try ensurePlatformKeySet(isNew: isPlatformMissing)
    }

    static func findRSAKeys(count: Int) throws -> [RSAPrivateKey] {
        let found = Mutex<[Result<RSAPrivateKey, CryptographyError>]>([])
        DispatchQueue.concurrentPerform(iterations: count) { _ in
            let key = Result { () throws(CryptographyError) in try RSAPrivateKey.generate() }
            found.withLock { $0.append(key) }
        }
        return try found.withLock { $0 }.map { try $0.get() }
    }

    /// The public half of the key of the stand-in platform's identity tokens, as a JWK set.
    private func ensurePlatformKeySet(isNew: Bool) throws {
        let keys = Self.platformKeySet
        guard isNew || isMissing(keys) else { return }
        let key = try RSAPrivateKey(pemFile: path(Self.platformKey))
        try write(JSONWebKeySet(keys: [JSONWebKey(.rsa(key.publicKey))]).json + "\n", to: keys, mode: 0o644)
    }

    private func ensureAppleKey(_ name: String, _ made: inout [String]) throws {
        let (file, publicHalf) = ("\(name).key", "\(name).pub")
        if isMissing(file) {
            try write(try P256PrivateKey.generate().pem(), to: file, mode: 0o600)
            made.append(file)
        } else if !isMissing(publicHalf) {
            return
        }
        try write(try P256PrivateKey(pemFile: path(file)).publicKey.pem(), to: publicHalf, mode: 0o644)
    }

    private func isCurrent(_ name: String) throws -> Bool {
        guard !isMissing("\(name).crt"), !isMissing("\(name).key") else { return false }
        return try Certificate(pemFile: path("\(name).crt")).isValid(at: Self.soon)
    }

    private static var soon: Timestamp { SystemClock().now() + renewal }

    private func write(_ identity: CertifiedKey, as name: String) throws {
        try write(identity.key.pem(), to: "\(name).key", mode: 0o600)
        try write(identity.certificate.pem(), to: "\(name).crt", mode: 0o644)
    }

    func isMissing(_ file: String) -> Bool { !FileManager.default.fileExists(atPath: path(file)) }

    /// Replaces the file as a whole, so that a service that reloads never reads half of one.
    func write(_ text: String, to file: String, mode: Int) throws {
        let temporary = path(".\(file).new")
        let isWritten = FileManager.default.createFile(atPath: temporary, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        guard isWritten, rename(temporary, path(file)) == 0 else {
            throw CommandFailure("cannot write \(path(file))", advice: "check the folder's permissions and the free space")
        }
    }
}
