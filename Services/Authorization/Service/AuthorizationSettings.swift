public import OutboundHttp

/// The object `authorization` of the settings file. Paths are those of files.
public struct AuthorizationSettings: Decodable, Sendable {
    /// RSA key that signs media tokens in the reference form, PEM.
    public let mediaTokenKey: String
    /// Certificates of the reference form, the one of `mediaTokenKey` first; more while keys rotate.
    public let mediaTokenCertificates: [String]
    /// P-256 key that signs media tokens in the JWS form, PEM.
    public let mediaTokenJwsKey: String
    /// P-256 key that will sign next; published already.
    public let nextMediaTokenJwsKey: String?
    /// P-256 key that signs the permits that apps of the vendor's SDKs keep, PEM; `sdk-token.key` in the data folder when it is left out. It is made
    /// when absent.
    public let sdkTokenKey: String?
    /// Keys that signed them before: what they signed is good still, also after a restart.
    public let olderSdkTokenKeys: [String]
    /// Threads that sign, 1 to 64; 2 when it is left out.
    public let signingThreads: Int
    /// Signatures that may wait, 1 to 100 000; 256 when it is left out. A further one is refused as `overloaded`.
    public let waitingSignatures: Int

    /// Number of this copy of the service, 0 to 839; `nil` when it is left out: the lowest that no other copy holds. Copies that share
    /// `mediaTokenKey` need different ones; those that share a store find theirs by themselves.
    public let copy: Int?
    /// Seconds for which a new key is published before it signs, 0 to 604 800; 600 when it is left out.
    public let keyLeadSeconds: Int

    /// The number of resources that a call of REST v2 may ask to play, 1 to 100; 1 when it is left out.
    public let resourcesPerDecision: Int

    /// The entity id that MVPDs are asked as; the same as the authentication service's. Empty when it is left out.
    public let spEntityID: String
    /// RSA key that signs questions in the SOAP form, PEM, and its certificate; both or none.
    public let signingKey: String?
    public let signingCertificate: String?
    /// The certificates for decision points, by the names that the catalogue's records use.
    public let clientCertificates: [String: ClientCertificateFiles]
    /// Certificates of upstreams' media tokens, PEM, by the ids of upstreams: a token that none of them verifies is not handed on. Tokens of other
    /// upstreams pass unchecked.
    public let verifyUpstreamTokens: [String: [String]]

    /// The files of what decision points are asked with.
    public var decisionPointFiles: [String] {
        [signingKey, signingCertificate].compactMap(\.self) + clientCertificates.values.flatMap { [$0.certificate, $0.key] }
    }

    private enum CodingKeys: String, CodingKey {
        case mediaTokenKey, mediaTokenCertificates, mediaTokenJwsKey, nextMediaTokenJwsKey, signingThreads, waitingSignatures, copy, keyLeadSeconds
        case sdkTokenKey, olderSdkTokenKeys, resourcesPerDecision
        case spEntityID, signingKey, signingCertificate, clientCertificates, verifyUpstreamTokens
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mediaTokenKey = try container.decode(String.self, forKey: .mediaTokenKey)
        mediaTokenCertificates = try container.decode([String].self, forKey: .mediaTokenCertificates)
        mediaTokenJwsKey = try container.decode(String.self, forKey: .mediaTokenJwsKey)
        nextMediaTokenJwsKey = try container.decodeIfPresent(String.self, forKey: .nextMediaTokenJwsKey)
        sdkTokenKey = try container.decodeIfPresent(String.self, forKey: .sdkTokenKey)
        olderSdkTokenKeys = try container.decodeIfPresent([String].self, forKey: .olderSdkTokenKeys) ?? []
        signingThreads = try Self.number(container, .signingThreads, 1...64, default: 2)
        waitingSignatures = try Self.number(container, .waitingSignatures, 1...100_000, default: 256)
        copy = container.contains(.copy) ? try Self.number(container, .copy, 0...839, default: 0) : nil
        keyLeadSeconds = try Self.number(container, .keyLeadSeconds, 0...604_800, default: 600)
        resourcesPerDecision = try Self.number(container, .resourcesPerDecision, 1...100, default: 1)
        spEntityID = try container.decodeIfPresent(String.self, forKey: .spEntityID) ?? ""
        signingKey = try container.decodeIfPresent(String.self, forKey: .signingKey)
        signingCertificate = try container.decodeIfPresent(String.self, forKey: .signingCertificate)
        clientCertificates = try container.decodeIfPresent([String: ClientCertificateFiles].self, forKey: .clientCertificates) ?? [:]
        verifyUpstreamTokens = try container.decodeIfPresent([String: [String]].self, forKey: .verifyUpstreamTokens) ?? [:]
        guard (signingKey == nil) == (signingCertificate == nil), signingKey == nil || !spEntityID.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .signingKey, in: container, debugDescription: "must be there together with signingCertificate and spEntityID")
        }
        guard !mediaTokenCertificates.isEmpty else {
            throw DecodingError.dataCorruptedError(
                forKey: .mediaTokenCertificates, in: container, debugDescription: "must name at least one file")
        }
    }

    private static func number(
        _ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys, _ range: ClosedRange<Int>, default standard: Int
    ) throws -> Int {
        let number = try container.decodeIfPresent(Int.self, forKey: key) ?? standard
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "must be from \(range.lowerBound) to \(range.upperBound); it is \(number)")
        }
        return number
    }
}

extension AuthorizationSettings {
    /// Certificates whose end operators are told of, by what they are for.
    public var certificateFiles: KeyValuePairs<String, String?> {
        [
            "media token": mediaTokenCertificates.first, "next media token": mediaTokenCertificates.dropFirst().first,
            "saml signing": signingCertificate,
        ]
    }
}
