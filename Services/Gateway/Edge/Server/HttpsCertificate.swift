public import Clocks
internal import CoreMetrics
internal import Cryptography
internal import FoundationEssentials
internal import NIOSSL
internal import Synchronization

/// As whom the gateway answers over HTTPS. Changed files are taken in without a restart: open connections keep the old certificate, and new
/// handshakes get the new one. Files that cannot be used, or are no good for the name, change nothing.
public final class HttpsCertificate: Sendable {
    private struct Loaded {
        var content: [[UInt8]]
        var chain: [NIOSSLCertificate]
        var key: NIOSSLPrivateKey
        var facts: CertificateFacts
        var context: NIOSSLContext
    }

    private struct State {
        var loaded: Loaded
        /// The last refusal, and its reason.
        var refused: Refusal?
    }

    private struct Refusal: Equatable {
        let content: [[UInt8]]
        let reason: String
    }

    /// Path of the certificates, PEM.
    public let certificateFile: String
    private let keyFile: String
    /// Label of metrics: what the certificate is for.
    private let use: String
    /// `nil`: it is for whoever asks for a name that has no certificate of its own.
    private let name: String?
    private let served: [String]
    private let others: [OctetText: HttpsCertificate]
    private let clock: any WallClock
    private let state: Mutex<State>

    /// - Parameters:
    ///   - use: The use of the certificate, as a label of metrics.
    ///   - name: The host name that it must be for; `nil`: any.
    ///   - served: Names that are served with it; one that it covers stays covered, whatever the files become.
    ///   - others: By name in lower case, what is shown to clients that ask for that name in their handshake.
    ///   - clock: Tells whether a certificate has begun and not ended.
    /// - Throws: `HttpsError`, naming the file.
    public init(
        certificateFile: String, keyFile: String, use: String = "https", name: String? = nil, served: [String] = [],
        others: [String: HttpsCertificate] = [:], clock: any WallClock = SystemClock()
    ) throws(HttpsError) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.use = use
        self.name = name
        self.served = served
        self.others = Dictionary(uniqueKeysWithValues: others.map { (OctetText($0.key), $0.value) })
        self.clock = clock
        let content = try Self.read([certificateFile, keyFile])
        let loaded = try Self.load(content, certificateFile, keyFile, self.others)
        if let name { try loaded.facts.require(name, in: certificateFile) }
        state = Mutex(State(loaded: loaded))
        count(isRefused: false)
    }

    /// For the next handshake.
    var context: NIOSSLContext { state.withLock { $0.loaded.context } }

    /// Warnings for operators about the certificate that is shown now, though it is shown all the same.
    public var doubts: [String] {
        let facts = state.withLock { $0.loaded.facts }
        let uncovered = served.filter { !facts.covers($0) }.map { name in
            "\(facts.owners(in: certificateFile)), not for '\(name)', which is served with it: browsers and apps refuse that name"
        }
        return [facts.problem(at: clock.now(), in: certificateFile), facts.weakness].compactMap(\.self) + uncovered
    }

    /// Takes in the files when their content is another than before.
    /// - Parameter again: True: says again what is wrong with files that were refused before.
    /// - Returns: True when there is a new certificate.
    /// - Throws: `HttpsError` when they cannot be used; the certificate stays.
    public func reload(again: Bool = false) throws(HttpsError) -> Bool {
        var content: [[UInt8]] = []
        do throws(HttpsError) {
            content = try Self.read([certificateFile, keyFile])
            let current = state.withLock { $0.loaded }
            let isNew = content != current.content
            let loaded = isNew ? try Self.load(content, certificateFile, keyFile, others) : current
            if isNew { try require(loaded.facts, after: current.facts) }
            state.withLock { $0 = State(loaded: loaded) }
            count(isRefused: false)
            return isNew
        } catch {
            count(isRefused: true)
            let refusal = Refusal(content: content, reason: error.description)
            let wasTold = state.withLock { state in
                defer { state.refused = refusal }
                return state.refused == refusal
            }
            guard again || !wasTold else { return false }
            throw error
        }
    }

    /// The demands on a certificate before it takes the place of one that is shown.
    private func require(_ facts: CertificateFacts, after former: CertificateFacts) throws(HttpsError) {
        if let name { try facts.require(name, in: certificateFile) }
        for name in served where former.covers(name) { try facts.require(name, in: certificateFile) }
        if let problem = facts.problem(at: clock.now(), in: certificateFile) { throw HttpsError(description: problem) }
    }

    private func count(isRefused: Bool) {
        Gauge(label: "boxoffice_gateway_certificate_refused", dimensions: [("certificate", use)]).record(isRefused ? 1 : 0)
    }

    private static func read(_ files: [String]) throws(HttpsError) -> [[UInt8]] {
        var contents: [[UInt8]] = []
        for file in files {
            guard let content = FileManager.default.contents(atPath: file) else {
                throw HttpsError(description: "the file \(file) cannot be read; correct the path, or the file's owner and mode")
            }
            contents.append([UInt8](content))
        }
        return contents
    }

    private static func load(
        _ content: [[UInt8]], _ certificateFile: String, _ keyFile: String, _ others: [OctetText: HttpsCertificate]
    ) throws(HttpsError) -> Loaded {
        let certified = try certified(content, certificateFile, keyFile)
        guard let chain = try? certified.certificates.map({ try NIOSSLCertificate(bytes: $0.der, format: .der) }) else {
            throw HttpsError(description: "the file \(certificateFile) holds a certificate that HTTPS cannot show")
        }
        guard let key = try? NIOSSLPrivateKey(bytes: Array(certified.keyPEM.utf8), format: .pem) else {
            throw HttpsError(description: "the file \(keyFile) holds a key of a kind that HTTPS cannot use; make one for P-256 or RSA")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        // TLS 1.2 may use only suites with forward secrecy and authenticated encryption (RFC 9325 §4.2); those of 1.3 all have both.
        configuration.cipherSuiteValues = [
            .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
            .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
            .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_AES_128_GCM_SHA256, .TLS_AES_256_GCM_SHA384, .TLS_CHACHA20_POLY1305_SHA256,
        ]
        configuration.applicationProtocols = ["h2", "http/1.1"]
        if !others.isEmpty { configuration.sslContextCallback = { client, choice in choice.succeed(shown(to: client.serverHostname, others)) } }
        guard let context = try? NIOSSLContext(configuration: configuration) else {
            throw HttpsError(description: "the certificate in \(certificateFile) and the key in \(keyFile) cannot be used for HTTPS")
        }
        let facts = CertificateFacts(certified.certificates[0], weakness: certified.facts.weakness.map { "the key in \(keyFile) \($0)" })
        return Loaded(content: content, chain: chain, key: key, facts: facts, context: context)
    }

    private static func certified(
        _ content: [[UInt8]], _ certificateFile: String, _ keyFile: String
    ) throws(HttpsError) -> CertifiedChain {
        let certificates: [Certificate]
        do throws(CryptographyError) {
            certificates = try Certificate.all(pem: Pem.text(content[0]))
        } catch {
            throw HttpsError(description: "the file \(certificateFile) \(error)")
        }
        do throws(CryptographyError) {
            return try CertifiedChain(certificates, keyPEM: Pem.text(content[1]))
        } catch .keyOfAnother {
            throw HttpsError(description: "the certificate in \(certificateFile) and the key in \(keyFile) do not belong together")
        } catch {
            throw HttpsError(description: "the file \(keyFile) \(error)")
        }
    }

    /// - Parameter name: The name that the client asks for (RFC 6066 §3); `nil`: none.
    private static func shown(to name: String?, _ others: [OctetText: HttpsCertificate]) -> NIOSSLContextConfigurationOverride {
        guard let name, name.utf8.count <= 253, let other = others[OctetText(name.lowercased())] else { return .noChanges }
        let loaded = other.state.withLock { $0.loaded }
        var choice = NIOSSLContextConfigurationOverride()
        choice.certificateChain = loaded.chain.map { .certificate($0) }
        choice.privateKey = .privateKey(loaded.key)
        return choice
    }
}

/// HTTPS cannot be served with the files that are there for this reason, in one line.
public struct HttpsError: Error, CustomStringConvertible {
    public let description: String
}

/// For whom and when a certificate is good, as it says itself.
struct CertificateFacts: Sendable {
    /// DNS names, lower case; a first label `*` stands for any one.
    private let names: [String]
    private let begin: Timestamp
    private let end: Timestamp

    /// The weakness of its key; `nil`: none.
    let weakness: String?

    init(_ certificate: Certificate, weakness: String? = nil) {
        names = certificate.dnsNames.map { $0.lowercased() }
        (begin, end) = (certificate.notBefore, certificate.notAfter)
        self.weakness = weakness
    }

    /// As clients compare (RFC 6125 §6.4.3).
    /// - Parameter name: Lower case.
    func covers(_ name: String) -> Bool {
        names.contains { own in
            if own == name { return true }
            guard own.hasPrefix("*."), let dot = name.firstIndex(of: "."), dot != name.startIndex else { return false }
            return name[dot...] == own.dropFirst()
        }
    }

    /// - Throws: A problem with the certificate's own names, when it is not of that name.
    func require(_ name: String, in file: String) throws(HttpsError) {
        guard !covers(name) else { return }
        throw HttpsError(description: "\(owners(in: file)), not for '\(name)'; put a certificate there that has the name")
    }

    /// The beginning of a sentence.
    func owners(in file: String) -> String {
        let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? " and \(names.count - 5) more" : "")
        return "the certificate in \(file) is for \(shown.isEmpty ? "no name" : shown)"
    }

    /// - Returns: `nil` from its beginning to its end.
    func problem(at now: Timestamp, in file: String) -> String? {
        if end < now { return "the certificate in \(file) ended at \(Self.text(end)); renew it" }
        if begin > now { return "the certificate in \(file) is good from \(Self.text(begin)) on only, and the clock says \(Self.text(now))" }
        return nil
    }

    private static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(.iso8601)
    }
}
