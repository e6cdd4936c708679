internal import Hummingbird

/// The cookie that ties the form of a confirmation to the browser that was shown it; the form carries a digest of it.
struct ActivationCookie: Sendable {
    /// Seconds; longer than anybody reads the page.
    private static let lifetime = 1800

    let name: String
    private let rules: String

    /// Over HTTPS the cookie is always a secure one.
    init(_ settings: GatewaySettings, _ exchange: Exchange) {
        let isInsecure = settings.insecureCookies && !exchange.facts.isSecure
        name = isInsecure ? "boxoffice-activation" : "__Host-activation"
        rules = "Path=/; HttpOnly\(isInsecure ? "" : "; Secure"); SameSite=Strict"
    }

    /// - Returns: `nil` unless the browser sent one of ours.
    func value(in exchange: Exchange) -> String? {
        let value = SignInCookie.pairs(exchange).first { $0.name == name }?.value
        return value.flatMap { $0.utf8.count == 64 && $0.utf8.allSatisfy(Self.isHex) ? $0 : nil }
    }

    func set(_ secret: String, in response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(name)=\(secret); Max-Age=\(Self.lifetime); \(rules)"))
    }

    /// 64 hex digits from the system's source of randomness.
    static func freshSecret() -> String {
        var source = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let word = String(source.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - word.utf8.count) + word
        }.joined()
    }

    private static func isHex(_ octet: UInt8) -> Bool { (0x30...0x39).contains(octet) || (0x61...0x66).contains(octet) }
}
