internal import Contracts
internal import Cryptography
internal import GatewayEdge
internal import Hummingbird

/// The cookie that ties an MVPD's answer to the browser that asked (mvpd §2.2). Each pending sign-in has its own, so that two tabs do
/// not disturb each other.
struct SignInCookie: Sendable {
    /// The number that a browser keeps; a new sign-in beyond that forgets the others.
    static let limit = 8

    let name: String
    private let isInsecure: Bool

    /// - Parameters:
    ///   - relayState: Handle of the pending sign-in; its beginning becomes a part of the name.
    ///   - isInsecure: For plain HTTP on loopback.
    init(relayState: String, isInsecure: Bool) {
        let handle = relayState.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == "-") }.prefix(16)
        name = Self.prefix(isInsecure) + handle
        self.isInsecure = isInsecure
    }

    /// The handle that the MVPD will send back, from the form or the address of the request: `RelayState`, or the `state` of OAuth.
    static func relayState(of start: SignInStart) -> String {
        if let field = start.fields.first(where: { $0.name == "RelayState" }) { return field.value }
        guard let query = start.url.split(separator: "?", maxSplits: 1).dropFirst().first else { return "" }
        guard let parameters = try? ParameterSet(query: Array(query.utf8), form: []) else { return "" }
        return (try? parameters.value("RelayState") ?? parameters.value("state")) ?? ""
    }

    func value(in exchange: Exchange) -> String? {
        exchange.cookies.first { $0.name == name }?.value
    }

    func set(_ start: SignInStart, among exchange: Exchange, in response: inout Response) {
        let others = exchange.cookies.filter { $0.name.hasPrefix(Self.prefix(isInsecure)) && $0.name != name }
        if others.count >= Self.limit { others.forEach { append("\($0.name)=; Max-Age=0", to: &response, exchange) } }
        append("\(name)=\(start.browserSecret); Max-Age=\(start.expiresInSeconds)", to: &response, exchange)
    }

    func clear(in response: inout Response, _ exchange: Exchange) { append("\(name)=; Max-Age=0", to: &response, exchange) }

    private static func prefix(_ isInsecure: Bool) -> String { isInsecure ? "boxoffice-signin-" : "__Host-signin-" }

    /// The answer is a POST from the MVPD's site, so that only `SameSite=None` survives it; between two ports of loopback `Lax` does.
    private func append(_ pair: String, to response: inout Response, _ exchange: Exchange) {
        let rules = isInsecure ? "; SameSite=Lax" : "; Secure\(SameSiteNone.attribute(for: exchange.headers[.userAgent]))"
        response.headers.append(.init(name: .setCookie, value: "\(pair); Path=/; HttpOnly\(rules)"))
    }
}

/// The cookie that ties the return from an upstream's login to the browser in which a person confirmed it (bridge §7.3). Its name does not tell the
/// handle, which only upstream may know before the browser returns.
struct UpstreamCookie: Sendable {
    /// The number that a browser keeps; a new login beyond that forgets the others.
    static let limit = 8

    let name: String
    private let isInsecure: Bool

    /// - Parameter isInsecure: For plain HTTP on loopback.
    init(handle: String, isInsecure: Bool) {
        name = Self.prefix(isInsecure) + Hex.encode(SHA256.hash("boxoffice-bridge-return\n\(handle)").prefix(8))
        self.isInsecure = isInsecure
    }

    func value(in exchange: Exchange) -> String { exchange.cookies.first { $0.name == name }?.value ?? "" }

    /// Those of all logins that the browser began.
    static func values(in exchange: Exchange, isInsecure: Bool) -> [String] {
        exchange.cookies.filter { $0.name.hasPrefix(prefix(isInsecure)) }.prefix(limit).map(\.value)
    }

    func set(_ start: SignInStart, among exchange: Exchange, in response: inout Response) {
        let others = exchange.cookies.filter { $0.name.hasPrefix(Self.prefix(isInsecure)) && $0.name != name }
        if others.count >= Self.limit { others.forEach { append("\($0.name)=; Max-Age=0", to: &response) } }
        append("\(name)=\(start.bridgeSecret); Max-Age=\(start.expiresInSeconds)", to: &response)
    }

    private static func prefix(_ isInsecure: Bool) -> String { isInsecure ? "boxoffice-bridge-" : "__Host-bridge-" }

    /// The browser returns by following a link of upstream's site: `Lax` cookies go along.
    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); Path=/; HttpOnly; \(isInsecure ? "" : "Secure; ")SameSite=Lax"))
    }
}
