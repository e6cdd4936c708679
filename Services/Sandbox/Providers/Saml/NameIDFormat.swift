/// The kinds of name identifier that the stand-in issues (SAML core §8.3).
enum NameIDFormat: String, Sendable {
    case persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    case transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

    /// - Parameter requested: The `Format` of a `NameIDPolicy`; nil or unspecified leaves the choice to the provider.
    /// - Returns: nil when the format is not offered.
    init?(requested: String?) {
        switch requested {
        case nil, "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified": self = .persistent
        case let format?: self.init(rawValue: format)
        }
    }
}
