internal import Catalogue
internal import Contracts

/// Addresses to which a browser may be sent: web addresses at or under a registered domain, and the URL schemes of channels
/// and programmers (rest-v1 §3.7).
struct RedirectRule {
    private let domains: [String]
    private let schemes: [String]

    init(requestors: [Requestor], _ catalogue: Catalogue) {
        domains = requestors.flatMap { $0.domains.map(\.name) }
        schemes = requestors.flatMap(catalogue.customSchemes)
    }

    func accepts(_ url: String) -> Bool {
        // A header can carry nothing else, and browsers read a backslash as a slash.
        guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") }) else { return false }
        if let origin = WebOrigin(url) { return origin.isUnder(domains) }
        return schemes.contains { url.lowercased().hasPrefix($0.lowercased() + "://") }
    }
}
