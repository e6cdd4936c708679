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
