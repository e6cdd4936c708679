package import Catalogue
package import Contracts
package import Faults

/// An address that a browser is sent to, taken apart strictly: anything that two parsers could read differently is refused.
package struct RedirectAddress: Hashable, Sendable {
    /// Longest accepted address, in characters.
    package static let longest = 2048

    package let text: String
    /// Lower case.
    package let scheme: String
    /// Lower case, without port; empty for schemes without an authority.
    package let host: String
    /// The host and port: the part from `://` up to the path, in lower case.
    package let authority: String

    /// - Parameter longest: Octets.
    /// - Returns: `nil` unless the text is `scheme://authority…` in printable ASCII, without user information, backslash or encoded host.
    package init?(_ text: String, longest: Int = Self.longest) {
        guard text.utf8.count <= longest, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        guard let mark = text.firstRange(of: "://") else { return nil }
        scheme = text[..<mark.lowerBound].lowercased()
        guard let first = scheme.utf8.first, Self.isLetter(first), scheme.utf8.allSatisfy(Self.isSchemeCharacter) else { return nil }
        authority = text[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }.lowercased()
        guard let host = Self.host(of: authority) else { return nil }
        self.host = host
        self.text = text
    }

    package var isWeb: Bool { scheme == "http" || scheme == "https" }

    /// Scheme, host and port as written.
    package var origin: String { "\(scheme)://\(authority)" }

    /// True when the host is the domain or lies under it; letter case does not count.
    package func lies(under domain: String) -> Bool {
        let domain = domain.lowercased()
        return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }

    /// The host without the port; `nil` when the authority holds anything else.
    private static func host(of authority: String) -> String? {
        guard !authority.contains("@"), !authority.contains("%") else { return nil }
        if authority.hasPrefix("[") { return authority.firstIndex(of: "]").map { String(authority[...$0]) } }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        guard let name = parts.first, parts.count <= 2, name.utf8.allSatisfy(isHostCharacter) else { return nil }
        if parts.count == 2, !isPort(parts[1]) { return nil }
        return String(name)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.utf8.count <= 5 && text.utf8.allSatisfy(isDigit) && UInt16(text) != nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7f && !#"\"<>^`{|}"#.utf8.contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
    /// The underscore is no character of a scheme (RFC 3986 §3.1), but one of base64url, of which generated schemes consist (dashboard §2).
    private static func isSchemeCharacter(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "+-._".utf8.contains(byte) }
    private static func isHostCharacter(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) || "-._".utf8.contains(byte) }
}

/// The addresses to which an app may have people sent (rest-v1 §3.1, §3.7).
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

extension Requestor {
    /// The domain that real apps send whatever their channel (clients §1.2). It does not say where anybody returns to.
    private static let domainOfTheReference = "adobe.com"

    /// - Throws: `invalid_domain` when it is not registered for the requestor (rest-v1 §3.7); letter case does not count.
    package func requireDomain(_ name: String) throws(Fault) {
        let name = name.lowercased()
        guard name == Self.domainOfTheReference || domains.contains(where: { $0.name.lowercased() == name }) else {
            throw Fault(.invalidDomain, "The domain is not registered for the requestor.")
        }
    }

    /// The domain as an upstream may hear of it: in place of what apps send whatever their channel, the requestor's first one (bridge §17).
    package func ownDomain(_ name: String) -> String {
        if domains.contains(where: { $0.name.lowercased() == name.lowercased() }) { return name }
        return domains.first?.name ?? name
    }
}

/// Sign-ins and logouts may end here (rest-v1 §3.7, rest-v2 D10, clients §4.13).
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

    /// Returns why an address is not accepted, for whoever writes the app; nothing of it is repeated.
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
