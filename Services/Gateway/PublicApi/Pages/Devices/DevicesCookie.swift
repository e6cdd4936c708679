internal import Contracts
internal import Hummingbird

/// The cookie of a person's web session on the devices pages.
struct DevicesCookie: Sendable {
    let name: String
    private let rules: String

    /// Over HTTPS the cookie is always a secure one.
    init(_ settings: GatewaySettings, _ exchange: Exchange) {
        let isInsecure = settings.insecureCookies && !exchange.facts.isSecure
        name = isInsecure ? "boxoffice-devices" : "__Host-devices"
        rules = "Path=/; HttpOnly\(isInsecure ? "" : "; Secure"); SameSite=Lax"
    }

    /// - Returns: Empty when the browser sent none.
    func value(in exchange: Exchange) -> String {
        SignInCookie.pairs(exchange).first { $0.name == name }?.value ?? ""
    }

    func set(_ session: WebSession, in response: inout Response) {
        append("\(name)=\(session.secret); Max-Age=\(session.expiresInSeconds)", to: &response)
    }

    func clear(in response: inout Response) { append("\(name)=; Max-Age=0", to: &response) }

    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); \(rules)"))
    }
}
