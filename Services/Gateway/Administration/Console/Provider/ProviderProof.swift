internal import Cryptography
internal import GatewayEdge
internal import Hummingbird

/// Ties a sign-in at the identity provider to the browser that began it. A cookie has a secret, and state, nonce and verifier are digests of it.
///
/// The gateway keeps nothing of it, so that the answer may come to any copy.
struct ProviderProof: Sendable {
    /// Longer ways back lead home.
    private static let longestTarget = 1500

    private let secret: String
    /// A page of the console.
    let target: String

    init(returningTo target: String) {
        secret = Base64.url.encode(SecureRandom.bytes(32))
        self.target = target.utf8.count <= Self.longestTarget ? ConsoleAddress.own(target) : Console.path
    }

    /// - Parameter text: A cookie's value.
    /// - Returns: `nil` for what no browser has from here.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= 4096, parts.count == 2, parts[0].utf8.count == 43, let target = Base64.url.decode(String(parts[1])),
            let address = String(validating: target, as: UTF8.self)
        else { return nil }
        secret = String(parts[0])
        self.target = ConsoleAddress.own(address)
    }

    /// The text of the cookie.
    var text: String { secret + "." + Base64.url.encode(Array(target.utf8)) }

    var state: String { derived("state") }
    var nonce: String { derived("nonce") }
    /// 43 characters, 256 bits (RFC 7636 §4.1).
    var verifier: String { derived("verifier") }
    /// `S256`.
    var challenge: String { Base64.url.encode(SHA256.hash(verifier)) }

    func isOwn(state sent: String) -> Bool { ConstantTime.equal(state, sent) }

    private func derived(_ purpose: String) -> String {
        Base64.url.encode(SHA256.hash(Array("boxoffice-console-\(purpose)\n\(secret)".utf8)))
    }
}

/// Its cookie. The answer is a link from the provider's site, which only `Lax` survives; it serves nothing else, and for ten minutes at most.
struct ProviderCookie: Sendable {
    static let seconds = 600

    private let name: String
    private let rules: String

    init(_ session: ConsoleCookie) {
        name = session.name + "-sign-in"
        rules = "Path=/; HttpOnly\(session.isSecure ? "; Secure" : ""); SameSite=Lax"
    }

    func proof(in exchange: Exchange) -> ProviderProof? {
        exchange.cookies.first { $0.name == name }.flatMap { ProviderProof($0.value) }
    }

    func set(_ proof: ProviderProof, in response: inout Response) { append("\(name)=\(proof.text); Max-Age=\(Self.seconds)", to: &response) }

    func clear(in response: inout Response) { append("\(name)=; Max-Age=0", to: &response) }

    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); \(rules)"))
    }
}
