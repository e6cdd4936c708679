internal import Cryptography
internal import Logging
internal import StoragePostgres
internal import Transport

/// The program keeps its store here. The default: a SQLite file in the data folder.
public struct StorageSettings: Decodable, Sendable, Hashable {
    public enum Engine: String, CaseIterable, Sendable {
        case sqlite
        case postgres
    }

    /// Files are relative to the settings file.
    public struct Tls: Decodable, Sendable, Hashable {
        /// States whether the proof of the password must hold for this connection alone (RFC 5802 §6), so that nobody between can pass it on.
        public enum ChannelBinding: String, CaseIterable, Sendable {
            case require
            /// The server offers it here: a pooler does not.
            case prefer
        }

        public let trustAnchors: String
        /// The program's own, where the server asks for one; both or none.
        public let certificate: String?
        public let key: String?
        /// `nil`: it is required where there is a password.
        public let channelBinding: ChannelBinding?

        private enum CodingKeys: String, CodingKey { case trustAnchors, certificate, key, channelBinding }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            trustAnchors = try container.decode(String.self, forKey: .trustAnchors)
            certificate = try container.decodeIfPresent(String.self, forKey: .certificate)
            key = try container.decodeIfPresent(String.self, forKey: .key)
            channelBinding = try container.decodeIfPresent(String.self, forKey: .channelBinding).map { name in
                if let known = ChannelBinding(rawValue: name) { return known }
                let text = "must be one of \(ChannelBinding.allCases.map(\.rawValue).joined(separator: ", ")); it is '\(name)'"
                throw DecodingError.dataCorruptedError(forKey: .channelBinding, in: container, debugDescription: text)
            }
        }
    }

    /// Connections to the server.
    public struct Connections: Decodable, Sendable, Hashable {
        /// For statements that read, 1 to 64.
        public let read: Int
        /// For changes that are known whole, 1 to 64.
        public let write: Int
        /// For transactions with steps that depend on one another, 1 to 256; opened when they are needed.
        public let interactive: Int

        private enum CodingKeys: String, CodingKey { case read, write, interactive }

        init() { (read, write, interactive) = (2, 2, 8) }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func bounded(_ key: CodingKeys, _ range: ClosedRange<Int>, else standard: Int) throws -> Int {
                guard let value = try container.decodeIfPresent(Int.self, forKey: key) else { return standard }
                guard range.contains(value) else {
                    let text = "must be from \(range.lowerBound) to \(range.upperBound); it is \(value)"
                    throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: text)
                }
                return value
            }
            let standard = Self()
            read = try bounded(.read, 1...64, else: standard.read)
            write = try bounded(.write, 1...64, else: standard.write)
            interactive = try bounded(.interactive, 1...256, else: standard.interactive)
        }
    }

    public let engine: Engine
    /// Each `host:port`, or the folder of a socket: `/run/postgresql:5432`. The first that takes writes is used.
    public let hosts: [String]
    /// `nil`: named as the program, as the user is.
    public let database: String?
    public let user: String?
    public let passwordFile: String?
    public let tls: Tls?
    public let requireStandby: Bool
    public let lanes: Connections
    public let prepared: Bool

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case engine, hosts, database, user, passwordFile, tls, requireStandby, lanes, prepared
    }

    init() {
        (engine, hosts, lanes, prepared, requireStandby) = (.sqlite, [], Connections(), true, false)
        (database, user, passwordFile, tls) = (nil, nil, nil, nil)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decodeIfPresent(String.self, forKey: .engine) ?? Engine.sqlite.rawValue
        guard let engine = Engine(rawValue: name) else {
            let text = "must be one of \(Engine.allCases.map(\.rawValue).joined(separator: ", ")); it is '\(name)'"
            throw DecodingError.dataCorruptedError(forKey: .engine, in: container, debugDescription: text)
        }
        self.engine = engine
        hosts = try container.decodeIfPresent([String].self, forKey: .hosts) ?? (engine == .postgres ? ["127.0.0.1:5432"] : [])
        database = try container.decodeIfPresent(String.self, forKey: .database)
        user = try container.decodeIfPresent(String.self, forKey: .user)
        passwordFile = try container.decodeIfPresent(String.self, forKey: .passwordFile)
        tls = try container.decodeIfPresent(Tls.self, forKey: .tls)
        requireStandby = try container.decodeIfPresent(Bool.self, forKey: .requireStandby) ?? false
        lanes = try container.decodeIfPresent(Connections.self, forKey: .lanes) ?? Connections()
        prepared = try container.decodeIfPresent(Bool.self, forKey: .prepared) ?? true
        try refuseImpossibleMix(container)
    }

    /// Reads the files that a connection needs. A password that is changed later is read at each connection.
    /// - Throws: `StartFailure` naming key and file.
    func check(_ files: SettingsFiles) throws(StartFailure) {
        if let passwordFile { _ = try files.text(passwordFile, key: "storage.passwordFile") }
        guard let tls else { return }
        do throws(CryptographyError) {
            _ = try Certificate.all(pemFile: files.path(tls.trustAnchors))
        } catch {
            throw files.failure("storage.tls.trustAnchors", "names the file \(files.path(tls.trustAnchors)), which holds no certificate: \(error)")
        }
    }

    private func refuseImpossibleMix(_ container: KeyedDecodingContainer<CodingKeys>) throws {
        func refuse(_ key: CodingKeys, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        guard engine == .postgres else {
            if let key = container.allKeys.first(where: { $0 != .engine }) { throw refuse(key, "has no meaning without \"engine\": \"postgres\"") }
            return
        }
        if hosts.isEmpty { throw refuse(.hosts, "must have at least one host:port") }
        for host in hosts {
            guard let (name, _) = PeerSettings.split(host) else {
                throw refuse(.hosts, "must hold host:port with a port from 1 to 65535; one is '\(host)'")
            }
            guard tls == nil else { continue }
            let isHere = name.hasPrefix("/") || ["127.0.0.1", "::1", "localhost"].contains(name)
            if !isHere { throw refuse(.tls, "is missing; only a server on this machine is talked to in the clear, and '\(host)' is another one") }
        }
        if let tls, (tls.certificate == nil) != (tls.key == nil) { throw refuse(.tls, "must have certificate and key, or neither") }
        if tls?.channelBinding != nil, passwordFile == nil {
            throw refuse(.tls, "has channelBinding, which is about a password: it has no meaning without passwordFile")
        }
        for (key, name) in [(CodingKeys.database, database), (.user, user)] where name?.isEmpty == true { throw refuse(key, "must not be empty") }
    }
}

extension PostgresOptions {
    /// - Parameter program: Whose store it is.
    init(_ settings: StorageSettings, program: String, files: SettingsFiles) {
        self.init(
            hosts: settings.hosts.compactMap { PeerSettings.split($0).map { Host(name: $0.host, port: UInt16($0.port)) } },
            database: settings.database ?? program, user: settings.user ?? program)
        passwordFile = settings.passwordFile.map(files.path)
        tls = settings.tls.map {
            Tls(
                trustAnchors: files.path($0.trustAnchors), certificate: $0.certificate.map(files.path), key: $0.key.map(files.path),
                requiresChannelBinding: $0.channelBinding != .prefer)
        }
        requireStandby = settings.requireStandby
        (readConnections, writeConnections, interactive) = (settings.lanes.read, settings.lanes.write, settings.lanes.interactive)
        isPrepared = settings.prepared
    }
}

/// The program's TLS identity, PEM files relative to the settings file.
public struct TlsSettings: Decodable, Sendable, Hashable {
    public let certificate: String
    public let key: String
    /// Authorities whose certificates are accepted: one, or two while peers change from one to the other.
    public let trustAnchors: String
    /// SHA-256 of certificates that were taken back: 64 hex digits each, `:` between bytes or not.
    public let refused: [String]

    private enum CodingKeys: String, CodingKey { case certificate, key, trustAnchors, refused }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        certificate = try container.decode(String.self, forKey: .certificate)
        key = try container.decode(String.self, forKey: .key)
        trustAnchors = try container.decode(String.self, forKey: .trustAnchors)
        refused = try container.decodeIfPresent([String].self, forKey: .refused) ?? []
        for text in refused where Self.digest(text) == nil {
            throw DecodingError.dataCorruptedError(
                forKey: .refused, in: container, debugDescription: "must hold SHA-256 digests of 64 hex digits; one is '\(text)'")
        }
    }

    var refusedDigests: [CertificateDigest] { refused.compactMap(Self.digest) }

    private static func digest(_ text: String) -> CertificateDigest? {
        Hex.decode(text.filter { $0 != ":" }).flatMap { CertificateDigest($0) }
    }
}

/// How much is logged, and how much of it is kept where the program has a log file of its own.
public struct LogSettings: Decodable, Sendable, Hashable {
    /// `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    let level: Logger.Level
    /// Means nothing where somebody else keeps what the program prints: the journal, or a container engine.
    let retention: LogRetention

    private enum CodingKeys: String, CodingKey { case level, fileMebibytes, days, allMebibytes }

    init(level: Logger.Level, retention: LogRetention = LogRetention()) { (self.level, self.retention) = (level, retention) }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func bounded(_ key: CodingKeys, _ range: ClosedRange<Int>) throws -> Int? {
            guard let value = try container.decodeIfPresent(Int.self, forKey: key) else { return nil }
            guard range.contains(value) else {
                let text = "must be from \(range.lowerBound) to \(range.upperBound); it is \(value)"
                throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: text)
            }
            return value
        }
        let word = try container.decodeIfPresent(String.self, forKey: .level) ?? "info"
        guard let level = Logger.Level(rawValue: word) else {
            let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(forKey: .level, in: container, debugDescription: "must be one of \(levels); it is '\(word)'")
        }
        var retention = LogRetention()
        if let size = try bounded(.fileMebibytes, 1...4096) { retention.fileBytes = size << 20 }
        if let days = try bounded(.days, 1...3650) { retention.days = days }
        if let size = try bounded(.allMebibytes, 16...1_048_576) { retention.allBytes = size << 20 }
        (self.level, self.retention) = (level, retention)
    }
}
