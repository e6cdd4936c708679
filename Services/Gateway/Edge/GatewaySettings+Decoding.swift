/// The object `gateway` of the settings file.
extension GatewaySettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case listen, publicOrigin, pages, languages, insecureCookies, trustedProxies, requestSeconds, bodySeconds, bodyBytes, assertionBytes,
            throttle, tls
        case allowPlainHTTP, signedPlainHTTP, connections, overload, admin, mvpdProxyAddresses, shares, hosts, signInOrigin
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            listen: try container.decode(String.self, forKey: .listen),
            publicOrigin: try container.decode(String.self, forKey: .publicOrigin),
            pages: try container.decode(String.self, forKey: .pages),
            insecureCookies: try container.decodeIfPresent(Bool.self, forKey: .insecureCookies) ?? false,
            trustedProxies: try AddressRange.list(container, .trustedProxies),
            mvpdProxyAddresses: try AddressRange.list(container, .mvpdProxyAddresses))
        languages = try container.decodeIfPresent(String.self, forKey: .languages)
        if let seconds = try container.decodeIfPresent(Int.self, forKey: .requestSeconds) { requestTimeout = .seconds(seconds) }
        if let seconds = try container.decodeIfPresent(Int.self, forKey: .bodySeconds) { bodyTimeout = .seconds(seconds) }
        maximumBodyBytes = try container.decodeIfPresent(Int.self, forKey: .bodyBytes) ?? maximumBodyBytes
        maximumAssertionBytes = try container.decodeIfPresent(Int.self, forKey: .assertionBytes) ?? maximumAssertionBytes
        throttle = try container.decodeIfPresent(ThrottleSettings.self, forKey: .throttle) ?? throttle
        shares = try container.decodeIfPresent(ShareSettings.self, forKey: .shares) ?? shares
        hosts = try container.decodeIfPresent([HostSettings].self, forKey: .hosts) ?? hosts
        signInOrigin = try container.decodeIfPresent(String.self, forKey: .signInOrigin)
        tls = try container.decodeIfPresent(HttpsSettings.self, forKey: .tls)
        allowsPlainHTTP = try container.decodeIfPresent(Bool.self, forKey: .allowPlainHTTP) ?? false
        signedPlainHTTP = try container.decodeIfPresent(SignedPlainHTTP.self, forKey: .signedPlainHTTP) ?? signedPlainHTTP
        connections = try container.decodeIfPresent(ConnectionLimits.self, forKey: .connections) ?? connections
        admin = try container.decodeIfPresent(AdministrationSettings.self, forKey: .admin) ?? admin
        overload = try container.decodeIfPresent(OverloadSettings.self, forKey: .overload) ?? overload
    }
}
