/// The values that an identity token is compared with, beside Apple's keys and the time.
package struct IdentityTokenExpectation: Sendable {
    /// Apple's name in its tokens (apple §2.2, V5).
    package static let issuer = "https://appleid.apple.com"

    /// The client id that asked (V6).
    package var clientID: String
    /// The nonce that this service gave out for this request and nobody used yet; `nil`: there is no such thing, and the check V8 fails.
    package var nonce: String?
    /// The code that came along with the token; `c_hash` is checked against it.
    package var code: String?
    /// As `code`, for `at_hash`.
    package var accessToken: String?

    package init(clientID: String, nonce: String?, code: String? = nil, accessToken: String? = nil) {
        self.clientID = clientID
        self.nonce = nonce
        self.code = code
        self.accessToken = accessToken
    }
}
