internal import HTTPTypes

/// The settings of a gateway in a deployment.
public struct GatewaySettings: Sendable {
    /// Where HTTP is served, `address:port`; port 0: any free one.
    public var listen: String
    /// Scheme, host and port under which browsers reach the gateway, for example `https://tv.example`; no slash at the end.
    public var publicOrigin: String
    /// Other names under which the gateway is called, and certificates of single names.
    public var hosts: [HostSettings]
    /// Scheme, host and port of the addresses to which MVPDs and Apple send people back (`acsURL`, `oauthCallbackURL`, `callbackURL`); `nil`:
    /// `publicOrigin`.
    public var signInOrigin: String?
    /// Folder with the templates and static files, relative to the settings file.
    public var pages: String
    /// Folder with texts of the pages beside those that `pages` has, relative to the settings file; none when absent.
    public var languages: String?
    /// True: the sign-in cookie goes without `Secure` and the `__Host-` name. Only for plain HTTP on loopback.
    public var insecureCookies: Bool
    /// Peers whose `X-Forwarded-For` counts (rest-v1 §2.6).
    public var trustedProxies: [AddressRange]
    /// The header in which these proxies say the source port of the client's connection, 1 to 65535; `nil`: behind a proxy nobody knows it (bridge §5.1).
    public var clientPortHeader: String?
    /// From where MVPD proxies keep their lists; nobody when it is empty (dashboard §4).
    public var mvpdProxyAddresses: [AddressRange]
    /// The longest that one request may take behind the gateway.
    public var requestTimeout: Duration
    /// The longest that a client may take to send a body.
    public var bodyTimeout: Duration
    /// Largest body of an API request, in bytes.
    public var maximumBodyBytes: Int
    /// Largest body of an MVPD's answer, in bytes; 256 KiB of base64 and its form encoding must fit (mvpd §2.3).
    public var maximumAssertionBytes: Int
    /// Limits by client address.
    public var throttle: ThrottleSettings
    /// Limits by application and by requestor.
    public var shares: ShareSettings
    /// The listener of HTTPS; none when absent.
    public var tls: HttpsSettings?
    /// The listener of those who administer the cluster.
    public var admin: AdministrationSettings
    /// True: plain HTTP may be served at another address than loopback.
    public var allowsPlainHTTP: Bool
    /// The signed requests that plain HTTP may bring from elsewhere (clients §1.11).
    public var signedPlainHTTP: SignedPlainHTTP
    /// Limits of connections.
    public var connections: ConnectionLimits
    /// From when on requests are refused instead of served late.
    public var overload: OverloadSettings

    public init(
        listen: String = "127.0.0.1:0", publicOrigin: String, pages: String, insecureCookies: Bool = false, trustedProxies: [AddressRange] = [],
        requestTimeout: Duration = .seconds(10), bodyTimeout: Duration = .seconds(10), maximumBodyBytes: Int = 64 * 1024,
        maximumAssertionBytes: Int = 512 * 1024, throttle: ThrottleSettings = ThrottleSettings(), tls: HttpsSettings? = nil,
        allowsPlainHTTP: Bool = false, connections: ConnectionLimits = ConnectionLimits(), overload: OverloadSettings = OverloadSettings(),
        admin: AdministrationSettings = AdministrationSettings(), signedPlainHTTP: SignedPlainHTTP = .strict,
        mvpdProxyAddresses: [AddressRange] = [], shares: ShareSettings = ShareSettings(), hosts: [HostSettings] = [], signInOrigin: String? = nil,
        clientPortHeader: String? = nil
    ) {
        self.listen = listen
        self.publicOrigin = publicOrigin
        self.pages = pages
        self.insecureCookies = insecureCookies
        self.trustedProxies = trustedProxies
        self.requestTimeout = requestTimeout
        self.bodyTimeout = bodyTimeout
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumAssertionBytes = maximumAssertionBytes
        self.throttle = throttle
        self.shares = shares
        self.tls = tls
        self.allowsPlainHTTP = allowsPlainHTTP
        self.connections = connections
        self.overload = overload
        self.admin = admin
        self.signedPlainHTTP = signedPlainHTTP
        self.mvpdProxyAddresses = mvpdProxyAddresses
        self.hosts = hosts
        self.signInOrigin = signInOrigin
        self.clientPortHeader = clientPortHeader
    }

    /// For the pair's window, an eavesdropper on a signed request holds a key to the whole application. A request of a strict pair serves once.
    public enum SignedPlainHTTP: String, Decodable, Sendable {
        case strict
        case all
    }

    /// Address and port of `listen`; `nil` when it is not of that form.
    public var endpoint: (address: String, port: Int)? { Self.endpoint(of: listen) }

    /// - Parameter text: `address:port`; an IPv6 address may have brackets.
    static func endpoint(of text: String) -> (address: String, port: Int)? {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var address = text[..<colon]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        return address.isEmpty ? nil : (String(address), Int(port))
    }

    /// The first problem of the settings, key and text; `nil` when they can be used.
    public var problem: (key: String, text: String)? {
        guard let endpoint else { return ("listen", "must be address:port, for example 127.0.0.1:8080") }
        guard allowsPlainHTTP || Self.isLoopback(endpoint.address) else {
            return (
                "listen", "serves plain HTTP, so it must be a loopback address; use gateway.tls for others, or set gateway.allowPlainHTTP to true"
            )
        }
        guard WebOrigin.isWhole(publicOrigin) else { return ("publicOrigin", WebOrigin.rule) }
        if let hostProblem { return hostProblem }
        if let clientPortProblem { return ("clientPortHeader", clientPortProblem) }
        guard (1024...16_777_216).contains(maximumBodyBytes) else { return ("bodyBytes", "must be from 1024 to 16777216") }
        guard (maximumBodyBytes...16_777_216).contains(maximumAssertionBytes) else {
            return ("assertionBytes", "must be from bodyBytes to 16777216")
        }
        guard Self.waits.contains(requestTimeout) else { return ("requestSeconds", "must be from 1 to 120") }
        guard Self.waits.contains(bodyTimeout) else { return ("bodySeconds", "must be from 1 to 120") }
        if let problem = throttle.problem { return ("throttle.\(problem.key)", problem.text) }
        if let problem = shares.problem { return ("shares.\(problem.key)", problem.text) }
        if let problem = connections.problem { return ("connections.\(problem.key)", problem.text) }
        if let problem = overload.problem { return ("overload.\(problem.key)", problem.text) }
        if let problem = tls?.problem { return ("tls.\(problem.key)", problem.text) }
        if let problem = admin.problem(allowsPlainHTTP: allowsPlainHTTP) { return ("admin.\(problem.key)", problem.text) }
        return nil
    }

    private var clientPortProblem: String? {
        guard let clientPortHeader else { return nil }
        if HTTPField.Name(clientPortHeader) == nil { return "must be the name of a header field, for example X-Forwarded-Client-Port" }
        return trustedProxies.isEmpty ? "has no effect without gateway.trustedProxies: only a proxy that is named there may say a port" : nil
    }

    /// Warnings for operators about settings that can be used: one line for each, which begins with the key.
    public var doubts: [String] {
        var doubts: [String] = []
        let isPlain = endpoint.map { !Self.isLoopback($0.address) } ?? false
        if isPlain {
            doubts.append(
                "gateway.listen \(listen) serves plain HTTP: whoever is on the way reads bearers and cookies; serve gateway.tls and listen on 127.0.0.1 here, "
                    + "or let only the proxy of gateway.trustedProxies reach it")
        }
        if isPlain, signedPlainHTTP == .all {
            doubts.append(
                "gateway.signedPlainHTTP all takes signed requests that others could read, each of which is a key to its application for a while; "
                    + "leave it out, or set strict")
        }
        if admin.certificate == nil, let endpoint = admin.endpoint, !Self.isLoopback(endpoint.address) {
            doubts.append(
                "gateway.admin.listen \(admin.listen) serves administration in plain HTTP: whoever is on the way reads its tokens; "
                    + "give gateway.admin.certificate and key, or listen on 127.0.0.1")
        }
        if shares.perApplication == 0, shares.perRequestor == 0 {
            doubts.append("gateway.shares sets no limit to an application or a requestor, as in a cluster for development; leave it out")
        }
        return doubts
    }

    static func isLoopback(_ address: String) -> Bool {
        guard let ip = IPAddress(address) else { return address == "localhost" }
        return ip.isLoopback
    }

    private static let waits = Duration.seconds(1)...Duration.seconds(120)
}

/// The object `gateway` of the settings file.
extension GatewaySettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case listen, publicOrigin, pages, languages, insecureCookies, trustedProxies, requestSeconds, bodySeconds, bodyBytes, assertionBytes,
            throttle, tls
        case allowPlainHTTP, signedPlainHTTP, connections, overload, admin, mvpdProxyAddresses, shares, hosts, signInOrigin, clientPortHeader
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
        clientPortHeader = try container.decodeIfPresent(String.self, forKey: .clientPortHeader)
        tls = try container.decodeIfPresent(HttpsSettings.self, forKey: .tls)
        allowsPlainHTTP = try container.decodeIfPresent(Bool.self, forKey: .allowPlainHTTP) ?? false
        signedPlainHTTP = try container.decodeIfPresent(SignedPlainHTTP.self, forKey: .signedPlainHTTP) ?? signedPlainHTTP
        connections = try container.decodeIfPresent(ConnectionLimits.self, forKey: .connections) ?? connections
        admin = try container.decodeIfPresent(AdministrationSettings.self, forKey: .admin) ?? admin
        overload = try container.decodeIfPresent(OverloadSettings.self, forKey: .overload) ?? overload
    }
}
