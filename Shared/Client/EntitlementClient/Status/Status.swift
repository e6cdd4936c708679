internal import Octets

/// An advanced code with its details (client-sdk §1.3, `status`).
public struct Status: Sendable, Hashable {
    public let code: StatusCode
    public let level: StatusLevel
    /// For the person or the app's developer.
    public let message: String?
    /// The error behind it.
    public let details: String?
    public let resource: Resource.ID?
    /// With ``StatusCode/registrationCode``: the code.
    public let registrationCode: String?

    /// - Parameters:
    ///   - code: Also decides the level.
    ///   - message: For the person or the app's developer.
    ///   - details: The error behind it.
    ///   - resource: The resource that was asked for.
    ///   - registrationCode: With ``StatusCode/registrationCode``: the code.
    public init(
        _ code: StatusCode, message: String? = nil, details: String? = nil, resource: Resource.ID? = nil, registrationCode: String? = nil
    ) {
        self.code = code
        level = code.level
        self.message = message
        self.details = details
        self.resource = resource
        self.registrationCode = registrationCode
    }
}

/// The severity of an advanced code.
public enum StatusLevel: String, Sendable, Hashable, CaseIterable {
    case info
    case success
    case warning
    case error
}
