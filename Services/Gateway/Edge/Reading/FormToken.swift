internal import Cryptography

/// What a form of a web session carries, so that no page of another site can make one: a digest of the session's secret, which only that page
/// and the cookie have.
struct FormToken {
    let text: String

    /// - Parameter purpose: Forms of one kind of pages are none of another's.
    init(secret: String, purpose: String = "devices") {
        text = Base64.url.encode(SHA256.hash(Array("boxoffice-\(purpose)-form\n\(secret)".utf8)))
    }

    func isEqual(to sent: String) -> Bool { ConstantTime.equal(text, sent) }
}
