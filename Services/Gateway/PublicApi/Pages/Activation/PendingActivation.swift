internal import Cryptography
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// The sign-in for which a browser was sent away from our own pages, in a cookie. When the provider's answer cannot be accepted, the page that says so
/// leads back to it. When it was accepted here, the last page names provider and device. It opens nothing that the code does not.
struct PendingActivation {
    let code: String
    let mvpd: String
    /// Empty: not known.
    var requestor = ""
    /// The device as a page shows it; empty: it has not said what it is.
    var device = ""
    /// True when this browser came back signed in: nothing leads back to the provider.
    var isDone = false

    private static let names = (secure: "__Host-activating", plain: "boxoffice-activating")
    /// Seconds; as long as a code lives.
    private static let lifetime = 1800
    /// Octets of a device's name in the cookie; one that is longer is left out.
    private static let longestDevice = 400
    private static let longestID = 128
    private static let doneMark = "done"

    init(code: String, mvpd: String, requestor: String = "", device: String = "") {
        (self.code, self.mvpd, self.requestor, self.device) = (code, mvpd, requestor, device)
    }

    /// - Returns: `nil` unless the browser sent one of ours. The release before wrote code and MVPD alone.
    init?(_ exchange: Exchange) {
        let value = exchange.cookies.first { $0.name == Self.names.secure || $0.name == Self.names.plain }?.value ?? ""
        var parts = ArraySlice(value.split(separator: ".", omittingEmptySubsequences: false))
        guard (2...5).contains(parts.count), let typed = parts.popFirst(), let mvpd = parts.popFirst() else { return nil }
        let requestor = parts.popFirst() ?? ""
        let code = TypedCode(String(typed.prefix(32)))
        guard code.isPlausible, !mvpd.isEmpty, Self.isID(mvpd), Self.isID(requestor) else { return nil }
        self.init(code: code.text, mvpd: String(mvpd), requestor: String(requestor))
        if let sent = parts.popFirst(), sent.utf8.count <= Self.longestDevice * 2, let octets = Base64.url.decode(String(sent)),
            let name = String(validating: octets, as: UTF8.self)
        {
            device = ShownText(name).text
        }
        isDone = parts.first.map { $0 == Self.doneMark } ?? false
    }

    /// For the links "Try again" and "Other provider"; `nil` once it is done.
    var choice: [String: String]? { isDone ? nil : Self.choice(code: code, mvpd: mvpd) }

    /// - Parameter mvpd: Empty: not known.
    static func choice(code: String, mvpd: String) -> [String: String] {
        let address = ActivationPages.choice(code)
        return ["address": address, "again": mvpd.isEmpty ? address : ActivationPages.signInPath(code, mvpd: mvpd)]
    }

    func set(in response: inout Response, _ exchange: Exchange) {
        guard Self.isID(mvpd), Self.isID(requestor) else { return }
        let name = device.utf8.count <= Self.longestDevice ? Base64.url.encode(Array(device.utf8)) : ""
        Self.append("\(code).\(mvpd).\(requestor).\(name)\(isDone ? "." + Self.doneMark : "")", Self.lifetime, to: &response, exchange)
    }

    /// True when a sign-in that ends at the address ends at the last page for this code.
    func ends(at address: String) -> Bool {
        let parts = address.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, let path = parts.first, let query = parts.last else { return false }
        return path.hasSuffix(ActivationPages.endPath) && query.utf8.starts(with: "code=\(code)&".utf8)
    }

    /// Notes in a response that the sign-in has succeeded in this browser.
    static func finish(at address: String, in response: inout Response, _ exchange: Exchange) {
        guard var pending = PendingActivation(exchange), pending.ends(at: address) else { return }
        pending.isDone = true
        pending.set(in: &response, exchange)
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

    /// True also for none.
    private static func isID(_ text: some StringProtocol) -> Bool { text.utf8.count <= longestID && text.utf8.allSatisfy(isPartOfID) }

    private static func isPartOfID(_ octet: UInt8) -> Bool {
        (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet) || octet == 0x2D || octet == 0x5F
    }
}
