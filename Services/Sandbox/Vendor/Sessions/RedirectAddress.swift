internal import FoundationEssentials

/// Where a login may lead back (rest-v2 D10).
enum RedirectAddress {
    private static let appSchemes = ["adobepass", "adbe"]

    /// - Returns: nil unless the address is absolute, and its host one of the service provider's domains or below one.
    static func checked(_ text: String, for serviceProvider: UpstreamCatalogue.ServiceProvider) -> String? {
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let url = URL(string: text),
            let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty
        else { return nil }
        if appSchemes.contains(where: { scheme == $0 || scheme.hasPrefix("\($0).") }) { return text }
        guard scheme == "https" || scheme == "http", url.user() == nil else { return nil }
        return lies(host, in: serviceProvider.domains + serviceProvider.redirectHosts) ? text : nil
    }

    /// Whether a host is one of the domains or below one.
    static func lies(_ host: String, in domains: [String]) -> Bool { domains.contains { host == $0 || host.hasSuffix(".\($0)") } }

    /// The host of a `domainName`, which may be a whole address (clients §4.1).
    /// - Returns: nil when it is blank or longer than a host can be.
    static func domain(_ text: String?) -> String? {
        guard let text else { return nil }
        let address = text.split(separator: "://", maxSplits: 1).last ?? ""
        let host = address.prefix { $0 != "/" && $0 != ":" }.filter { $0 != " " }
        return (1...253).contains(host.utf8.count) ? String(host) : nil
    }
}
