internal import Octets
public import Foundation

/// A short code that a person types on a second screen (rest-v1 §3.4).
public struct RegistrationCode: Sendable, Hashable {
    /// Seven letters and digits, without those that look alike.
    public let code: String
    /// The provider that was chosen before.
    public let provider: Provider.ID
    /// When it ends, by the server's clock.
    public let expires: Date
    /// How long it is valid, from when it was made.
    public let lifetime: Duration
    /// Where the person types it, if the server says so.
    public let loginAddress: URL?
    /// The login itself, where the server has an address for it.
    let loginPage: URL?

    /// - Parameters:
    ///   - code: Seven letters and digits.
    ///   - provider: The provider that was chosen before.
    ///   - expires: By the server's clock.
    ///   - lifetime: From when the code was made until it expires; independent of the device's clock.
    ///   - loginAddress: The page of the second screen; `nil` when the server did not say.
    public init(code: String, provider: Provider.ID, expires: Date, lifetime: Duration, loginAddress: URL? = nil) {
        self.init(code: code, provider: provider, expires: expires, lifetime: lifetime, loginAddress: loginAddress, loginPage: nil)
    }

    init(code: String, provider: Provider.ID, expires: Date, lifetime: Duration, loginAddress: URL? = nil, loginPage: URL?) {
        self.code = code
        self.provider = provider
        self.expires = expires
        self.lifetime = lifetime
        self.loginAddress = loginAddress
        self.loginPage = loginPage
    }

    /// The address with the code in it, as a QR code shows it: `<login address>?code=<code>`, or the login itself where the server names it.
    public var addressWithCode: URL? {
        guard let loginAddress else { return loginPage }
        guard var parts = URLComponents(url: loginAddress, resolvingAgainstBaseURL: false) else { return nil }
        parts.queryItems = (parts.queryItems ?? []).filter { $0.name != "code" } + [URLQueryItem(name: "code", value: code)]
        return parts.url
    }
}
