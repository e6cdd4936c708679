#if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || os(macOS) || APPLE_STUBS)
internal import Octets
internal import VideoSubscriberAccount

/// Automatic Sign-In by Apple's framework. The app needs the entitlement `com.apple.smoot.subscriptionservice`.
@available(iOS 26, tvOS 26, visionOS 26, macOS 26, *)
public struct AppleAutoSignIn: AutoSignInPlatform {
    public let environment: AutoSignInEnvironment

    /// - Parameter environment: `sandbox` for development and Ad Hoc builds (apple §1.3).
    public init(environment: AutoSignInEnvironment) { self.environment = environment }

    public func token() async throws -> AutoSignInToken {
        let token = try await VSUserAccountManager.shared.autoSignInToken
        return AutoSignInToken(value: token.value, authorization: AutoSignInAuthorization(framework: token.authorization))
    }

    public func delete() async throws { try await VSUserAccountManager.shared.deleteAutoSignInToken() }

    #if os(iOS) || os(tvOS) || APPLE_STUBS
    public let hasPrompt = true

    public func requestAuthorization() async throws -> AutoSignInContext {
        let context = try await VSUserAccountManager.shared.requestAutoSignInAuthorization()
        return AutoSignInContext(authorization: AutoSignInAuthorization(framework: context.authorization), platformContext: FrameworkContext(context))
    }

    public func update(_ value: String, context: AutoSignInContext) async throws {
        guard let context = context.platformContext as? FrameworkContext else {
            throw PlatformError(nil, message: "the context is another platform's")
        }
        try await VSUserAccountManager.shared.updateAutoSignInToken(value, updateContext: context.value)
    }

    private struct FrameworkContext: Sendable {
        // Made by one call of the framework and handed to one other, never changed.
        nonisolated(unsafe) let value: VSUserAccountManager.AutoSignInTokenUpdateContext

        init(_ value: VSUserAccountManager.AutoSignInTokenUpdateContext) { self.value = value }
    }
    #else
    public let hasPrompt = false

    public func requestAuthorization() async throws -> AutoSignInContext { throw PlatformError(.unsupported, message: "there is no prompt here") }
    public func update(_ value: String, context: AutoSignInContext) async throws {
        throw PlatformError(.unsupported, message: "values are not stored from here")
    }
    #endif
}

@available(iOS 26, tvOS 26, visionOS 26, macOS 26, *)
extension AutoSignInAuthorization {
    fileprivate init(framework value: VSUserAccountManager.AutoSignInAuthorization) {
        switch value {
        case .granted: self = .granted
        case .denied: self = .denied
        default: self = .notDetermined
        }
    }
}
#endif
