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
