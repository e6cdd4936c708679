internal import EntitlementClient
public import Foundation
internal import Octets

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#else
/// Replaces UIKit's class on platforms without UIKit.
open class UIViewController: NSObject {}
#endif

/// Receives results, on the main thread, one at a time and in order.
public protocol EntitlementDelegate: AnyObject {
    /// - Parameter status: ``ACCESS_ENABLER_STATUS_SUCCESS`` or ``ACCESS_ENABLER_STATUS_ERROR``.
    func setRequestorComplete(_ status: Int32)
    /// - Parameter code: Empty when the device is signed in.
    func setAuthenticationStatus(_ status: Int32, errorCode code: String!)
    /// - Parameter mvpds: The list of ``MVPD``. Answer with `setSelectedProvider`.
    func displayProviderDialog(_ mvpds: [Any]!)
    /// Open a login or logout page. When it leads to the return address, close it and call `handleExternalURL`.
    func navigate(toUrl url: String!)
    /// The same in Safari's view controller; an app that does not implement it gets ``navigate(toUrl:)``.
    func navigate(toUrl url: String!, useSVC: Bool)
    /// The media token for one play.
    func setToken(_ token: String!, forResource resource: String!)
    /// There is no media token for the resource.
    /// - Parameters:
    ///   - resource: As the app asked for it.
    ///   - code: One of client-sdk §1.1, for example `USER_NOT_AUTHORIZED_ERROR`.
    ///   - description: For the person, in the provider's words; may be empty.
    func tokenRequestFailed(_ resource: String!, errorCode code: String!, errorDescription description: String!)
    /// - Parameter resources: Ids of those that the subscription covers.
    func preauthorizedResources(_ resources: [Any]!)
    /// - Parameter mvpd: `nil`: the device is not signed in.
    func selectedProvider(_ mvpd: MVPD!)
    /// - Parameters:
    ///   - metadata: A text, an `NSArray` or an `NSDictionary`; `nil` when there is no value.
    ///   - encrypted: Only the programmer's servers can read the value.
    ///   - key: The key that was asked for.
    ///   - arguments: As they were given.
    func setMetadataStatus(_ metadata: Any!, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]!)
    /// Figures for analytics.
    func sendTrackingData(_ data: [Any]!, forEventType event: Int32)
    /// Show the platform's picker.
    func presentTvProviderDialog(_ viewController: UIViewController!)
    /// Take the platform's picker off the screen.
    func dismissTvProviderDialog(_ viewController: UIViewController!)
}

/// Methods that are optional in the original.
extension EntitlementDelegate {
    /// Calls ``navigate(toUrl:)``.
    public func navigate(toUrl url: String!, useSVC: Bool) { navigate(toUrl: url) }
}

/// Receives advanced codes, on the main thread.
public protocol EntitlementStatus: AnyObject {
    /// - Parameter status: `errorId` and `level`; `message`, `details`, `resource` and `code` when there are any.
    func status(_ status: [AnyHashable: Any]!)
}

/// A provider.
public class MVPD: NSObject {
    public let id: String!
    public let displayName: String!
    public let logoURL: String!
    /// `PICKER` or `SUPPORTED`; `nil`: neither.
    public let boardingStatus: String!
    public let enablePlatformServices: Bool

    init(id: String, displayName: String, logoURL: String?, boardingStatus: String?, enablePlatformServices: Bool) {
        self.id = id
        self.displayName = displayName
        self.logoURL = logoURL
        self.boardingStatus = boardingStatus
        self.enablePlatformServices = enablePlatformServices
    }
}

/// The resources that ``AccessEnabler/preauthorize(_:callback:)`` asks about.
public class PreauthorizeRequest: NSObject {
    public let resources: [String]
    /// `LOCAL_CACHE`, `REMOTE_CACHE`.
    public let disabledFeatures: [String]

    /// - Parameters:
    ///   - resources: Ids of the resources to ask about.
    ///   - disabledFeatures: Caches not to use: `LOCAL_CACHE`, `REMOTE_CACHE`.
    public init(resources: [String], disabledFeatures: [String] = []) { (self.resources, self.disabledFeatures) = (resources, disabledFeatures) }
}

/// Receives the result: exactly one of the two calls, on the main thread.
public protocol AccessEnablerCallback: AnyObject {
    /// The servers answered.
    func onResponse(_ response: PreauthorizeResponse)
    /// The request did not reach the servers.
    func onFailure(_ response: PreauthorizeResponse)
}

/// The result of ``AccessEnabler/preauthorize(_:callback:)``.
public class PreauthorizeResponse: NSObject {
    public let decisions: [PreauthorizeDecision]
    /// There are none for this reason.
    public let status: PreauthorizeStatus?

    init(_ decisions: [PreauthorizeDecision], _ status: PreauthorizeStatus?) { (self.decisions, self.status) = (decisions, status) }
}

/// The decision for one resource.
public class PreauthorizeDecision: NSObject {
    public let resource: String
    public let authorized: Bool
    public let error: PreauthorizeStatus?

    init(_ resource: String, _ authorized: Bool, _ error: PreauthorizeStatus?) {
        (self.resource, self.authorized, self.error) = (resource, authorized, error)
    }
}

/// A preauthorization, or one of its decisions, failed for this reason.
public class PreauthorizeStatus: NSObject {
    /// HTTP status code; 0 when there was none.
    public let status: Int
    public let code: String
    public let action: String
    public let message: String?
    public let details: String?

    init(status: Int, code: String, action: String, message: String?, details: String?) {
        (self.status, self.code, self.action, self.message, self.details) = (status, code, action, message, details)
    }
}

/// Passes callbacks on with the types that apps were written for.
@MainActor
final class DelegateAdapter: ClientDelegate, ClientStatusDelegate {
    private let listeners: Listeners
    private let arguments: GivenArguments
    private var delegate: (any EntitlementDelegate)? { listeners.delegate }

    init(_ listeners: Listeners, _ arguments: GivenArguments) { (self.listeners, self.arguments) = (listeners, arguments) }

    func setRequestorComplete(_ status: Int32) { delegate?.setRequestorComplete(status) }
    func setAuthenticationStatus(_ status: Int32, errorCode code: String) { delegate?.setAuthenticationStatus(status, errorCode: code) }
    func setToken(_ token: String, forResource resource: String) { delegate?.setToken(token, forResource: resource) }
    func tokenRequestFailed(_ resource: String, errorCode code: String, errorDescription description: String) {
        delegate?.tokenRequestFailed(resource, errorCode: code, errorDescription: description)
    }
    func preauthorizedResources(_ resources: [String]) { delegate?.preauthorizedResources(resources) }
    func selectedProvider(_ mvpd: ListedProvider?) { delegate?.selectedProvider(mvpd.map(MVPD.init)) }
    func displayProviderDialog(_ mvpds: [ListedProvider]) { delegate?.displayProviderDialog(mvpds.map(MVPD.init)) }
    func navigateToUrl(_ url: String) { delegate?.navigate(toUrl: url) }
    func navigateToUrl(_ url: String, useSVC: Bool) { delegate?.navigate(toUrl: url, useSVC: useSVC) }
    func sendTrackingData(_ data: [String], forEventType event: Int32) { delegate?.sendTrackingData(data, forEventType: event) }

    func setMetadataStatus(_ metadata: JSONValue?, encrypted: Bool, forKey key: Int32, andArguments arguments: [String: JSONValue]) {
        var given: [AnyHashable: Any]?
        if case .integer(let call) = arguments[GivenArguments.mark] { given = self.arguments.take(call) }
        delegate?.setMetadataStatus(metadata.flatMap(GivenValue.plain), encrypted: encrypted, forKey: key, andArguments: given ?? [:])
    }

    func presentTvProviderDialog(_ viewController: AnyObject?) { delegate?.presentTvProviderDialog(viewController as? UIViewController) }
    func dismissTvProviderDialog(_ viewController: AnyObject?) { delegate?.dismissTvProviderDialog(viewController as? UIViewController) }
    func status(_ status: [String: String]) { listeners.statusDelegate?.status(status) }
}

/// The same for a preauthorization; its callback is the app's own object.
@MainActor
final class PreauthorizeAdapter: ClientPreauthorizeCallback {
    // Used on the main thread alone.
    private nonisolated(unsafe) let callback: any AccessEnablerCallback

    nonisolated init(_ callback: any AccessEnablerCallback) { self.callback = callback }

    func onResponse(_ decisions: [Decision], status: PreauthorizationStatus?) {
        callback.onResponse(
            PreauthorizeResponse(
                decisions.map { PreauthorizeDecision($0.resource.rawValue, $0.isAuthorized, $0.status.map(PreauthorizeStatus.init)) },
                status.map(PreauthorizeStatus.init)))
    }

    func onFailure(_ status: PreauthorizationStatus) { callback.onFailure(PreauthorizeResponse([], PreauthorizeStatus(status))) }
}

extension MVPD {
    convenience init(_ provider: ListedProvider) {
        self.init(
            id: provider.ID, displayName: provider.displayName, logoURL: provider.logoURL, boardingStatus: provider.boardingStatus,
            enablePlatformServices: provider.enablePlatformServices)
    }
}

extension PreauthorizeStatus {
    convenience init(_ status: PreauthorizationStatus) {
        self.init(status: status.status, code: status.code, action: status.action.rawValue, message: status.message, details: status.details)
    }
}
