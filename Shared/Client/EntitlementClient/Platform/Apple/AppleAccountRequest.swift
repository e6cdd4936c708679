#if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || APPLE_STUBS)
internal import Octets
internal import Foundation
internal import VideoSubscriberAccount

/// One request at `VSAccountManager`, with a manager of its own: nothing is shared between requests.
@MainActor
final class AppleAccountRequest {
    private let manager = VSAccountManager()
    private let dialogs: AppleAccountDialogs
    private var running: VSAccountManagerResult?

    init(_ handler: any PlatformDialogHandler) {
        dialogs = AppleAccountDialogs(handler)
        manager.delegate = dialogs
    }

    static func accessStatus(prompting: Bool) async throws -> AccountAccess {
        let manager = VSAccountManager()
        let options: [VSCheckAccessOption: Any] = [.prompt: prompting]
        return try await withCheckedThrowingContinuation { continuation in
            manager.checkAccessStatus(options: options) { status, error in
                if let error { return continuation.resume(throwing: PlatformError(framework: error)) }
                continuation.resume(returning: AccountAccess(rawValue: status.rawValue) ?? .notDetermined)
            }
        }
    }

    func metadata(_ request: AccountMetadataRequest) async throws -> AccountMetadata {
        let message = VSAccountMetadataRequest()
        message.channelIdentifier = request.channelIdentifier
        message.supportedAccountProviderIdentifiers = request.supportedProviders
        message.featuredAccountProviderIdentifiers = request.featuredProviders
        message.verificationToken = request.verificationToken
        message.attributeNames = request.attributeNames
        message.isInterruptionAllowed = request.isInterruptionAllowed
        message.includeAccountProviderIdentifier = true
        message.includeAuthenticationExpirationDate = true
        let outcome = await withTaskCancellationHandler {
            await enqueue(message)
        } onCancel: {
            Task { @MainActor in self.running?.cancel() }
        }
        await dialogs.finished()
        return try outcome.get()
    }

    private func enqueue(_ message: VSAccountMetadataRequest) async -> Result<AccountMetadata, PlatformError> {
        await withCheckedContinuation { continuation in
            running = manager.enqueue(message) { metadata, error in
                if let error { return continuation.resume(returning: .failure(PlatformError(framework: error))) }
                continuation.resume(
                    returning: .success(
                        AccountMetadata(
                            providerIdentifier: metadata?.accountProviderIdentifier, expires: metadata?.authenticationExpirationDate,
                            attributeQueryResponse: metadata?.samlAttributeQueryResponse)))
            }
        }
    }
}

extension PlatformError {
    /// An error of Apple's framework.
    init(framework error: any Error) {
        let facts = error as NSError
        let isOfFramework = facts.domain == VSErrorDomain
        self.init(
            isOfFramework ? Code(rawValue: facts.code) : nil,
            unsupportedProvider: facts.userInfo[VSErrorInfoKeyUnsupportedProviderIdentifier] as? String, message: facts.localizedDescription)
    }
}
#endif

#if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || APPLE_STUBS)
internal import Octets
internal import Foundation
internal import Synchronization
internal import VideoSubscriberAccount
#if canImport(UIKit)
internal import UIKit
#endif

/// Passes the picker of Apple's framework on, opening before closing.
final class AppleAccountDialogs: NSObject, VSAccountManagerDelegate, Sendable {
    private struct State {
        var pickers: [ObjectIdentifier: ProviderPicker] = [:]
        var last: Task<Void, Never>?
    }

    private let handler: any PlatformDialogHandler
    private let state = Mutex(State())

    init(_ handler: any PlatformDialogHandler) { self.handler = handler }

    /// Waits until the app has received every call.
    func finished() async { await state.withLock { $0.last }?.value }

    func accountManager(_ accountManager: VSAccountManager, present viewController: UIViewController) {
        pass(viewController) { handler, picker in await handler.present(picker) }
    }

    func accountManager(_ accountManager: VSAccountManager, dismiss viewController: UIViewController) {
        pass(viewController) { handler, picker in await handler.dismiss(picker) }
    }

    func accountManager(_ accountManager: VSAccountManager, shouldAuthenticateAccountProviderWithIdentifier identifier: String) -> Bool {
        handler.shouldAuthenticate(identifier)
    }

    private func pass(
        _ viewController: UIViewController, _ action: @escaping @Sendable (any PlatformDialogHandler, ProviderPicker) async -> Void
    ) {
        state.withLock { state in
            let picker = state.pickers[ObjectIdentifier(viewController)] ?? ProviderPicker { viewController }
            state.pickers[ObjectIdentifier(viewController)] = picker
            let (previous, handler) = (state.last, handler)
            state.last = Task {
                await previous?.value
                await action(handler, picker)
            }
        }
    }
}
#endif

#if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || APPLE_STUBS)
internal import Octets
internal import Foundation
internal import VideoSubscriberAccount

/// The platform's single sign-on by Apple's framework. The app needs the entitlement `com.apple.developer.video-subscriber-single-sign-on`.
public struct AppleProviderAccounts: ProviderAccountPlatform {
    /// Asks nothing yet.
    public init() {}

    public func accessStatus(prompting: Bool) async throws -> AccountAccess {
        try await AppleAccountRequest.accessStatus(prompting: prompting)
    }

    public func metadata(_ request: AccountMetadataRequest, handler: any PlatformDialogHandler) async throws -> AccountMetadata {
        let running = await AppleAccountRequest(handler)
        return try await running.metadata(request)
    }
}
#endif

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
