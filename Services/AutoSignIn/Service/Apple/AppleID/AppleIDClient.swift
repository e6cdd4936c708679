internal import Clocks
internal import Faults
internal import Identifiers
internal import Logging
internal import OutboundHttp
internal import TextEncodings

/// The calls to Apple's identity server (apple §2.4, §2.5, §2.10). Each is made once, as codes are good for one use; only a refused client secret is
/// made anew and tried a second time.
struct AppleIDClient: Sendable {
    /// Base address, without a slash at its end.
    let server: String
    let transport: any OutboundTransport
    let secrets: AppleClientSecrets
    let logger: Logger

    /// - Parameter redirectURI: Only where the authorization request carried one.
    /// - Throws: `apple_grant_invalid`, `apple_request_invalid`, `apple_unavailable`.
    func exchange(code: String, app: AppleApp, redirectURI: String? = nil) async throws(Fault) -> AppleGrant {
        var form = [(name: "code", value: code), (name: "grant_type", value: "authorization_code")]
        if let redirectURI { form.append((name: "redirect_uri", value: redirectURI)) }
        let answer = try await post(.token, form, app)
        guard let grant = AppleGrant(answer.body) else { throw unusable(.token, answer) }
        return grant
    }

    /// Checks that the person's consent still stands.
    /// - Throws: `apple_grant_invalid` when it does not; `apple_request_invalid`, `apple_unavailable`: Apple did not say.
    func validate(_ token: AppleRefreshToken, app: AppleApp) async throws(Fault) {
        let answer = try await post(.token, [(name: "grant_type", value: "refresh_token"), (name: "refresh_token", value: token.text)], app)
        guard JSONMembers(answer.body)?.string("access_token") != nil else { throw unusable(.token, answer) }
    }

    /// Ends the authorization; an already invalid token is no error.
    /// - Throws: `apple_grant_invalid`, `apple_request_invalid`, `apple_unavailable`.
    func revoke(_ token: AppleRefreshToken, app: AppleApp) async throws(Fault) {
        _ = try await post(.revoke, [(name: "token", value: token.text), (name: "token_type_hint", value: "refresh_token")], app)
    }

    /// An access token for the calls of a team transfer, good for an hour.
    func migrationToken(app: AppleApp) async throws(Fault) -> AppleAccessToken {
        let answer = try await post(
            .token, [(name: "grant_type", value: "client_credentials"), (name: "scope", value: "user.migration")], app)
        guard let members = JSONMembers(answer.body), let token = AppleGrant.token(members, "access_token") else {
            throw unusable(.token, answer)
        }
        return AppleAccessToken(token)
    }

    /// The identifier by which the receiving team will know the user.
    func transferSubject(of subject: String, target: String, app: AppleApp, token: AppleAccessToken) async throws(Fault) -> String {
        let answer = try await post(.migration, [(name: "sub", value: subject), (name: "target", value: target)], app, bearer: token)
        guard let transfer = JSONMembers(answer.body)?.string("transfer_sub"), VerifiedIdentityToken.isSubject(transfer) else {
            throw unusable(.migration, answer)
        }
        return transfer
    }

    /// The user whom the receiving team knows by that transfer identifier.
    func subject(ofTransfer transfer: String, app: AppleApp, token: AppleAccessToken) async throws(Fault) -> String {
        let answer = try await post(.migration, [(name: "transfer_sub", value: transfer)], app, bearer: token)
        guard let subject = JSONMembers(answer.body)?.string("sub"), VerifiedIdentityToken.isSubject(subject) else {
            throw unusable(.migration, answer)
        }
        return subject
    }

    private func post(
        _ endpoint: AppleIDCall.Endpoint, _ fields: [AppleIDCall.Field], _ app: AppleApp, bearer: AppleAccessToken? = nil
    ) async throws(Fault) -> OutboundAnswer {
        var isRepeated = false
        while true {
            let own = [("client_id", app.client.text), ("client_secret", try secrets.secret(for: app).text)]
            let answer = try await send(AppleIDCall(endpoint: endpoint, form: own + fields, bearer: bearer))
            if answer.isDocument { return answer }
            guard let error = AppleIDError(answer) else { throw unusable(endpoint, answer) }
            if error == .invalidClient, !isRepeated {
                isRepeated = true
                continue
            }
            report(error, endpoint, app)
            throw error.fault
        }
    }

    private func send(_ call: AppleIDCall) async throws(Fault) -> OutboundAnswer {
        do throws(OutboundFailure) {
            return try await transport.send(call.request(at: server))
        } catch {
            logger.warning(
                "apple.no_answer", metadata: ["endpoint": "\(call.endpoint.rawValue)", "kind": "\(error.kind.rawValue)", "cause": "\(error.cause)"])
            throw .appleIsAway(after: .seconds(5), cause: error)
        }
    }

    private func report(_ error: AppleIDError, _ endpoint: AppleIDCall.Endpoint, _ app: AppleApp) {
        let facts: Logger.Metadata = ["endpoint": "\(endpoint.rawValue)", "error": "\(error.rawValue)", "client": "\(app.client)"]
        if error.isOurMistake { logger.error("apple.refuses_client", metadata: facts) } else { logger.info("apple.refused", metadata: facts) }
    }

    /// Status and length only: a body could hold a token.
    private func unusable(_ endpoint: AppleIDCall.Endpoint, _ answer: OutboundAnswer) -> Fault {
        logger.warning(
            "apple.answer_unusable",
            metadata: ["endpoint": "\(endpoint.rawValue)", "status": "\(answer.status)", "bytes": "\(answer.body.count)"])
        return .appleIsAway(after: answer.retryAfter ?? .seconds(5))
    }
}

extension AppleIDClient {
    /// - Throws: `apple_unavailable`.
    func fetchKeys() async throws(Fault) -> PublishedAppleKeys {
        let answer = try await send(AppleIDCall(endpoint: .keys))
        guard answer.isDocument else { throw unusable(.keys, answer) }
        return PublishedAppleKeys(document: answer.body, maxAge: answer.maxAge)
    }
}

extension OutboundAnswer {
    /// `max-age` of `Cache-Control`, at most what keys may serve at all.
    fileprivate var maxAge: Duration? {
        let directives = header("cache-control")?.lowercased().split(separator: ",") ?? []
        for directive in directives {
            let parts = directive.split(separator: "=").map { $0.filter { $0 != " " } }
            guard parts.count == 2, parts[0] == "max-age", let seconds = Int64(parts[1]), seconds >= 0 else { continue }
            return min(.seconds(min(seconds, 1_000_000)), AppleKeyCache.longestUse)
        }
        return nil
    }
}

/// A call to Apple's identity server (apple §2.1).
struct AppleIDCall: Sendable {
    enum Endpoint: String, Sendable {
        case keys = "/auth/keys"
        case authorize = "/auth/authorize"
        case token = "/auth/token"
        case revoke = "/auth/revoke"
        case migration = "/auth/usermigrationinfo"
    }

    typealias Field = (String, String)

    let endpoint: Endpoint
    /// The fields of an `application/x-www-form-urlencoded` body; `nil`: a GET.
    var form: [Field]?
    var bearer: AppleAccessToken?

    func request(at server: String) -> OutboundRequest {
        var headers = [(name: "accept", value: "application/json")]
        if form != nil { headers.append((name: "content-type", value: "application/x-www-form-urlencoded")) }
        if let bearer { headers.append((name: "authorization", value: "Bearer \(bearer.text)")) }
        return OutboundRequest(
            form == nil ? .get : .post, server + endpoint.rawValue, headers: headers, body: form.map { Array(FormEncoding.encode($0).utf8) })
    }
}

enum AppleRefreshSubject {}
enum AppleAccessSubject {}

/// Good for validating and revoking a consent, by the client id that it was given to.
typealias AppleRefreshToken = Secret<AppleRefreshSubject>
typealias AppleAccessToken = Secret<AppleAccessSubject>

/// Apple's answer to a code (apple §2.4).
struct AppleGrant: Sendable {
    let accessToken: AppleAccessToken
    let refreshToken: AppleRefreshToken
    /// Compact JWS, unverified.
    let identityToken: String

    /// - Returns: `nil` when a part is missing.
    init?(_ answer: [UInt8]) {
        guard let members = JSONMembers(answer), let access = AppleGrant.token(members, "access_token"),
            members.string("token_type")?.lowercased() == "bearer", let refresh = AppleGrant.token(members, "refresh_token"),
            let identity = AppleGrant.token(members, "id_token")
        else { return nil }
        accessToken = AppleAccessToken(access)
        refreshToken = AppleRefreshToken(refresh)
        identityToken = identity
    }

    /// Bytes; no genuine token is longer.
    private static let longest = 8 * 1024

    static func token(_ members: JSONMembers, _ name: String) -> String? {
        members.string(name).flatMap { text in
            (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? text : nil
        }
    }
}

enum AppleClientSecretSubject {}
typealias AppleClientSecret = Secret<AppleClientSecretSubject>

/// Makes client secrets: JWT, ES256, for one client id each (apple §2.4).
struct AppleClientSecrets: Sendable {
    /// Far below Apple's limit of 15777000 s.
    static let lifetime: Int64 = 600

    private struct Claims: Encodable {
        let iss: String
        // Seconds since 1970.
        let iat: Int64
        let exp: Int64
        let aud = IdentityTokenExpectation.issuer
        let sub: String
    }

    let keys: AppleKeyFolder
    let clock: any WallClock

    /// - Throws: `apple_request_invalid` when the team's key cannot be used: an operator has to look.
    func secret(for app: AppleApp) throws(Fault) -> AppleClientSecret {
        guard let key = keys.key(app.team.signInKeyReference) else {
            throw Fault(.appleRequestInvalid, "The team's key for Sign in with Apple cannot be used.")
        }
        let now = clock.now().seconds
        let claims = Claims(iss: app.team.teamID, iat: now, exp: now + Self.lifetime, sub: app.client.text)
        do {
            return AppleClientSecret(try ES256Token.sign(claims, keyID: app.team.signInKeyID, type: nil, key: key))
        } catch {
            throw .unexpected(error)
        }
    }
}
