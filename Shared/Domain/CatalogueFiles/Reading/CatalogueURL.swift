internal import Catalogue
internal import Foundation

/// Rules for addresses in a catalogue.
package enum CatalogueURL {
    /// The fault of a URL that Boxoffice or a browser opens; `nil` when it is good.
    ///
    /// Plain HTTP is for this machine only (`PlainHTTP`), so that a provider's stand-in can be used without certificates.
    package static func urlProblem(_ text: String) -> String? {
        if text.contains("${") { return "has a placeholder that was not replaced: '\(text)'" }
        guard text.utf8.count <= 2048, let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty
        else { return "must be an absolute https URL; it is '\(text)'" }
        if parts.user != nil || parts.password != nil { return "must not hold a user or a password" }
        if parts.fragment != nil { return "must not have a fragment" }
        if scheme == "https" || scheme == "http" && PlainHTTP.isAllowed(host) { return nil }
        return "must begin with https:// (http:// is for this machine only); it is '\(text)'"
    }

    /// The fault of an origin whose servers are called by name; `nil` when it is good. It must have scheme, host and port alone, and no address but
    /// this machine's (bridge §14.3).
    package static func originProblem(_ text: String) -> String? {
        if let problem = urlProblem(text) { return problem }
        guard let parts = URLComponents(string: text), let host = parts.host else { return "must be an origin; it is '\(text)'" }
        if !parts.path.isEmpty || parts.query != nil { return "must end after the host or the port; it is '\(text)'" }
        let isAddress = host.utf8.contains(UInt8(ascii: ":")) || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        return isAddress && !PlainHTTP.isAllowed(host) ? "must name a host; it has the address '\(host)'" : nil
    }

    /// The fault of a name in the form of a URI, such as an entity id; `nil` when it is good.
    package static func uriProblem(_ text: String) -> String? {
        if text.contains("${") { return "has a placeholder that was not replaced: '\(text)'" }
        guard text.utf8.count <= 1024, let parts = URLComponents(string: text), parts.scheme != nil else {
            return "must be a URI of at most 1024 bytes; it is '\(text)'"
        }
        return nil
    }
}
