/// What a deployment decides about its gateway.
public struct GatewaySettings: Sendable {
    /// Scheme, host and port under which browsers reach the gateway, for example `https://tv.example`; no slash at the end.
    public var publicOrigin: String
    /// Folder with the templates and static files.
    public var pages: String
    /// True: the sign-in cookie goes without `Secure` and the `__Host-` name. Only for plain HTTP on loopback.
    public var insecureCookies: Bool
    /// Peers whose `X-Forwarded-For` counts (rest-v1 §2.6).
    public var trustedProxies: [AddressRange]
    /// The longest that one request may take behind the gateway.
    public var requestTimeout: Duration
    /// The longest that a client may take to send a body.
    public var bodyTimeout: Duration
    /// Largest body of an API request, in bytes.
    public var maximumBodyBytes: Int
    /// Largest body of an MVPD's answer, in bytes; 256 KiB of base64 and its form encoding must fit (mvpd §2.3).
    public var maximumAssertionBytes: Int

    public init(
        publicOrigin: String, pages: String, insecureCookies: Bool = false, trustedProxies: [AddressRange] = [],
        requestTimeout: Duration = .seconds(10), bodyTimeout: Duration = .seconds(10), maximumBodyBytes: Int = 64 * 1024,
        maximumAssertionBytes: Int = 512 * 1024
    ) {
        self.publicOrigin = publicOrigin
        self.pages = pages
        self.insecureCookies = insecureCookies
        self.trustedProxies = trustedProxies
        self.requestTimeout = requestTimeout
        self.bodyTimeout = bodyTimeout
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumAssertionBytes = maximumAssertionBytes
    }

    /// What is wrong with the settings, one line per problem; empty when they can be used.
    public var problems: [String] {
        guard let origin = WebOrigin(publicOrigin), origin.description == publicOrigin.lowercased() else {
            return ["publicOrigin must be http(s)://host[:port] without a path"]
        }
        var problems: [String] = []
        if insecureCookies, origin.scheme != "http" || !origin.isLoopback {
            problems.append("insecureCookies is only allowed when publicOrigin is plain HTTP on loopback")
        }
        if maximumBodyBytes < 1024 || maximumAssertionBytes < maximumBodyBytes {
            problems.append("maximumBodyBytes must be at least 1024 and maximumAssertionBytes not below it")
        }
        if requestTimeout <= .zero || bodyTimeout <= .zero { problems.append("timeouts must be positive") }
        return problems
    }
}
