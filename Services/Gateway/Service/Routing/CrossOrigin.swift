internal import Catalogue
internal import Contracts
internal import Hummingbird

/// Which pages of other origins may call and read (rest-v1 §2.1).
struct CrossOrigin {
    /// The origin to name in the reply; `nil` when it may not read.
    private let allowed: String?
    /// Pages of any origin, without cookies.
    private let isForEverybody: Bool

    static let everybody = CrossOrigin()

    private init() { (allowed, isForEverybody) = (nil, true) }

    /// - Parameters:
    ///   - origin: The `Origin` header.
    ///   - domains: The requestor's registered domains.
    init(origin: String?, domains: [Domain]) {
        let accepted = origin.flatMap(WebOrigin.init).map { domains.coverOrigin(scheme: $0.scheme, host: $0.host, port: $0.port) } ?? false
        allowed = accepted ? origin : nil
        isForEverybody = false
    }

    func apply(to response: inout Response, isPreflight: Bool = false) {
        guard !isForEverybody else { return Self.admitEverybody(to: &response, isPreflight) }
        response.headers.append(.init(name: .vary, value: "Origin"))
        guard let allowed else { return }
        response.headers[.accessControlAllowOrigin] = allowed
        response.headers[.accessControlAllowCredentials] = "true"
        response.headers[.accessControlExposeHeaders] = "Adobe-Request-Id"
        guard isPreflight else { return }
        response.headers[.accessControlAllowMethods] = "POST,GET,OPTIONS,DELETE"
        response.headers[.accessControlAllowHeaders] =
            "authorization,content-type,X-Device-Info,ap_vi,Adobe-Subject-Token,traceparent,tracestate,AP-Device-Identifier,Idempotency-Key,"
            + "AP-Partner-Framework-Status,AP-TempPass-Identity,AP-Visitor-Identifier,AP-Session-Identifier,AD-Service-Token,"
            + "X-Roku-Reserved-Roku-Connect-Token,X-SSO-LINK"
        response.headers[.accessControlMaxAge] = "600"
    }

    private static func admitEverybody(to response: inout Response, _ isPreflight: Bool) {
        response.headers[.accessControlAllowOrigin] = "*"
        response.headers[.accessControlExposeHeaders] = "Adobe-Request-Id,Content-Disposition"
        guard isPreflight else { return }
        response.headers[.accessControlAllowMethods] = "GET,OPTIONS"
        response.headers[.accessControlAllowHeaders] = "authorization,accept,traceparent,tracestate"
        response.headers[.accessControlMaxAge] = "600"
    }
}
