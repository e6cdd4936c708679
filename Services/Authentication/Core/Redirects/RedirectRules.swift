internal import Catalogue
internal import Contracts

/// Which addresses an app may have people sent to (rest-v1 §3.1, §3.7).
enum RedirectRules {
    /// May a client of this application register this `redirect_uri` (rest-v1 §3.1)?
    /// Plain HTTP only where a requestor's domain is one for development.
    /// - Parameters:
    ///   - requestors: Those that the application acts for.
    ///   - customSchemes: Theirs, and their programmers'.
    static func accepts(registered text: String, application: Application, requestors: [Requestor], customSchemes: [String]) -> Bool {
        guard let address = RedirectAddress(text) else { return false }
        if address.isWeb {
            guard application.redirectDomains.contains(where: address.lies(under:)) else { return false }
            return address.scheme == "https" || requestors.flatMap(\.domains).cover(scheme: address.scheme, host: address.host)
        }
        return isApplicationAddress(address, application) || isCustomScheme(address, customSchemes)
    }

    /// `adobepass://` and a domain of the application backwards, or one of the SDKs' constants for its platforms.
    static func isApplicationAddress(_ address: RedirectAddress, _ application: Application) -> Bool {
        guard address.scheme == "adobepass" else { return false }
        switch address.authority {
        case "ios.app": return application.platforms.contains(.ios)
        case "android.app": return application.platforms.contains(.fireTv) || application.platforms.contains(.android)
        default: return application.redirectDomains.contains { reversed($0) == address.authority }
        }
    }

    static func isCustomScheme(_ address: RedirectAddress, _ schemes: [String]) -> Bool {
        address.scheme.hasPrefix("adbe.") && schemes.contains { $0.lowercased() == address.scheme }
    }

    /// `chan7.example` becomes `example.chan7`.
    private static func reversed(_ domain: String) -> String {
        domain.lowercased().split(separator: ".").reversed().joined(separator: ".")
    }
}
