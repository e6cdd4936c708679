internal import Cryptography

/// What a form of a web session carries, so that no page of another site can make one: a digest of the session's secret, which only that page
/// and the cookie have.
struct FormToken {
    let text: String

    init(secret: String) {
        text = Base64.url.encode(SHA256.hash(Array("boxoffice-devices-form\n\(secret)".utf8)))
    }

    func isEqual(to sent: String) -> Bool { ConstantTime.equal(text, sent) }
}
