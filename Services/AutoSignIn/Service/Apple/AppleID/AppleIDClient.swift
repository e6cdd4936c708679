internal import Faults
internal import Logging
internal import OutboundHttp

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

    /// Whether the person's consent still stands.
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

    /// What the receiving team will know the user by.
    func transferSubject(of subject: String, target: String, app: AppleApp, token: AppleAccessToken) async throws(Fault) -> String {
        let answer = try await post(.migration, [(name: "sub", value: subject), (name: "target", value: target)], app, bearer: token)
        guard let transfer = JSONMembers(answer.body)?.string("transfer_sub"), VerifiedIdentityToken.isSubject(transfer) else {
            throw unusable(.migration, answer)
        }
        return transfer
    }

    /// Whom the receiving team knows by that transfer identifier.
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
