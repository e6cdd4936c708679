internal import Octets

/// The platform's Automatic Sign-In: what `VSUserAccountManager` does on Apple platforms (apple §1.1).
public protocol AutoSignInPlatform: Sendable {
    /// States whether stored values belong to Apple's sandbox: `sandbox` for development builds, else `production`.
    var environment: AutoSignInEnvironment { get }
    /// False: values can be read but not offered (macOS, visionOS).
    var hasPrompt: Bool { get }
    /// Reads the value of the Apple Account.
    /// - Throws: The framework's error; the library then goes on as if there were no value.
    func token() async throws -> AutoSignInToken
    /// Shows the opt-in sheet.
    /// - Returns: The person's answer, to be handed to ``update(_:context:)``.
    /// - Throws: The framework's error; `PlatformError.Code.unsupported` where there is no prompt.
    func requestAuthorization() async throws -> AutoSignInContext
    /// Stores a value on the Apple Account.
    /// - Parameters:
    ///   - value: The value that the server issued.
    ///   - context: The answer to the opt-in sheet; it can be used once.
    /// - Throws: The framework's error.
    func update(_ value: String, context: AutoSignInContext) async throws
    /// Clears the value on all devices of the Apple Account.
    /// - Throws: The framework's error.
    func delete() async throws
}

/// Apple's store that holds the values.
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

/// The value that an app reads from the Apple Account.
public struct AutoSignInToken: Sendable, Hashable, CustomStringConvertible {
    public let value: String?
    public let authorization: AutoSignInAuthorization

    /// - Parameters:
    ///   - value: `nil`: the account has none.
    ///   - authorization: The person's decision for this app.
    public init(value: String?, authorization: AutoSignInAuthorization) { (self.value, self.authorization) = (value, authorization) }

    /// Does not contain the value.
    public var description: String { "automatic sign-in: \(authorization)\(value == nil ? "" : ", with a value")" }
}

/// The answer to the opt-in sheet; apps cannot make one, only platforms can.
public struct AutoSignInContext: Sendable {
    public let authorization: AutoSignInAuthorization
    /// The context that the platform needs to take the value.
    public let platformContext: any Sendable

    /// - Parameters:
    ///   - authorization: The person's answer.
    ///   - platformContext: The context that the platform needs again when it stores the value.
    public init(authorization: AutoSignInAuthorization, platformContext: any Sendable) {
        (self.authorization, self.platformContext) = (authorization, platformContext)
    }
}
