import AccessEnabler
import Foundation

/// The authentication of a player's plug-in, 2020: a provider behind the plug-in's own interface, which calls from its own queue.
final class PrimetimeAuthProvider: NSObject {
    private let queue = DispatchQueue(label: "plugin")
    private let accessEnabler: AccessEnabler
    private var completion: ((String?, String) -> Void)?
    private var zip: ((String) -> Void)?
    private var chosen = ""
    private var page: ((String) -> Void)?
    private var status: ((Int32, String) -> Void)?

    override init() {
        accessEnabler = AccessEnabler()
        super.init()
        accessEnabler.delegate = self
    }

    /// tvOS 2.x: the calls of the second screen are signed.
    func configure(_ configuration: [String: Any]) {
        queue.async { [self] in
            accessEnabler.setRequestor(
                configuration["requestorID"] as? String, serviceProviders: configuration["serviceProviders"] as? [Any],
                secret: configuration["secret"] as? String, publicKey: configuration["publicKey"] as? String)
        }
    }

    func play(_ resource: String?, completion: @escaping (String?, String) -> Void) {
        queue.async { [self] in
            self.completion = completion
            accessEnabler.checkAuthorization(resource)
        }
    }

    /// Signs a person in; a provider is chosen without a dialog.
    func signIn(at provider: String, page: @escaping (String) -> Void, completion: @escaping (Int32, String) -> Void) {
        queue.async { [self] in
            (chosen, self.page, status) = (provider, page, completion)
            accessEnabler.getAuthentication()
        }
    }

    func comeBack(to url: String?) { queue.async { [self] in accessEnabler.handleExternalURL(url) } }

    func cancel() { queue.async { [self] in accessEnabler.setSelectedProvider(nil) } }
    var configured: ((Int32) -> Void)?
}

extension PrimetimeAuthProvider: EntitlementDelegate {
    func setRequestorComplete(_ status: Int32) { configured?(status) }
    func setAuthenticationStatus(_ status: Int32, errorCode code: String!) { self.status?(status, code) }
    func displayProviderDialog(_ mvpds: [Any]!) {
        guard let list = mvpds as? [MVPD], list.contains(where: { $0.id == chosen }) else { return }
        accessEnabler.setSelectedProvider(chosen)
    }
    func navigate(toUrl url: String!) { page?(url) }
    func navigate(toUrl url: String!, useSVC: Bool) {}
    func setToken(_ token: String!, forResource resource: String!) { completion?(token, "") }
    func tokenRequestFailed(_ resource: String!, errorCode code: String!, errorDescription description: String!) { completion?(nil, code) }
    func preauthorizedResources(_ resources: [Any]!) {}
    func selectedProvider(_ mvpd: MVPD!) {}
    func setMetadataStatus(_ metadata: Any!, encrypted: Bool, forKey key: Int32, andArguments arguments: [AnyHashable: Any]!) {
        let dictionary = arguments as? NSDictionary
        if dictionary?["user_metadata_name"] as? String == "zip" { zip?((metadata as? NSArray)?.firstObject as? String ?? "") }
    }
    func sendTrackingData(_ data: [Any]!, forEventType event: Int32) {}
    func presentTvProviderDialog(_ viewController: UIViewController!) {}
    func dismissTvProviderDialog(_ viewController: UIViewController!) {}
}
