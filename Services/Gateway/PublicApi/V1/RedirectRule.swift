internal import Catalogue
internal import Contracts
internal import GatewayEdge

/// Addresses to which a browser may be sent: web addresses at or under a registered domain, the URL schemes of channels and
/// programmers, and `adobepass://` addresses of an application (rest-v1 §3.1, §3.7).
struct RedirectRule {
    private static let applicationScheme = "adobepass://"

    private let domains: [Domain]
    private let schemes: [String]
    private let application: Application?

    /// - Parameter application: The caller's; `nil` where it is not known: no application's address is accepted then.
    init(requestors: [Requestor], application: Application? = nil, _ catalogue: Catalogue) {
        self.application = application
        domains = requestors.flatMap(\.domains)
        schemes = requestors.flatMap(catalogue.customSchemes)
    }

    func accepts(_ url: String) -> Bool {
        // A header can carry nothing else, and browsers read a backslash as a slash.
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
        if let origin = WebOrigin(url) { return domains.cover(scheme: origin.scheme, host: origin.host) }
        if Self.isApplicationAddress(url) { return application.map { Self.isAddress(url, of: $0) } ?? false }
        return schemes.contains { url.lowercased().hasPrefix($0.lowercased() + "://") }
    }

    /// True for a web address that would be accepted by HTTPS.
    static func isPlainOfRegistered(_ url: String, _ requestors: [Requestor]) -> Bool {
        guard let origin = WebOrigin(url), origin.scheme == "http" else { return false }
        return requestors.flatMap(\.domains).cover(scheme: "https", host: origin.host)
    }

    /// True for an address that only the application's own record can allow.
    static func isApplicationAddress(_ url: String) -> Bool { url.lowercased().hasPrefix(applicationScheme) }

    /// One of the SDKs' constants for the application's platforms, or one of its domains backwards.
    private static func isAddress(_ url: String, of application: Application) -> Bool {
        let host = url.dropFirst(applicationScheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        switch host {
        case "ios.app": return application.platforms.contains(.ios)
        case "android.app": return application.platforms.contains(.fireTv) || application.platforms.contains(.android)
        default: return application.redirectDomains.contains { $0.lowercased().split(separator: ".").reversed().joined(separator: ".") == host }
        }
    }
}
