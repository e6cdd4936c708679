/// The object `gateway.tls`: where and as whom HTTPS is served.
public struct HttpsSettings: Sendable {
    /// `address:port`; port 0: any free one.
    public var listen: String
    /// PEM: the certificate and those between it and a root, in that order. Relative to the settings file.
    public var certificate: String
    /// PEM, readable by the gateway alone.
    public var key: String
    /// Browsers remember for this long to use only HTTPS for this host (RFC 6797), in seconds; 0 says nothing to them.
    public var strictTransportSeconds: Int

    public init(listen: String, certificate: String, key: String, strictTransportSeconds: Int = 31_536_000) {
        self.listen = listen
        self.certificate = certificate
        self.key = key
        self.strictTransportSeconds = strictTransportSeconds
    }

    /// Address and port of `listen`; `nil` when it is not of that form.
    public var endpoint: (address: String, port: Int)? { GatewaySettings.endpoint(of: listen) }

    /// The first problem: key below `tls` and text.
    var problem: (key: String, text: String)? {
        guard endpoint != nil else { return ("listen", "must be address:port, for example 127.0.0.1:8443") }
        guard (0...63_072_000).contains(strictTransportSeconds) else { return ("strictTransportSeconds", "must be from 0 to 63072000") }
        return nil
    }
}

extension HttpsSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case listen, certificate, key, strictTransportSeconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            listen: try container.decode(String.self, forKey: .listen), certificate: try container.decode(String.self, forKey: .certificate),
            key: try container.decode(String.self, forKey: .key))
        strictTransportSeconds = try container.decodeIfPresent(Int.self, forKey: .strictTransportSeconds) ?? strictTransportSeconds
    }
}
