internal import Contracts
internal import Cryptography
internal import Hummingbird

/// The cookie that ties the return from an upstream's login to the browser in which a person confirmed it (bridge §7.3). Of its name nobody learns the handle, which only
/// upstream may know before the browser returns.
struct BridgeCookie: Sendable {
    /// How many a browser keeps; a new login beyond that forgets the others.
    static let limit = 8

    let name: String
    private let isInsecure: Bool

    /// - Parameter isInsecure: For plain HTTP on loopback.
    init(handle: String, isInsecure: Bool) {
        name = Self.prefix(isInsecure) + Hex.encode(SHA256.hash("boxoffice-bridge-return\n\(handle)").prefix(8))
        self.isInsecure = isInsecure
    }

    func value(in exchange: Exchange) -> String { SignInCookie.pairs(exchange).first { $0.name == name }?.value ?? "" }

    /// Those of all logins that the browser began.
    static func values(in exchange: Exchange, isInsecure: Bool) -> [String] {
        SignInCookie.pairs(exchange).filter { $0.name.hasPrefix(prefix(isInsecure)) }.prefix(limit).map(\.value)
    }

    func set(_ start: SignInStart, among exchange: Exchange, in response: inout Response) {
        let others = SignInCookie.pairs(exchange).filter { $0.name.hasPrefix(Self.prefix(isInsecure)) && $0.name != name }
        if others.count >= Self.limit { others.forEach { append("\($0.name)=; Max-Age=0", to: &response) } }
        append("\(name)=\(start.bridgeSecret); Max-Age=\(start.expiresInSeconds)", to: &response)
    }

    private static func prefix(_ isInsecure: Bool) -> String { isInsecure ? "boxoffice-bridge-" : "__Host-bridge-" }

    /// The browser returns by following a link of upstream's site: `Lax` cookies go along.
    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); Path=/; HttpOnly; \(isInsecure ? "" : "Secure; ")SameSite=Lax"))
    }
}
