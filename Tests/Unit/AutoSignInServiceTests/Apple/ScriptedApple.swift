import Clocks
import Cryptography
import Doubles
import Foundation
import ManualClocks
import OutboundHttp
import Synchronization

@testable import AutoSignInService

/// Stands in for Apple's identity server: keys, codes, refresh tokens and transfers, and what goes wrong when a test says so.
final class ScriptedApple: OutboundTransport {
    static let server = "http://apple.test/appleid"

    struct Code: Sendable {
        var client: String
        var subject: String
        var nonce: String?
        var redirectURI: String?
        var issuedAt: Timestamp
    }

    struct Call: Sendable {
        let path: String
        let form: [String: String]
        let status: Int
    }

    private struct State {
        var published: [String] = [TokenMaker.keyName]
        var maxAge: Int?
        var isReplaced = false
        var codes: [String: Code] = [:]
        var refreshTokens: [String: String] = [:]
        var transfers: [String: String] = [:]
        var calls: [Call] = []
        var answers: [String: [OutboundAnswer]] = [:]
        var isAway = false
        var count = 0
        /// Instead of the code's own.
        var exchangedSubject: String?
    }

    private let clock: ManualClock
    private let key: P256PublicKey
    private let state = Mutex(State())

    init(clock: ManualClock, key: P256PublicKey) {
        self.clock = clock
        self.key = key
    }

    // MARK: What a test says

    /// Which of the keys in `TokenMaker` are published: the first has the usual name, the second is `SECONDKEY2`.
    /// - Parameter replaced: The first has the second's key, under the usual name.
    func publish(_ names: [String], maxAge: Int? = nil, replaced: Bool = false) {
        state.withLock { ($0.published, $0.maxAge, $0.isReplaced) = (names, maxAge, replaced) }
    }

    func makeCode(client: String, subject: String, nonce: String?, redirectURI: String? = nil) -> String {
        state.withLock { state in
            state.count += 1
            let text = "code-\(state.count)"
            state.codes[text] = Code(client: client, subject: subject, nonce: nonce, redirectURI: redirectURI, issuedAt: clock.now())
            return text
        }
    }

    /// For the next calls of an endpoint, one after the other.
    func then(_ path: String, _ status: Int, _ body: String = "", retryAfter: Int? = nil) {
        let headers = retryAfter.map { [(name: "Retry-After", value: "\($0)")] } ?? []
        state.withLock { $0.answers[path, default: []].append(OutboundAnswer(status: status, headers: headers, body: Array(body.utf8))) }
    }

    func setAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    func exchangeNames(_ subject: String?) { state.withLock { $0.exchangedSubject = subject } }

    func transfer(_ name: String, to subject: String) { state.withLock { $0.transfers[name] = subject } }

    func invalidateRefreshTokens() { state.withLock { $0.refreshTokens = [:] } }

    var refreshTokens: [String: String] { state.withLock { $0.refreshTokens } }

    func calls(_ path: String) -> [Call] { state.withLock { state in state.calls.filter { $0.path == path } } }

    // MARK: What the service asks

    func send(_ request: OutboundRequest, by _: OutboundRoute, timeLeft _: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let path = String(request.url.dropFirst(Self.server.count))
        let form = Self.form(request.body ?? [])
        if state.withLock({ $0.isAway }) { throw OutboundFailure(.notSent, cause: "away") }
        let answer = state.withLock { state -> OutboundAnswer in
            if var waiting = state.answers[path], !waiting.isEmpty {
                defer { state.answers[path] = waiting }
                return waiting.removeFirst()
            }
            return (try? self.answer(path, form, request, &state)) ?? OutboundAnswer(status: 500)
        }
        state.withLock { $0.calls.append(Call(path: path, form: form, status: answer.status)) }
        return answer
    }

    private func answer(_ path: String, _ form: [String: String], _ request: OutboundRequest, _ state: inout State) throws -> OutboundAnswer {
        if path == "/auth/keys" {
            let keys = state.published.enumerated().map { index, name in
                (name: name, key: TokenMaker.keys[name == TokenMaker.keyName && !state.isReplaced ? 0 : 1].publicKey)
            }
            let headers = state.maxAge.map { [(name: "Cache-Control", value: "public, max-age=\($0)")] } ?? []
            return OutboundAnswer(status: 200, headers: headers, body: TokenMaker.document(keys))
        }
        guard isSecret(form["client_secret"], of: form["client_id"]) else { return Self.refused("invalid_client") }
        switch (path, form["grant_type"]) {
        case ("/auth/token", "authorization_code"): return try exchange(form, &state)
        case ("/auth/token", "refresh_token"):
            guard state.refreshTokens[form["refresh_token"] ?? ""] == form["client_id"] else { return Self.refused("invalid_grant") }
            return Self.json("{\"access_token\":\"access\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
        case ("/auth/token", "client_credentials"):
            return Self.json("{\"access_token\":\"migration\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
        case ("/auth/revoke", _):
            state.refreshTokens[form["token"] ?? ""] = nil
            return OutboundAnswer(status: 200)
        case ("/auth/usermigrationinfo", _):
            guard request.headers.contains(where: { $0.value == "Bearer migration" }) else { return Self.refused("invalid_request") }
            if let name = form["transfer_sub"] {
                guard let subject = state.transfers[name] else { return Self.refused("invalid_request") }
                return Self.json("{\"sub\":\"\(subject)\"}")
            }
            return Self.json("{\"transfer_sub\":\"T.\(form["sub"] ?? "").\(form["target"] ?? "")\"}")
        default: return Self.refused("unsupported_grant_type")
        }
    }

    private func exchange(_ form: [String: String], _ state: inout State) throws -> OutboundAnswer {
        guard let text = form["code"], let code = state.codes[text], code.client == form["client_id"], code.redirectURI == form["redirect_uri"],
            clock.now() < code.issuedAt + .seconds(300)
        else { return Self.refused("invalid_grant") }
        state.codes[text] = nil
        state.count += 1
        let refresh = "refresh-\(state.count)-of-\(code.client)"
        state.refreshTokens[refresh] = code.client
        let maker = TokenMaker(clientID: code.client, nonce: code.nonce, subject: state.exchangedSubject ?? code.subject, now: clock.now())
        let identity = maker.signed(by: TokenMaker.keys[state.isReplaced ? 1 : 0]).with("at_hash", "\"\(TokenMaker.hash("access-\(state.count)"))\"")
            .with(
                "nonce_supported", code.nonce == nil ? "false" : "true")
        return Self.json(
            """
            {"access_token":"access-\(state.count)","token_type":"bearer","expires_in":3600,"refresh_token":"\(refresh)","id_token":"\(try identity.token())"}
            """)
    }

    /// As Apple checks client secrets (apple §2.4).
    private func isSecret(_ text: String?, of client: String?) -> Bool {
        let parts = (text ?? "").split(separator: ".").map(String.init)
        guard parts.count == 3, let header = Base64.url.decode(parts[0]).flatMap(JSONMembers.init),
            let claims = Base64.url.decode(parts[1]).flatMap(JSONMembers.init), let signature = Base64.url.decode(parts[2]),
            let end = claims.number("exp")
        else { return false }
        let now = clock.now().seconds
        return header.string("alg") == "ES256" && header.string("kid") == "ACMESIGN01" && claims.string("iss") == "ACMETEAM01"
            && claims.string("aud") == "https://appleid.apple.com" && claims.string("sub") == client && end > now && end <= now + 15_777_000
            && key.isValid(signature, for: Array("\(parts[0]).\(parts[1])".utf8))
    }

    private static func form(_ body: [UInt8]) -> [String: String] {
        let pairs = String(decoding: body, as: UTF8.self).split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0).removingPercentEncoding ?? "" }
            return (parts[0], parts.count > 1 ? parts[1] : "")
        }
        return Dictionary(pairs) { first, _ in first }
    }

    private static func json(_ text: String) -> OutboundAnswer { OutboundAnswer(status: 200, body: Array(text.utf8)) }

    private static func refused(_ code: String) -> OutboundAnswer { OutboundAnswer(status: 400, body: Array("{\"error\":\"\(code)\"}".utf8)) }
}
