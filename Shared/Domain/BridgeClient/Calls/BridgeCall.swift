public import OutboundHttp
internal import StrictJson
internal import TextEncodings

/// A call of the API v2 without its bearer and its device: what it asks, of which service provider.
public struct BridgeCall: Sendable {
    public let operation: BridgeOperation
    let method: OutboundRequest.Method
    /// From the root; percent-encoded.
    let path: String
    let body: Body?
    /// Whom it asks about; empty: nobody, as with register and token.
    public let serviceProvider: String
    /// The integration that it uses; `nil`: none, or nobody knows which. A logout uses none: it is told whatever upstream serves.
    public let integration: Integration?

    /// An MVPD at a service provider, as upstream calls both.
    public struct Integration: Hashable, Sendable {
        public let serviceProvider: String
        public let mvpd: String

        public init(_ serviceProvider: String, _ mvpd: String) { (self.serviceProvider, self.mvpd) = (serviceProvider, mvpd) }

        public static func == (one: Self, other: Self) -> Bool {
            OctetText(one.serviceProvider) == OctetText(other.serviceProvider) && OctetText(one.mvpd) == OctetText(other.mvpd)
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(OctetText(serviceProvider))
            hasher.combine(OctetText(mvpd))
        }
    }

    struct Body: Sendable {
        let type: String
        let text: String

        static func form(_ fields: [(String, String)]) -> Body {
            Body(type: "application/x-www-form-urlencoded", text: FormEncoding.encode(fields))
        }

        static func json(_ text: String) -> Body { Body(type: "application/json", text: text) }
    }

    private init(
        _ operation: BridgeOperation, _ method: OutboundRequest.Method, _ path: String, _ body: Body? = nil, of serviceProvider: String = "",
        at mvpd: String? = nil
    ) {
        self.operation = operation
        self.method = method
        self.path = path
        self.body = body
        self.serviceProvider = serviceProvider
        integration = mvpd.map { Integration(serviceProvider, $0) }
    }

    private static func api(_ serviceProvider: String, _ rest: String...) -> String {
        "/api/v2/" + ([serviceProvider] + rest).map { PercentEncoding.encode($0) }.joined(separator: "/")
    }

    /// Registers a client with the upstream's software statement.
    public static func register(statement: String) -> BridgeCall {
        BridgeCall(.register, .post, "/o/client/register", .json(#"{"software_statement":\#(JsonWriter.quoted(statement))}"#))
    }

    public static func token(_ credentials: BridgeCredentials) -> BridgeCall {
        let fields = [("grant_type", "client_credentials"), ("client_id", credentials.clientID), ("client_secret", credentials.clientSecret)]
        return BridgeCall(.token, .post, "/o/client/token", .form(fields))
    }

    public static func list(_ serviceProvider: String) -> BridgeCall {
        BridgeCall(.list, .get, api(serviceProvider, "configuration"), of: serviceProvider)
    }

    /// - Parameters:
    ///   - mvpd: The upstream's id.
    ///   - domainName: A domain that is registered for the service provider upstream.
    ///   - redirectURL: Where the browser goes after the sign-in.
    public static func create(_ serviceProvider: String, mvpd: String, domainName: String, redirectURL: String) -> BridgeCall {
        let fields = [("mvpd", mvpd), ("domainName", domainName), ("redirectUrl", redirectURL)]
        return BridgeCall(.create, .post, api(serviceProvider, "sessions"), .form(fields), of: serviceProvider, at: mvpd)
    }

    /// Tells what upstream understood of a session that was made.
    public static func readSession(_ serviceProvider: String, code: String) -> BridgeCall {
        BridgeCall(.readSession, .get, api(serviceProvider, "sessions", code), of: serviceProvider)
    }

    /// - Parameter mvpd: At which the code's login is; `nil`: nobody knows.
    public static func profile(_ serviceProvider: String, code: String, mvpd: String? = nil) -> BridgeCall {
        BridgeCall(.byCode, .get, api(serviceProvider, "profiles", "code", code), of: serviceProvider, at: mvpd)
    }

    public static func profile(_ serviceProvider: String, mvpd: String) -> BridgeCall {
        BridgeCall(.profile, .get, api(serviceProvider, "profiles", mvpd), of: serviceProvider, at: mvpd)
    }

    public static func profiles(_ serviceProvider: String) -> BridgeCall {
        BridgeCall(.profiles, .get, api(serviceProvider, "profiles"), of: serviceProvider)
    }

    /// - Parameter resource: As the app sent it: plain or MRSS.
    public static func authorize(_ serviceProvider: String, mvpd: String, resource: String) -> BridgeCall {
        BridgeCall(
            .authorize, .post, api(serviceProvider, "decisions", "authorize", mvpd), resources([resource]), of: serviceProvider, at: mvpd)
    }

    public static func preauthorize(_ serviceProvider: String, mvpd: String, resources batch: [String]) -> BridgeCall {
        BridgeCall(
            .preauthorize, .post, api(serviceProvider, "decisions", "preauthorize", mvpd), resources(batch), of: serviceProvider, at: mvpd)
    }

    public static func logout(_ serviceProvider: String, mvpd: String, redirectURL: String) -> BridgeCall {
        BridgeCall(.logout, .get, api(serviceProvider, "logout", mvpd) + "?redirectUrl=" + PercentEncoding.encode(redirectURL), of: serviceProvider)
    }

    public static func partnerRequest(_ serviceProvider: String, partner: String, domainName: String, redirectURL: String) -> BridgeCall {
        let fields = [("domainName", domainName), ("redirectUrl", redirectURL)]
        return BridgeCall(.partnerRequest, .post, api(serviceProvider, "sessions", "sso", partner), .form(fields), of: serviceProvider)
    }

    /// - Parameter samlResponse: Base64, as the app sent it; the form encodes it once.
    public static func partnerProfile(_ serviceProvider: String, partner: String, samlResponse: String) -> BridgeCall {
        BridgeCall(
            .partnerProfile, .post, api(serviceProvider, "profiles", "sso", partner), .form([("SAMLResponse", samlResponse)]), of: serviceProvider)
    }

    /// Lets trials begin anew, at the management host (rest-v2 §2.14).
    /// - Parameters:
    ///   - who: Whose trial: a device by its identifier, or a person by a digest, with the name of its parameter; `nil`: everybody's.
    ///   - isOfPersons: True when trials of persons are meant, not those of devices.
    public static func reset(_ serviceProvider: String, mvpd: String, who: String?, isOfPersons: Bool) -> BridgeCall {
        let fields = [(isOfPersons ? "key" : "device_id", who ?? "all"), ("requestor_id", serviceProvider), ("mvpd_id", mvpd)]
        return BridgeCall(
            .reset, .delete, "/reset-tempass/v3/reset" + (isOfPersons ? "/generic" : "") + "?" + FormEncoding.encode(fields), of: serviceProvider)
    }

    private static func resources(_ resources: [String]) -> Body {
        .json(#"{"resources":[\#(resources.map { JsonWriter.quoted($0) }.joined(separator: ","))]}"#)
    }

    /// The request as it goes out.
    /// - Parameters:
    ///   - origin: The upstream's, without a slash at the end.
    ///   - bearer: The bearer of the slot; `nil` for register and token.
    ///   - device: Whom the call is for; `nil` for the slot that serves no device.
    ///   - form: How this upstream wants the device named.
    public func request(to origin: String, bearer: String?, device: BridgeDevice?, form: BridgeDeviceForm) -> OutboundRequest {
        var headers: [OutboundRequest.Header] = [("Accept", "application/json")]
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        if let body { headers.append(("Content-Type", body.type)) }
        // Without a device the transport says who we are.
        if let device { headers += device.headers(for: operation, form) }
        return OutboundRequest(method, origin + path, headers: headers, body: body.map { Array($0.text.utf8) })
    }
}
