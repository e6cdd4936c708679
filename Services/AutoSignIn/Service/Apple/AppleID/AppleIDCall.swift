internal import OutboundHttp
internal import TextEncodings

/// A call to Apple's identity server (apple §2.1).
struct AppleIDCall: Sendable {
    enum Endpoint: String, Sendable {
        case keys = "/auth/keys"
        case authorize = "/auth/authorize"
        case token = "/auth/token"
        case revoke = "/auth/revoke"
        case migration = "/auth/usermigrationinfo"
    }

    typealias Field = (String, String)

    let endpoint: Endpoint
    /// Of an `application/x-www-form-urlencoded` body; `nil`: a GET.
    var form: [Field]?
    var bearer: AppleAccessToken?

    func request(at server: String) -> OutboundRequest {
        var headers = [(name: "accept", value: "application/json")]
        if form != nil { headers.append((name: "content-type", value: "application/x-www-form-urlencoded")) }
        if let bearer { headers.append((name: "authorization", value: "Bearer \(bearer.text)")) }
        return OutboundRequest(
            form == nil ? .get : .post, server + endpoint.rawValue, headers: headers, body: form.map { Array(FormEncoding.encode($0).utf8) })
    }
}
