/// Operations of the v1 API, as far as the same fault has another status at each (rest-v1 §2.8).
enum Endpoint: Hashable, Sendable {
    case config
    case registrationCode
    case authenticate
    case checkAuthn
    case checkAuthnByCode
    case authnToken
    case authnTokenByCode
    case authorize
    case authzToken
    case mediaToken
    case preauthorize
    case logout
    case freePreview
    case tempPassReset
    case userMetadata
    case metadata
    case platform
}
