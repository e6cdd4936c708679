/// The part of a settings file that is alike for all services.
public struct CommonSettings: Sendable {
    /// RPC is served here; `nil` for a program that offers none.
    public var listen: Endpoint?
    /// Metrics and health are served over HTTP here.
    public var debug: Endpoint
    /// Needed with `listen` and `peers`.
    public var tls: TlsSettings?
    /// Per RPC service, the certificate names that may call it; a service that is not listed refuses everyone.
    public var allow: [String: [String]]
    public var peers: [String: PeerSettings]
    /// Folder of the stores, relative to the settings file.
    public var data: String
    public var log: LogSettings
    public var limits: LimitSettings
    /// Where the program runs, as reports of usage name it: at most 128 octets.
    public var dataCenter = "local"
    /// Where the program runs, to its peers: calls stay in a zone while enough copies of the callee are there. At most 128 octets; `nil`: all zones are alike.
    public var zone: String?
    public var storage = StorageSettings()
    public var telemetry = TelemetrySettings()
    /// Calls to servers of other organisations.
    public var outbound = OutboundSettings()
    /// True when the file has that key.
    var saysStorage = false
}

/// A whole settings file: the common keys beside one object named as the service.
struct SettingsDocument<Specific: Decodable & Sendable>: Decodable {
    let common: CommonSettings
    let specific: Specific

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: SettingsKey.self)
        common = CommonSettings(
            listen: try container.decodeIfPresent(Endpoint.self, forKey: "listen"),
            debug: try container.decode(Endpoint.self, forKey: "debug"),
            tls: try container.decodeIfPresent(TlsSettings.self, forKey: "tls"),
            allow: try container.decodeIfPresent([String: [String]].self, forKey: "allow") ?? [:],
            peers: try container.decodeIfPresent([String: PeerSettings].self, forKey: "peers") ?? [:],
            data: try container.decodeIfPresent(String.self, forKey: "data") ?? "data",
            log: try container.decodeIfPresent(LogSettings.self, forKey: "log") ?? LogSettings(level: .info),
            limits: try container.decodeIfPresent(LimitSettings.self, forKey: "limits") ?? LimitSettings(),
            dataCenter: try Self.place(container, "dataCenter") ?? "local", zone: try Self.place(container, "zone"),
            storage: try container.decodeIfPresent(StorageSettings.self, forKey: "storage") ?? StorageSettings(),
            telemetry: try container.decodeIfPresent(TelemetrySettings.self, forKey: "telemetry") ?? TelemetrySettings(),
            outbound: try container.decodeIfPresent(OutboundSettings.self, forKey: "outbound") ?? OutboundSettings(),
            saysStorage: container.contains("storage"))
        specific = try Self.specific(container, decoder)
        try Self.refuseImpossibleMix(common, container)
    }

    private static func place(_ container: KeyedDecodingContainer<SettingsKey>, _ key: SettingsKey) throws -> String? {
        guard let name = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard !name.isEmpty, name.utf8.count <= 128 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "must be a name of 1 to 128 octets")
        }
        return name
    }

    private static func specific(_ container: KeyedDecodingContainer<SettingsKey>, _ decoder: any Decoder) throws -> Specific {
        if let none = NoSettings() as? Specific { return none }
        return try container.decode(Specific.self, forKey: SettingsKey(stringValue: decoder.userInfo[.section] as? String ?? ""))
    }

    private static func refuseImpossibleMix(_ common: CommonSettings, _ container: KeyedDecodingContainer<SettingsKey>) throws {
        func refuse(_ key: SettingsKey, _ text: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: text)
        }
        if common.tls == nil, common.listen != nil || !common.peers.isEmpty {
            throw refuse("tls", "is missing; 'listen' and 'peers' need it: the wire is always TLS")
        }
        if let listen = common.listen, listen.port != 0, listen == common.debug {
            throw refuse("debug", "must differ from 'listen'; both are \(listen)")
        }
        if common.listen == nil, !common.allow.isEmpty { throw refuse("allow", "has no meaning without 'listen'") }
    }
}

/// For a service without settings of its own.
public struct NoSettings: Decodable, Sendable {
    public init() {}
}

struct SettingsKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init(stringLiteral value: String) { stringValue = value }
    init?(intValue: Int) { nil }
}

extension CodingUserInfoKey {
    /// The key of the service's own object.
    // A literal that is not empty always makes a key.
    static let section = CodingUserInfoKey(rawValue: "section")!
}
