internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// The code and provider with which a browser was sent away from our own pages, in a cookie. When the provider's answer cannot be accepted, the page
/// that says so leads back to them. It opens nothing that the code does not.
struct PendingActivation {
    let code: String
    let mvpd: String

    private static let names = (secure: "__Host-activating", plain: "boxoffice-activating")
    /// Seconds; as long as a code lives.
    private static let lifetime = 1800

    init(code: String, mvpd: String) { (self.code, self.mvpd) = (code, mvpd) }

    /// - Returns: `nil` unless the browser sent one of ours.
    init?(_ exchange: Exchange) {
        let value = exchange.cookies.first { $0.name == Self.names.secure || $0.name == Self.names.plain }?.value ?? ""
        let parts = value.split(separator: ".")
        guard parts.count == 2, parts[1].utf8.count <= 128, parts[1].utf8.allSatisfy(Self.isPartOfID) else { return nil }
        let code = TypedCode(String(parts[0].prefix(32)))
        guard code.isPlausible else { return nil }
        self.init(code: code.text, mvpd: String(parts[1]))
    }

    /// For the links "Try again" and "Other provider".
    var choice: [String: String] { Self.choice(code: code, mvpd: mvpd) }

    /// - Parameter mvpd: Empty: not known.
    static func choice(code: String, mvpd: String) -> [String: String] {
        let address = ActivationPages.choice(code)
        return ["address": address, "again": mvpd.isEmpty ? address : ActivationPages.signInPath(code, mvpd: mvpd)]
    }

    func set(in response: inout Response, _ exchange: Exchange) {
        guard mvpd.utf8.allSatisfy(Self.isPartOfID) else { return }
        Self.append("\(code).\(mvpd)", Self.lifetime, to: &response, exchange)
    }

    static func clear(in response: inout Response, _ exchange: Exchange) { append("", 0, to: &response, exchange) }

    /// A provider posts its answer from another site.
    private static func append(_ value: String, _ age: Int, to response: inout Response, _ exchange: Exchange) {
        let isSecure = exchange.facts.isSecure
        let rules =
            "Max-Age=\(age); Path=/; HttpOnly"
            + (isSecure ? "; Secure" + SameSiteNone.attribute(for: exchange.headers[.userAgent]) : "; SameSite=Lax")
        response.headers.append(.init(name: .setCookie, value: "\(isSecure ? names.secure : names.plain)=\(value); \(rules)"))
    }

    private static func isPartOfID(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet) || octet == 0x2D || octet == 0x5F
    }
}
