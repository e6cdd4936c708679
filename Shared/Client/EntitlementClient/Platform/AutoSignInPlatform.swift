/// The platform's Automatic Sign-In: what `VSUserAccountManager` does on Apple platforms (apple §1.1).
public protocol AutoSignInPlatform: Sendable {
    /// Whether stored values belong to Apple's sandbox: `sandbox` for development builds, else `production`.
    var environment: AutoSignInEnvironment { get }
    /// False: values can be read but not offered (macOS, visionOS).
    var hasPrompt: Bool { get }
    /// What is on the Apple Account. A read that throws counts as nothing.
    func token() async throws -> AutoSignInToken
    /// Shows the opt-in sheet.
    func requestAuthorization() async throws -> AutoSignInContext
    /// Stores a value on the Apple Account; the context is spent by it.
    func update(_ value: String, context: AutoSignInContext) async throws
    /// Clears the value on all devices of the Apple Account.
    func delete() async throws
}

/// In which of Apple's stores values are.
public enum AutoSignInEnvironment: String, Sendable, Hashable, CaseIterable {
    case production
    case sandbox
}

/// Raw values as in Apple's framework.
public enum AutoSignInAuthorization: Int, Sendable, Hashable, CaseIterable {
    case notDetermined = 0
    case granted = 1
    case denied = 2

    /// As the servers write it.
    var name: String {
        switch self {
        case .notDetermined: "notDetermined"
        case .granted: "granted"
        case .denied: "denied"
        }
    }
}

/// What an app reads from the Apple Account.
public struct AutoSignInToken: Sendable, Hashable, CustomStringConvertible {
    public let value: String?
    public let authorization: AutoSignInAuthorization

    public init(value: String?, authorization: AutoSignInAuthorization) { (self.value, self.authorization) = (value, authorization) }

    /// Says nothing of the value.
    public var description: String { "automatic sign-in: \(authorization)\(value == nil ? "" : ", with a value")" }
}

/// The answer to the opt-in sheet; apps cannot make one, only platforms can.
public struct AutoSignInContext: Sendable {
    public let authorization: AutoSignInAuthorization
    /// What the platform needs to take the value.
    public let platformContext: any Sendable

    public init(authorization: AutoSignInAuthorization, platformContext: any Sendable) {
        (self.authorization, self.platformContext) = (authorization, platformContext)
    }
}
