internal import Hummingbird

/// The listeners that a route is served at.
public enum Door: Sendable {
    /// Apps, browsers and MVPDs.
    case everybody
    /// Those who administer the cluster.
    case administration
}

/// Who may come in at the listener for administration: callers that name it as one of its own.
///
/// A page of another site can lead its name to a loopback address (DNS rebinding) and so ask with the reader's browser; it cannot make that browser send
/// another name than its own. A number is no name that a page could be served under by somebody else.
package struct AdministrationNames: Sendable {
    private let hosts: Set<OctetText>

    init(_ settings: AdministrationSettings) {
        hosts = Set((settings.hosts.map { $0.lowercased() } + ["localhost"]).map { OctetText($0) })
    }

    package enum Refusal: Equatable {
        case foreignHost
        case foreignOrigin
    }

    /// - Parameter checksOrigin: False where a bearer is all that counts, so that consoles of other origins may call.
    /// - Returns: `nil`: come in.
    func refusal(of request: Request, isSecure: Bool, checksOrigin: Bool) -> Refusal? {
        let scheme = isSecure ? "https" : "http"
        guard let authority = request.head.authority, authority.utf8.count <= 300, let own = WebOrigin("\(scheme)://\(authority)"),
            own.hasNoMore(than: authority), hosts.contains(OctetText(own.host)) || own.isNumeric
        else { return .foreignHost }
        guard checksOrigin else { return nil }
        let origins = request.headers[values: .origin]
        if let origin = origins.first {
            guard origins.count == 1, WebOrigin(origin)?.withPort == own.withPort else { return .foreignOrigin }
        }
        // What a browser says of a page's own calls, and of an address that a person has typed.
        let site = request.headers.value(.secFetchSite) ?? "none"
        return site == "same-origin" || site == "none" ? nil : .foreignOrigin
    }
}

extension WebOrigin {
    /// True where the authority is nothing but host and port.
    fileprivate func hasNoMore(than authority: String) -> Bool {
        authority.lowercased() == host + (port.map { ":\($0)" } ?? "")
    }

    /// True for an address in numbers.
    fileprivate var isNumeric: Bool {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return IPAddress(bare) != nil
    }

    /// With the port that its scheme implies where none is written.
    fileprivate var withPort: WebOrigin { port == nil ? WebOrigin("\(scheme)://\(host):\(scheme == "https" ? 443 : 80)") ?? self : self }
}
