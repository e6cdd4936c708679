/// The object `gateway` of the settings file.
extension GatewaySettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case listen, publicOrigin, pages, insecureCookies, trustedProxies, requestSeconds, bodySeconds, bodyBytes, assertionBytes
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            listen: try container.decode(String.self, forKey: .listen),
            publicOrigin: try container.decode(String.self, forKey: .publicOrigin),
            pages: try container.decode(String.self, forKey: .pages),
            insecureCookies: try container.decodeIfPresent(Bool.self, forKey: .insecureCookies) ?? false,
            trustedProxies: try Self.ranges(container))
        if let seconds = try container.decodeIfPresent(Int.self, forKey: .requestSeconds) { requestTimeout = .seconds(seconds) }
        if let seconds = try container.decodeIfPresent(Int.self, forKey: .bodySeconds) { bodyTimeout = .seconds(seconds) }
        maximumBodyBytes = try container.decodeIfPresent(Int.self, forKey: .bodyBytes) ?? maximumBodyBytes
        maximumAssertionBytes = try container.decodeIfPresent(Int.self, forKey: .assertionBytes) ?? maximumAssertionBytes
    }

    private static func ranges(_ container: KeyedDecodingContainer<CodingKeys>) throws -> [AddressRange] {
        try (container.decodeIfPresent([String].self, forKey: .trustedProxies) ?? []).map { text in
            guard let range = AddressRange(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .trustedProxies, in: container, debugDescription: "must hold addresses or blocks like 10.0.0.0/8; one is '\(text)'")
            }
            return range
        }
    }
}
