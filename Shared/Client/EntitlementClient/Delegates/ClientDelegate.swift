internal import Octets

/// Receives results, under the names that apps were written with (client-sdk §1.3). Calls come one at a time and in order, on the main actor.
@MainActor
package protocol ClientDelegate: AnyObject {
    /// The requestor is set, or could not be set.
    /// - Parameter status: ``ACCESS_ENABLER_STATUS_SUCCESS`` or ``ACCESS_ENABLER_STATUS_ERROR``.
    func setRequestorComplete(_ status: Int32)
    /// The end of `checkAuthentication`, `getAuthentication` and `logout`.
    /// - Parameters:
    ///   - status: ``ACCESS_ENABLER_STATUS_SUCCESS`` when the device is signed in.
    ///   - code: Empty when the device is signed in.
    func setAuthenticationStatus(_ status: Int32, errorCode code: String)
    /// The media token for one play.
    func setToken(_ token: String, forResource resource: String)
    /// There is no media token.
    /// - Parameters:
    ///   - resource: As it was asked for.
    ///   - code: For example ``USER_NOT_AUTHORIZED_ERROR``.
    ///   - description: For the person, in the provider's words; may be empty.
    func tokenRequestFailed(_ resource: String, errorCode code: String, errorDescription description: String)
    /// Those of the resources asked for that the subscription covers.
    func preauthorizedResources(_ resources: [String])
    /// The provider of the session.
    func selectedProvider(_ mvpd: ListedProvider?)
    /// Let the person choose; answer with `setSelectedProvider`.
    func displayProviderDialog(_ mvpds: [ListedProvider])
    /// Open a login or logout page in a web view. When it leads to the return address, close it and call `handleExternalURL`.
    func navigateToUrl(_ url: String)
    /// As ``navigateToUrl(_:)``, in Safari's view controller.
    func navigateToUrl(_ url: String, useSVC: Bool)
    /// Figures for analytics, in the order of client-sdk §1.5.
    func sendTrackingData(_ data: [String], forEventType event: Int32)
    /// The answer to `getMetadata`.
    /// - Parameters:
    ///   - metadata: `nil` when there is no value.
    ///   - encrypted: Only the programmer's servers can read the value.
    ///   - key: The key that was asked for, for example ``METADATA_USER_META``.
    ///   - arguments: The dictionary that it was called with.
    func setMetadataStatus(_ metadata: JSONValue?, encrypted: Bool, forKey key: Int32, andArguments arguments: [String: JSONValue])
    /// Show the platform's picker, a `UIViewController` on Apple platforms.
    func presentTvProviderDialog(_ viewController: AnyObject?)
    /// Take the platform's picker off the screen.
    func dismissTvProviderDialog(_ viewController: AnyObject?)
}

/// Receives advanced codes.
@MainActor
package protocol ClientStatusDelegate: AnyObject {
    /// - Parameter status: `errorId` and `level`; `message`, `details`, `resource` and `code` when there are any.
    func status(_ status: [String: String])
}

/// Receives the result of ``DelegateClient/preauthorize(_:callback:)``: exactly one of the two calls.
@MainActor
package protocol ClientPreauthorizeCallback: AnyObject, Sendable {
    /// The servers answered; when they refused, the list is empty and the status says why.
    func onResponse(_ decisions: [Decision], status: PreauthorizationStatus?)
    /// The request did not reach the servers.
    func onFailure(_ status: PreauthorizationStatus)
}

/// A provider, with the names of the original.
package struct ListedProvider: Sendable, Hashable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    package let ID: String
    package let displayName: String
    package let logoURL: String?
    package let enablePlatformServices: Bool
    /// `PICKER` or `SUPPORTED`.
    package let boardingStatus: String?

    package init(_ provider: Provider) {
        ID = provider.id.rawValue
        displayName = provider.displayName
        logoURL = provider.logoURL?.absoluteString
        enablePlatformServices = provider.enablePlatformServices
        boardingStatus = provider.boardingStatus?.rawValue
    }
}

/// The resources that ``DelegateClient/preauthorize(_:callback:)`` asks about.
package struct ClientPreauthorizeRequest: Sendable, Hashable {
    package var resources: [String]
    package var disabledFeatures: Set<PreauthorizationFeature>

    package init(resources: [String], disabledFeatures: Set<PreauthorizationFeature> = []) {
        (self.resources, self.disabledFeatures) = (resources, disabledFeatures)
    }
}
