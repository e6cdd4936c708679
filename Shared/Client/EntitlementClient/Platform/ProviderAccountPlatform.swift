public import Foundation
internal import Octets

/// The platform's single sign-on: what `VSAccountManager` does on Apple platforms.
public protocol ProviderAccountPlatform: Sendable {
    /// True when the app may ask for the provider of the device.
    /// - Parameter prompting: True when the person may be asked for the permission.
    /// - Throws: The framework's error.
    func accessStatus(prompting: Bool) async throws -> AccountAccess

    /// Asks for the provider of the device, and with a verification token for its signed answer. Cancelling the task cancels the request.
    /// - Parameters:
    ///   - request: The request.
    ///   - handler: Called while the person is asked; only with ``AccountMetadataRequest/isInterruptionAllowed``.
    /// - Throws: `PlatformError`, or what the framework reports.
    func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata
}

/// `VSAccountAccessStatus`.
public enum AccountAccess: Int, Sendable, Hashable, CaseIterable {
    case notDetermined = 0
    case restricted = 1
    case denied = 2
    case granted = 3
}

/// `VSAccountMetadataRequest`, as far as the library uses it. The account's provider and the expiry of its login are always asked for.
public struct AccountMetadataRequest: Sendable, Hashable {
    /// The SAML issuer for which the provider answers.
    public var channelIdentifier: String
    /// The providers of the picker, by the platform's names, in order.
    public var supportedProviders: [String]
    /// Those that the picker shows first.
    public var featuredProviders: [String]
    /// From the server's profile request; `nil`: the provider is not asked.
    public var verificationToken: String?
    /// The attributes of the person to request from the provider.
    public var attributeNames: [String]
    /// True when the person may be asked.
    public var isInterruptionAllowed: Bool

    /// A request that shows no dialog unless `isInterruptionAllowed`, and has the provider asked only with a `verificationToken`.
    public init(
        channelIdentifier: String, supportedProviders: [String] = [], featuredProviders: [String] = [], verificationToken: String? = nil,
        attributeNames: [String] = [], isInterruptionAllowed: Bool = false
    ) {
        self.channelIdentifier = channelIdentifier
        self.supportedProviders = supportedProviders
        self.featuredProviders = featuredProviders
        self.verificationToken = verificationToken
        self.attributeNames = attributeNames
        self.isInterruptionAllowed = isInterruptionAllowed
    }
}

/// `VSAccountMetadata`.
public struct AccountMetadata: Sendable, Hashable {
    /// The platform's name of the provider at which the device is signed in.
    public var providerIdentifier: String?
    /// That login ends at this time.
    public var expires: Date?
    /// The provider's signed answer, as text.
    public var attributeQueryResponse: String?

    /// - Parameters:
    ///   - providerIdentifier: The platform's name of the provider; `nil`: the device is not signed in.
    ///   - expires: When that login ends.
    ///   - attributeQueryResponse: The provider's signed answer; `nil` when none was asked for.
    public init(providerIdentifier: String? = nil, expires: Date? = nil, attributeQueryResponse: String? = nil) {
        self.providerIdentifier = providerIdentifier
        self.expires = expires
        self.attributeQueryResponse = attributeQueryResponse
    }
}

/// A `VSError`, or another error of the framework.
public struct PlatformError: Error, Sendable, Hashable {
    /// `VSError.Code`.
    public enum Code: Int, Sendable, Hashable, CaseIterable {
        case accessNotGranted = 0
        case unsupportedProvider = 1
        case userCancelled = 2
        case serviceTemporarilyUnavailable = 3
        case providerRejected = 4
        case invalidVerificationToken = 5
        case rejected = 6
        case unsupported = 7
    }

    /// `nil`: an error of another kind.
    public let code: Code?
    /// With ``Code/unsupportedProvider``: the provider that the person chose.
    public let unsupportedProvider: String?
    /// The framework's own words.
    public let message: String

    /// - Parameters:
    ///   - code: `nil`: an error of the framework that is no `VSError`.
    ///   - unsupportedProvider: The provider that the person chose, with ``Code/unsupportedProvider`` only.
    ///   - message: The framework's own words, for developers.
    public init(_ code: Code?, unsupportedProvider: String? = nil, message: String = "") {
        self.code = code
        self.unsupportedProvider = unsupportedProvider
        self.message = message
    }
}

/// Follows the dialogs of the platform.
public protocol PlatformDialogHandler: Sendable {
    /// The platform's picker is opening.
    func present(_ picker: ProviderPicker) async
    /// The platform's picker is closing.
    func dismiss(_ picker: ProviderPicker) async
    /// True when the platform may sign the person in at the chosen provider; never asked for "Other TV Provider".
    func shouldAuthenticate(_ providerIdentifier: String) -> Bool
}

/// The platform's picker.
public final class ProviderPicker: Sendable, Hashable, Identifiable {
    /// Makes what the app shows: the `UIViewController` on Apple platforms, `nil` elsewhere. Call it on the main actor.
    public let content: @MainActor @Sendable () -> AnyObject?

    /// - Parameter content: Makes the view controller to present; called on the main actor.
    public init(content: @escaping @MainActor @Sendable () -> AnyObject? = { nil }) { self.content = content }

    public static func == (left: ProviderPicker, right: ProviderPicker) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

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
