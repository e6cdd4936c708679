internal import Catalogue
internal import Contracts
internal import Hummingbird

/// The pages of other origins that may call and read (rest-v1 §2.1).
struct CrossOrigin {
    /// The origin to name in the reply; `nil` when it may not read.
    private let allowed: String?
    /// Pages of any origin, without cookies.
    private let isForEverybody: Bool

    static let everybody = CrossOrigin(allowed: nil, isForEverybody: true)
    static let nobody = CrossOrigin(allowed: nil, isForEverybody: false)

    private init(allowed: String?, isForEverybody: Bool) { (self.allowed, self.isForEverybody) = (allowed, isForEverybody) }

    /// False: no page may read.
    var isAdmitted: Bool { allowed != nil || isForEverybody }

    /// - Parameters:
    ///   - origin: The `Origin` header.
    ///   - catalogue: Any requestor's registered domain is good enough; `nil`: none is known.
    init(origin: String?, registeredIn catalogue: Catalogue?) {
        let accepted =
            origin.flatMap(WebOrigin.init).map { catalogue?.registersOrigin(scheme: $0.scheme, host: $0.host, port: $0.port) ?? false } ?? false
        self.init(allowed: accepted ? origin : nil, isForEverybody: false)
    }

    /// - Parameters:
    ///   - origin: The `Origin` header.
    ///   - domains: The requestor's registered domains.
    init(origin: String?, domains: [Domain]) {
        let accepted = origin.flatMap(WebOrigin.init).map { domains.coverOrigin(scheme: $0.scheme, host: $0.host, port: $0.port) } ?? false
        self.init(allowed: accepted ? origin : nil, isForEverybody: false)
    }

    /// Pages must know when to ask again, how to authenticate (RFC 6749 §5.2), and the seal of a device's id (clients §3).
    private static let exposed = "Adobe-Request-Id,Retry-After,WWW-Authenticate,pass_sfp"

    func apply(to response: inout Response, isPreflight: Bool = false) { apply(to: &response.headers, isPreflight: isPreflight) }

    func apply(to fields: inout HTTPFields, isPreflight: Bool = false) {
        guard !isForEverybody else { return Self.admitEverybody(to: &fields, isPreflight) }
        fields.append(.init(name: .vary, value: "Origin"))
        guard let allowed else { return }
        fields[.accessControlAllowOrigin] = allowed
        fields[.accessControlAllowCredentials] = "true"
        fields[.accessControlExposeHeaders] = Self.exposed
        guard isPreflight else { return }
        fields[.accessControlAllowMethods] = "POST,GET,OPTIONS,DELETE"
        fields[.accessControlAllowHeaders] =
            "authorization,content-type,X-Device-Info,ap_vi,Adobe-Subject-Token,traceparent,tracestate,AP-Device-Identifier,Idempotency-Key,"
            + "AP-Partner-Framework-Status,AP-TempPass-Identity,AP-Visitor-Identifier,AP-Session-Identifier,AD-Service-Token,"
            + "X-Roku-Reserved-Roku-Connect-Token,X-SSO-ID,X-SSO-LINK,pass_sfp,Ap_21,ap_11,ap_19,ap_23,ap_42,ap_z"
        fields[.accessControlMaxAge] = "600"
    }

    private static func admitEverybody(to fields: inout HTTPFields, _ isPreflight: Bool) {
        fields[.accessControlAllowOrigin] = "*"
        fields[.accessControlExposeHeaders] = "Adobe-Request-Id,Content-Disposition"
        guard isPreflight else { return }
        fields[.accessControlAllowMethods] = "GET,OPTIONS"
        fields[.accessControlAllowHeaders] = "authorization,accept,traceparent,tracestate"
        fields[.accessControlMaxAge] = "600"
    }
}
