internal import Contracts
internal import Hummingbird

/// The cookie of a session of the console.
///
/// Browsers tell ports of a host apart for pages and not for cookies: its name has the port, so that clusters on one machine do not sign each other out.
struct ConsoleCookie: Sendable {
    let name: String
    /// False on plain HTTP, which only this machine's own browser may use.
    let isSecure: Bool
    private let rules: String

    init(_ settings: GatewaySettings, _ exchange: Exchange) {
        let origin = WebOrigin("\(exchange.facts.isSecure ? "https" : "http")://\(exchange.authority)")
        isSecure = exchange.facts.isSecure || !(origin?.isLoopback == true || settings.allowsPlainHTTP)
        let port = origin?.port.map { "-\($0)" } ?? ""
        name = (isSecure ? "__Host-console" : "boxoffice-console") + port
        rules = "Path=/; HttpOnly\(isSecure ? "; Secure" : ""); SameSite=Strict"
    }

    /// - Returns: `nil` unless the browser sent one.
    func value(in exchange: Exchange) -> String? {
        let value = SignInCookie.pairs(exchange).first { $0.name == name }?.value
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Ends with the browser, and before that with the session.
    func set(_ session: OpenedSession, in response: inout Response) { append("\(name)=\(session.secret)", to: &response) }

    func clear(in response: inout Response) { append("\(name)=; Max-Age=0", to: &response) }

    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); \(rules)"))
    }
}
