internal import Octets
internal import EntitlementClient
internal import Foundation

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
