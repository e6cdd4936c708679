/// A call to Apple's identity server (apple §2.1).
struct AppleIDCall: Sendable {
    enum Endpoint: String, Sendable {
        case keys = "/auth/keys"
        case authorize = "/auth/authorize"
        case token = "/auth/token"
        case revoke = "/auth/revoke"
        case migration = "/auth/usermigrationinfo"
    }

    typealias Field = (name: String, value: String)

    let endpoint: Endpoint
    /// Of an `application/x-www-form-urlencoded` body; `nil`: a GET.
    var form: [Field]?
    var bearer: AppleAccessToken?

    func request(at server: String) -> AppleRequest {
        var headers = [(name: "accept", value: "application/json")]
        if form != nil { headers.append((name: "content-type", value: "application/x-www-form-urlencoded")) }
        if let bearer { headers.append((name: "authorization", value: "Bearer \(bearer.text)")) }
        return AppleRequest(
            method: form == nil ? .get : .post, url: server + endpoint.rawValue, headers: headers,
            body: form.map { Array(FormBody.encode($0).utf8) } ?? [])
    }
}

/// `application/x-www-form-urlencoded` (RFC 6749 appendix B): everything but letters, digits and `-._~` as `%XX`.
enum FormBody {
    static func encode(_ fields: [AppleIDCall.Field]) -> String {
        fields.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._~".utf8.contains(byte)
        }
    }
}
