internal import Catalogue
internal import Contracts
internal import Cryptography
internal import GatewayEdge
internal import Hummingbird

/// The step before a sign-in at which a person sees for which device and which channel it is (dashboard §8). A link alone begins no sign-in: whoever
/// sends one would have another person's TV subscription on his own TV.
struct SignInConfirmation: Sendable {
    /// The fields that the form on the page sends on.
    typealias Fields = [(name: String, value: String)]

    static let tokenField = "confirmation"

    let dependencies: Dependencies

    /// - Parameters:
    ///   - provider: The MVPD's id.
    ///   - action: Where the form goes.
    func page(_ code: RegistrationCode, provider: String, action: String, fields: Fields, _ exchange: Exchange) throws -> Response {
        let catalogue = try dependencies.catalogue.current()
        let cookie = ActivationCookie(dependencies.settings, exchange)
        let secret = cookie.value(in: exchange) ?? ActivationCookie.freshSecret()
        let sent = fields + [(Self.tokenField, Self.token(secret, code.code))]
        let name = catalogue.mvpd(provider)?.displayName ?? ""
        let look = ChannelLook(catalogue.requestor(code.requestor) ?? Requestor(id: code.requestor))
        var content: [String: Any] = [
            "code": code.code, "requestor": look.name, "provider": ShownText(name.isEmpty ? provider : name).text,
            "action": action, "fields": sent.map { ["name": $0.name, "value": $0.value] },
        ]
        // An app's own page has a choice of its own.
        if action == ActivationPages.startPath { content["choice"] = ["address": ActivationPages.choice(code.code)] }
        if !code.deviceLabel.isEmpty { content["device"] = ShownText(code.deviceLabel).text }
        var response = dependencies.pages.confirmSignIn(content, look, exchange)
        cookie.set(secret, in: &response)
        return response
    }

    /// True when the form came from this page in this browser.
    /// - Parameter code: The code that the form names.
    func isConfirmed(_ code: String, _ exchange: Exchange) -> Bool {
        guard FormOrigin.isOwn(exchange), let secret = ActivationCookie(dependencies.settings, exchange).value(in: exchange),
            let sent = (try? exchange.value(Self.tokenField)) ?? nil
        else { return false }
        return ConstantTime.equal(Self.token(secret, code), sent)
    }

    private static func token(_ secret: String, _ code: String) -> String {
        Base64.url.encode(SHA256.hash(Array("boxoffice-activation-form\n\(secret)\n\(TypedCode(code).text)".utf8)))
    }
}

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
        let value = exchange.cookies.first { $0.name == name }?.value
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
