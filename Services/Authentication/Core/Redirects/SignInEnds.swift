package import Catalogue
package import Contracts
package import Faults

/// Where sign-ins and logouts may end (rest-v1 §3.7, rest-v2 D10, clients §4.13).
package struct SignInEnds: Sendable {
    /// Origins of the operator's own activation pages.
    package let activationOrigins: Set<String>

    /// - Parameter application: The one whose person comes back: of the registration code's maker, or of the caller; `nil` when it is gone.
    package func accepts(_ text: String, at requestor: Requestor, of application: Application?, in catalogue: Catalogue) -> Bool {
        guard let address = RedirectAddress(text) else { return false }
        if address.isWeb {
            return activationOrigins.contains(address.origin) || requestor.domains.cover(scheme: address.scheme, host: address.host)
                || application.map { Self.isListed(address, $0) } ?? false
        }
        return application.map { RedirectRules.isApplicationAddress(address, $0) } ?? false
            || RedirectRules.isCustomScheme(address, catalogue.customSchemes(of: requestor))
    }

    /// - Throws: `invalid_redirect_url`.
    package func require(_ text: String, at requestor: Requestor, of application: Application?, in catalogue: Catalogue) throws(Fault) {
        guard accepts(text, at: requestor, of: application, in: catalogue) else {
            throw Fault(.invalidRedirectURL, Self.problem(text, at: requestor, of: application))
        }
    }

    /// Why an address is not accepted, for whoever writes the app; nothing of it is repeated.
    private static func problem(_ text: String, at requestor: Requestor, of application: Application?) -> String {
        if text.isEmpty { return "The redirect URL is missing." }
        guard let address = RedirectAddress(text) else {
            return "The redirect URL is no absolute address that can be read in one way only: scheme://host/path, in ASCII, of at most "
                + "\(RedirectAddress.longest) characters."
        }
        guard address.isWeb else {
            return "The redirect URL has a scheme that is not registered for the requestor, its programmer or the application."
        }
        let isListed = application?.redirectHosts.contains(address.host) ?? false
        if address.scheme == "http", isListed || requestor.domains.cover(scheme: "https", host: address.host) {
            return
                "The redirect URL is by plain HTTP: at that domain only https is accepted (plain HTTP only where the domain is marked for development)."
        }
        return "The redirect URL is at no domain that is registered for the requestor, or for the application."
    }

    /// Exactly a host of the application's own: nothing below it, and never in clear.
    private static func isListed(_ address: RedirectAddress, _ application: Application) -> Bool {
        address.scheme == "https" && application.redirectHosts.contains(address.host)
    }
}
