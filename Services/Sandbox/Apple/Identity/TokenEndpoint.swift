internal import SandboxKit
internal import Clocks

/// `POST /auth/token`, `/auth/revoke` and `/auth/usermigrationinfo`.
struct TokenEndpoint: Sendable {
    private static let credentials: Set<String> = ["client_id", "client_secret"]

    let memory: AppleMemory

    private struct Tokens: Encodable {
        let accessToken: String
        let tokenType = "Bearer"
        let expiresIn = AccessToken.lifetime
        var refreshToken: String?
        var identityToken: String?

        private enum CodingKeys: String, CodingKey {
            case accessToken = "access_token"
            case tokenType = "token_type"
            case expiresIn = "expires_in"
            case refreshToken = "refresh_token"
            case identityToken = "id_token"
        }
    }

    func token(_ request: AppleRequest) -> AppleAnswer {
        answer(request, allowed: ["grant_type", "code", "redirect_uri", "refresh_token", "scope"]) { form, client, content in
            switch try form.require("grant_type") {
            case "authorization_code": try Self.exchange(form, client, &content, request.now)
            case "refresh_token": try Self.refresh(form, client, &content, request.now)
            case "client_credentials": try Self.migration(form, client, &content, request.now)
            default: throw AppleRejection(.unsupportedGrantType, "the grant is not supported")
            }
        }
    }

    func revoke(_ request: AppleRequest) -> AppleAnswer {
        answer(request, allowed: ["token", "token_type_hint"]) { form, client, content in
            if let hint = form["token_type_hint"], hint != "refresh_token", hint != "access_token" {
                throw AppleRejection(.invalidRequest, "token_type_hint is unknown")
            }
            try content.ledger.revoke(try form.require("token"), client: client.id)
            return AppleAnswer(status: .ok, outcome: "revoked")
        }
    }

    func migrationInfo(_ request: AppleRequest) -> AppleAnswer {
        answer(request, allowed: ["sub", "target", "transfer_sub"], bearer: true) { form, client, content in
            let now = request.now
            guard let bearer = request.bearer, content.ledger.migrationTeam(bearer, now: now) == client.group.team else {
                throw AppleRejection(.invalidRequest, "the bearer is no token of the team's migration")
            }
            if let subject = form["transfer_sub"] {
                guard form["sub"] == nil, form["target"] == nil else { throw AppleRejection(.invalidRequest, "sub and transfer_sub are mixed") }
                return try Self.received(subject, client, content, now)
            }
            return try Self.sent(try form.require("sub"), to: try form.require("target"), client, &content)
        }
    }

    /// Reads the form, authenticates the client, and answers refusals in Apple's form.
    private func answer(
        _ request: AppleRequest, allowed: Set<String>, bearer: Bool = false,
        _ act: (AppleForm, AppleClient, inout AppleMemory.Content) throws -> AppleAnswer
    ) -> AppleAnswer {
        do {
            let form = try AppleForm(request, allowed: allowed.union(Self.credentials))
            if !bearer, request.headers[.authorization] != nil { throw AppleRejection(.invalidRequest, "credentials are mixed") }
            return try memory.access { content in
                let client = try Self.client(form, content, request.now)
                return try act(form, client, &content)
            }
        } catch let refusal as AppleRejection {
            return .refused(refusal)
        } catch {
            return AppleAnswer(status: .internalServerError, outcome: "\(error)")
        }
    }

    private static func client(_ form: AppleForm, _ content: AppleMemory.Content, _ now: Timestamp) throws(AppleRejection) -> AppleClient {
        let id = try form.require("client_id")
        let secret = try form.require("client_secret")
        guard let client = content.directory.client(id), let team = content.directory.teams[client.group.team] else {
            throw AppleRejection(.invalidClient, "the client is unknown")
        }
        try ClientSecret.check(secret, client: client, team: team, now: now)
        return client
    }

    private static func exchange(
        _ form: AppleForm, _ client: AppleClient, _ content: inout AppleMemory.Content, _ now: Timestamp
    ) throws -> AppleAnswer {
        let code = try content.ledger.redeem(try form.require("code"), client: client.id, redirectURI: form["redirect_uri"], now: now)
        let access = accessToken(for: .person(code.grant), client, &content, now)
        let refresh = "r" + content.octets.text(32, for: "refresh") + ".0." + Hexadecimal.text(content.octets.next(4, for: "refresh-suffix"))
        content.ledger.add(RefreshToken(grant: code.grant), as: refresh)
        content.secrets.add(refreshToken: refresh)
        var order = content.tokenOrder(code.grant, client: client, nonce: code.nonce, now: now)
        order.accessToken = access
        let identity = try content.identityToken(order, now: now)
        return try .json(Tokens(accessToken: access, refreshToken: refresh, identityToken: identity), outcome: "exchanged", isKept: false)
    }

    private static func refresh(
        _ form: AppleForm, _ client: AppleClient, _ content: inout AppleMemory.Content, _ now: Timestamp
    ) throws -> AppleAnswer {
        let grant = try content.ledger.validate(try form.require("refresh_token"), client: client.id, now: now)
        let access = accessToken(for: .person(grant), client, &content, now)
        var order = content.tokenOrder(grant, client: client, nonce: nil, now: now)
        order.accessToken = access
        let identity = try content.identityToken(order, now: now)
        return try .json(Tokens(accessToken: access, identityToken: identity), outcome: "validated", isKept: false)
    }

    private static func migration(
        _ form: AppleForm, _ client: AppleClient, _ content: inout AppleMemory.Content, _ now: Timestamp
    ) throws -> AppleAnswer {
        guard try form.require("scope") == "user.migration" else { throw AppleRejection(.invalidScope, "the scope is unknown") }
        let access = accessToken(for: .migration(team: client.group.team), client, &content, now)
        return try .json(Tokens(accessToken: access), outcome: "migration-token", isKept: false)
    }

    private static func accessToken(
        for purpose: AccessToken.Purpose, _ client: AppleClient, _ content: inout AppleMemory.Content, _ now: Timestamp
    ) -> String {
        let text = "a" + content.octets.text(32, for: "access") + ".0." + Hexadecimal.text(content.octets.next(4, for: "access-suffix"))
        content.ledger.add(AccessToken(purpose: purpose, client: client.id, expiresAt: now + .seconds(AccessToken.lifetime)), as: text)
        content.secrets.add(accessToken: text)
        return text
    }
}

extension TokenEndpoint {
    private struct Sent: Encodable {
        let transferSubject: String

        private enum CodingKeys: String, CodingKey {
            case transferSubject = "transfer_sub"
        }
    }

    private struct Received: Encodable {
        let sub: String
        var email: String?
        var isPrivateEmail: Bool?

        private enum CodingKeys: String, CodingKey {
            case sub, email
            case isPrivateEmail = "is_private_email"
        }
    }

    /// The sending team asks for a person's transfer subject.
    static func sent(
        _ subject: String, to target: String, _ client: AppleClient, _ content: inout AppleMemory.Content
    ) throws -> AppleAnswer {
        let team = client.group.team
        guard target != team, content.directory.teams[target] != nil else { throw AppleRejection(.invalidRequest, "target is no other team") }
        let accounts = Set(content.ledger.consents.keys.map(\.account)).union(content.users.keys)
        guard let account = accounts.first(where: { content.names.subject($0, team: team) == subject }) else {
            throw AppleRejection(.invalidRequest, "nobody has this sub in the team")
        }
        let transferSubject = content.names.transferSubject(account, from: team, to: target)
        content.transfers.tell(transferSubject, of: account, to: target)
        return try .json(Sent(transferSubject: transferSubject), outcome: "sent", isKept: false)
    }

    /// The receiving team asks for the person of a transfer subject.
    static func received(_ subject: String, _ client: AppleClient, _ content: AppleMemory.Content, _ now: Timestamp) throws -> AppleAnswer {
        let team = client.group.team
        guard let account = content.transfers.person(subject, team: team, now: now) else {
            throw AppleRejection(.invalidRequest, "transfer_sub is unknown or its time is over")
        }
        var received = Received(sub: content.names.subject(account, team: team))
        switch content.user(account).mail {
        case .real: received.email = content.user(account).email
        case .relay: (received.email, received.isPrivateEmail) = (content.names.relayAddress(account, team: team), true)
        case .missing, .empty: break
        }
        return try .json(received, outcome: "received", isKept: false)
    }
}

/// Checks the JWT with which a client proves who it is (apple §2.4).
enum ClientSecret {
    /// Seconds.
    static let longestLife: Int64 = 15_777_000
    static let audience = "https://appleid.apple.com"
    /// Seconds that a team's clock may be ahead.
    private static let tolerance: Int64 = 60

    static func check(_ text: String, client: AppleClient, team: AppleTeam, now: Timestamp) throws(AppleRejection) {
        guard let token = CompactToken(text) else { throw refusal("is no JWT") }
        guard token.header["alg"] == .text("ES256") else { throw refusal("is not signed by ES256") }
        guard let key = token.header["kid"]?.text.flatMap({ team.signInKeys[$0] }) else { throw refusal("names no key of the team") }
        guard key.verifies(token.signature, over: token.signingInput) else { throw refusal("has a bad signature") }
        guard token.claims["iss"] == .text(team.id) else { throw refusal("has another iss than the team") }
        guard token.claims["sub"] == .text(client.id) else { throw refusal("has another sub than client_id") }
        guard token.claims["aud"] == .text(audience) else { throw refusal("has another aud") }
        guard let issued = token.claims["iat"]?.number, issued <= now.seconds + tolerance else { throw refusal("has no iat, or one ahead") }
        guard let expires = token.claims["exp"]?.number, expires > now.seconds else { throw refusal("has expired") }
        guard expires - now.seconds <= longestLife else { throw refusal("lives too long") }
    }

    private static func refusal(_ problem: String) -> AppleRejection { AppleRejection(.invalidClient, "client_secret \(problem)") }
}

/// The parameters of a call to Apple's token endpoints (apple §2.11).
struct AppleForm: Sendable {
    private let values: [String: String]

    /// - Parameter allowed: The parameters that the endpoint knows.
    init(_ request: AppleRequest, allowed: Set<String>) throws(AppleRejection) {
        guard request.contentType == "application/x-www-form-urlencoded" else { throw AppleRejection(.invalidRequest, "the content type is no form") }
        let fields = FormFields(encoded: String(decoding: request.body, as: UTF8.self))
        var values: [String: String] = [:]
        for name in fields.names {
            guard allowed.contains(name) else { throw AppleRejection(.invalidRequest, "\(name.prefix(40)) is no parameter here") }
            guard fields.raw(name).count == 1 else { throw AppleRejection(.invalidRequest, "\(name) is repeated") }
            do {
                values[name] = try fields.single(name)
            } catch {
                throw AppleRejection(.invalidClient, "\(name) is not percent-encoded")
            }
        }
        self.values = values
    }

    subscript(_ name: String) -> String? { values[name] }

    func require(_ name: String) throws(AppleRejection) -> String {
        guard let value = values[name], !value.isEmpty else { throw AppleRejection(.invalidRequest, "\(name) is missing") }
        return value
    }
}
