internal import SandboxKit
internal import Hummingbird
internal import Synchronization

/// An OAuth provider behaves in this way, as tests set it.
struct OAuthBehaviour: Sendable, Equatable, Decodable {
    enum Mode: String, Sendable, Decodable {
        case none
        /// Never answers; ends when the caller leaves.
        case hang
        /// Answers 500.
        case error
        /// Answers 200 with broken JSON.
        case malformed
    }

    /// The flaw of the `id_token`.
    enum Flaw: String, Sendable, Decodable {
        case none
        case wrongNonce
        case foreignAudience
        case foreignIssuer
        case expired
        /// `alg` is `none`, and there is no signature.
        case unsigned
        /// `alg` is HS256.
        case symmetric
        /// The key is not the one that `kid` names.
        case foreignKey
        /// There is no `id_token`.
        case absent
    }

    var mode: Mode? = Mode.none
    /// The endpoints with this mode: `token`, `userinfo`, `jwks`; absent: all of them.
    var endpoint: String?
    var identityToken: Flaw? = Flaw.none
    /// True when a refresh token is good for one use and a new one comes with each access token.
    var rotatesRefreshTokens: Bool? = false
    /// True when every refresh token is refused.
    var refusesRefreshTokens: Bool? = false
    /// True when its answers name it (`iss`, RFC 9207).
    var sendsIssuer: Bool? = true
    /// Seconds that access tokens live.
    var accessTokenSeconds: Int? = 600

    init() {}

    private enum CodingKeys: String, CodingKey {
        case mode, endpoint, identityToken, rotatesRefreshTokens, refusesRefreshTokens, accessTokenSeconds, sendsIssuer
    }

    init(json: [UInt8]) throws(SettingsFault) {
        self = try SettingsFault.decode(OAuthBehaviour.self, from: json)
        if let endpoint, !["token", "userinfo", "jwks"].contains(endpoint) {
            throw SettingsFault(key: "endpoint", problem: "is none of token, userinfo and jwks")
        }
        if let seconds = accessTokenSeconds, !(1...86_400).contains(seconds) {
            throw SettingsFault(key: "accessTokenSeconds", problem: "is not from 1 to 86400")
        }
    }

    func mode(at endpoint: String) -> Mode { self.endpoint == nil || self.endpoint == endpoint ? mode ?? .none : .none }
}

/// The memory of an OAuth provider: used codes, the newest refresh token of each sign-in, and the behaviour that tests set.
final class OAuthMemory: Sendable {
    private struct Content {
        var behaviour = OAuthBehaviour()
        var usedCodes: Set<String> = []
        var generations: [String: Int] = [:]
        var revoked: Set<String> = []
        var isRotated = false
    }

    private let content = Mutex(Content())

    var behaviour: OAuthBehaviour { content.withLock { $0.behaviour } }

    /// True when the second key signs.
    var isRotated: Bool { content.withLock { $0.isRotated } }

    func behave(_ behaviour: OAuthBehaviour) { content.withLock { $0.behaviour = behaviour } }

    func rotateKeys() { content.withLock { $0.isRotated.toggle() } }

    func reset() { content.withLock { $0 = Content() } }

    /// - Returns: False when the code was used before; the tokens that it gave are revoked then (RFC 6749 §4.1.2).
    func use(_ code: OAuthCode) -> Bool {
        content.withLock { content in
            guard content.usedCodes.insert(code.identifier).inserted else {
                content.revoked.insert(code.identifier)
                return false
            }
            return true
        }
    }

    func isRevoked(_ grant: OAuthGrant) -> Bool { content.withLock { $0.revoked.contains(grant.family) } }

    /// Takes a refresh token.
    /// - Returns: The generation of the one that comes with the answer; nil: the token is not good any more.
    func refresh(_ grant: OAuthGrant) -> Int? {
        content.withLock { content in
            guard content.behaviour.refusesRefreshTokens != true, !content.revoked.contains(grant.family),
                grant.generation >= content.generations[grant.family] ?? 0
            else { return nil }
            guard content.behaviour.rotatesRefreshTokens == true else { return grant.generation }
            content.generations[grant.family] = grant.generation + 1
            return grant.generation + 1
        }
    }
}

/// Routes by which tests control the OAuth providers; only callers on the same machine get an answer.
struct OAuthControlRoutes: Sendable {
    private static let largestMessage = 16 * 1024

    let providers: [String: OAuthProvider]

    func add(to router: Router<SandboxContext>) {
        let control = router.group("/control/oauth").add(middleware: LoopbackOnly())
        control.post("/{mvpd}") { request, context in
            let provider = try provider(context)
            let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
            do throws(SettingsFault) {
                provider.memory.behave(try OAuthBehaviour(json: octets))
            } catch {
                throw HTTPError(.badRequest, message: "\(error)")
            }
            return HTTPResponse.Status.noContent
        }
        control.post("/{mvpd}/rotate-keys") { _, context in
            let provider = try provider(context)
            guard provider.keys.count > 1 else { throw HTTPError(.conflict, message: "There is no second key: oauth.nextKey") }
            provider.memory.rotateKeys()
            return HTTPResponse.Status.noContent
        }
    }

    private func provider(_ context: SandboxContext) throws -> OAuthProvider {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        return provider
    }
}
