import AccessEnabler
import Foundation

/// The sign-in of a sports network's app, 2017: one shared object, with closures for operations under way.
class AccessEnablerManager: NSObject, EntitlementDelegate, EntitlementStatus {
    static let shared = AccessEnablerManager()

    var accessEnabler: AccessEnabler!
    var providers: [MVPD] = []
    var currentProvider: MVPD?
    var statuses: [String] = []
    var tracked = 0

    var onRequestor: ((Bool) -> Void)?
    var onStatus: ((Bool, String) -> Void)?
    var onProviders: (([MVPD]) -> Void)?
    var onPage: ((String) -> Void)?
    var onPreauthorized: (([String]) -> Void)?
    var onToken: ((String, String) -> Void)?
    var onRefusal: ((String, String) -> Void)?
    var onMetadata: ((Any?, [AnyHashable: Any]) -> Void)?
    var onSelected: ((MVPD?) -> Void)?

    func start(statement: String, requestor: String, serviceProviders: [Any]) {
        accessEnabler = AccessEnabler(statement)
        accessEnabler.delegate = self
        accessEnabler.statusDelegate = self
        accessEnabler.setOptions(["applicationProfile": "sports", "visitorID": "visitor-1"])
        accessEnabler.setRequestor(requestor, serviceProviders: serviceProviders)
    }

    /// The one Swift statement of the vendor's cookbook.
    func askTokenSource() {
        accessEnabler.getMetadata([METADATA_OPCODE_KEY: Int(METADATA_USER_META), METADATA_USER_META_KEY: "tokenSource"])
    }

    func ask(_ key: String) {
        let arguments: [AnyHashable: Any] = [METADATA_OPCODE_KEY: NSNumber(value: METADATA_USER_META), METADATA_USER_META_KEY: key as NSString]
        accessEnabler.getMetadata(arguments)
    }

    // MARK: - EntitlementDelegate

    func setRequestorComplete(_ status: Int32) { onRequestor?(status == ACCESS_ENABLER_STATUS_SUCCESS) }

    func setAuthenticationStatus(_ status: Int32, errorCode code: String!) {
        assert(Thread.isMainThread)
        onStatus?(status == 1, code)
    }

    func displayProviderDialog(_ mvpds: [Any]!) {
        guard let list = mvpds as? [MVPD] else { return }
        providers = list
        onProviders?(list)
    }

    func navigate(toUrl url: String!) { onPage?(url) }

    func setToken(_ token: String!, forResource resource: String!) { onToken?(token, resource) }

    func tokenRequestFailed(_ resource: String!, errorCode code: String!, errorDescription description: String!) {
        onRefusal?(code, description ?? "")
    }

    func preauthorizedResources(_ resources: [Any]!) { onPreauthorized?(resources as? [String] ?? []) }

    func selectedProvider(_ mvpd: MVPD!) {
        currentProvider = mvpd
        onSelected?(mvpd)
    }

    func setMetadataStatus(_ metadata: Any!, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]!) {
        guard let dictionary = arguments as? [String: Any], dictionary[METADATA_USER_META_KEY] != nil else { return }
        onMetadata?(metadata, arguments)
    }

    func sendTrackingData(_ data: [Any]!, forEventType event: Int32) { tracked += 1 }
    func presentTvProviderDialog(_ viewController: UIViewController!) {}
    func dismissTvProviderDialog(_ viewController: UIViewController!) {}

    // MARK: - EntitlementStatus

    func status(_ status: [AnyHashable: Any]!) { statuses.append(status["errorId"] as? String ?? "") }
}
