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
    case degradation
    case proxiedMvpds
    case userMetadata
    case metadata
    case platform
    /// The SDKs' own calls (clients §3): a device's id; the token of a code's session; what stands on a stored token beside a bearer, and without one.
    case sdkDevices
    case sdkSession
    case sdkDecision
    case sdkStored
}
