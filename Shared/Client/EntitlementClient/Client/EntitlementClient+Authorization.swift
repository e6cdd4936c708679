internal import Foundation
internal import Octets

extension EntitlementClient {
    /// Gets a media token for one play, asking the provider unless it has permitted the resource before.
    ///
    /// Events before the result: tracking, then the code of the refusal, or of the exception that permitted it.
    /// - Parameters:
    ///   - resource: A channel's name, or Media RSS.
    ///   - data: Pairs for the server, for a promotional trial for example.
    /// - Throws: `EntitlementError.notConfigured`, or `.denied`; with the code `.notAuthenticated` the device is not signed in, and nothing was asked.
    public func authorize(_ resource: Resource.ID, data: [String: String] = [:]) async throws -> MediaToken {
        let configuration = try await ready()
        guard let session = await goodSession(configuration) else {
            throw EntitlementError.denied(AuthorizationDenial(code: .notAuthenticated, statusCode: nil))
        }
        let token = session.token
        let isCached = stateStore.permission(resource, token).map { now(configuration) < $0.expires } ?? false
        do {
            let grant = try await api(configuration, token.provider).authorize(resource, data: data, session, isPermitted: isCached)
            denials.forget(resource)
            track(tracked(resource, token, isCached: isCached, nil))
            if let exception = grant.exception { emit(Status(exception, resource: resource)) }
            return grant.token
        } catch let refusal as AuthorizationRefusal {
            throw EntitlementError.denied(denied(resource, refusal, token, isCached))
        } catch let failure as ServerFailure {
            throw EntitlementError.denied(denied(resource, AuthorizationRefusal(failure), token, isCached))
        }
    }

    private func denied(
        _ resource: Resource.ID, _ refusal: AuthorizationRefusal, _ token: StoredToken, _ isCached: Bool
    ) -> AuthorizationDenial {
        var status = refusal.status
        if refusal.endsSession { stateStore.removeToken(of: token.requestor) }
        if status == .notAuthorized, !refusal.endsSession, denials.isRepeated(resource, at: environment.clock.uptime) { status = .repeatedlyDenied }
        track(tracked(resource, token, isCached: isCached, (status, refusal.text)))
        emit(Status(status, message: refusal.text.isEmpty ? nil : refusal.text, resource: resource))
        return AuthorizationDenial(code: refusal.code, statusCode: status, text: refusal.text)
    }

    private func tracked(
        _ resource: Resource.ID, _ token: StoredToken, isCached: Bool, _ failure: (code: StatusCode, text: String)?
    ) -> Tracking {
        .authorization(
            isSuccess: failure == nil, provider: token.provider, userID: token.userID, isCached: isCached, error: failure?.code.rawValue ?? "",
            details: failure?.text ?? "", device: environment.device.tracked)
    }
}

extension EntitlementClient {
    /// Reads metadata of the session or the person.
    ///
    /// Values of the provider are fetched at each call, because they may change.
    /// - Returns: A value of `nil` when there is none, the device is not signed in, or the servers have no answer now.
    /// - Throws: `EntitlementError.notConfigured`, `CancellationError`.
    public func metadata(_ key: MetadataKey) async throws -> MetadataValue {
        let configuration = try await ready()
        switch key {
        case .deviceID: return MetadataValue(environment.revealsDeviceID ? .string(environment.device.id) : nil)
        case .authenticationExpiry:
            return MetadataValue(await goodToken(configuration).map { Self.milliseconds($0.expires) })
        case .authorizationExpiry(let resource):
            guard let token = await goodToken(configuration), let permission = stateStore.permission(resource, token),
                now(configuration) < permission.expires
            else { return MetadataValue(nil) }
            return MetadataValue(Self.milliseconds(permission.expires))
        case .user(let name):
            guard let session = await goodSession(configuration) else { return MetadataValue(nil) }
            return try await userMetadata(name, session, configuration)
        }
    }

    private func userMetadata(_ name: String, _ session: ActiveSession, _ configuration: ServiceConfiguration) async throws -> MetadataValue {
        do {
            guard let metadata = try await api(configuration, session.token.provider).userMetadata(session) else { return MetadataValue(nil) }
            return MetadataValue(metadata.values[name], isEncrypted: metadata.encrypted.contains(name))
        } catch is ServerFailure {
            return MetadataValue(nil)
        }
    }

    private static func milliseconds(_ date: Date) -> JSONValue { .string("\(Int64((date.timeIntervalSince1970 * 1000).rounded()))") }
}

extension EntitlementClient {
    /// - Throws: `CancellationError` only.
    func lookForSession(_ search: SessionSearch, _ configuration: ServiceConfiguration) async throws -> SessionAnswer {
        let provider: Provider.ID? =
            switch search {
            case .login(let login): login.code.provider
            case .provider(let id, _, _), .trial(let id, _): id
            case .any: nil
            }
        do {
            return try await api(configuration, provider).session(search)
        } catch ServerFailure.throttled {
            return .throttled
        } catch let failure as ServerFailure {
            return .failed(failure.details)
        }
    }

    /// The session that must be there after a login.
    /// - Throws: `EntitlementError.authenticationFailed` with N130 or N500, or what the server refuses it for; `CancellationError`.
    func fetchSession(_ search: SessionSearch, _ configuration: ServiceConfiguration) async throws -> StoredToken {
        var outcome = try await lookForSession(search, configuration)
        if case .throttled = outcome { outcome = try await lookForSession(search, configuration) }
        switch outcome {
        case .session(let token): return token
        case .none, .over: throw EntitlementError.authenticationFailed(.noSession)
        case .refused(let code): throw EntitlementError.authenticationFailed(code)
        case .throttled, .failed: throw EntitlementError.authenticationFailed(.authenticationFailed)
        }
    }

    /// Takes a session of a login on: the person may have chosen another provider, and the server may have let them in without it.
    func loggedIn(_ token: StoredToken, _ configuration: ServiceConfiguration) -> Session {
        var token = token
        if configuration.provider(token.provider)?.isTempPass == true { token.source = .tempPass }
        return succeeded(token)
    }
}

extension EntitlementClient {
    /// Asks which of some resources the person's subscription covers, to mark them in the app. Playing needs ``authorize(_:data:)`` all the same.
    ///
    /// - Parameters:
    ///   - resources: As many as the integration permits, by default 5.
    ///   - disabling: Caches not to use.
    /// - Returns: In the servers' order, which is that of the request.
    /// - Throws: `EntitlementError.preauthorizationFailed`; when the servers refused, after the event P100. `CancellationError`.
    public func preauthorize(_ resources: [Resource.ID], disabling: Set<PreauthorizationFeature> = []) async throws -> [Decision] {
        let configuration: ServiceConfiguration
        do {
            configuration = try await ready()
        } catch is EntitlementError {
            throw EntitlementError.preauthorizationFailed(.requestorNotConfigured)
        }
        let (decision, session) = await check(configuration)
        guard decision.isAuthenticated, let session else {
            throw EntitlementError.preauthorizationFailed(decision.row == "C2" ? .sessionExpired : .sessionMissing)
        }
        let key = PreauthorizationCache.Key(provider: session.token.provider, userID: session.token.userID, resources: resources)
        if !disabling.contains(.localCache), let known = preauthorizations.decisions(key, at: environment.clock.uptime) { return known }
        let decisions = try await askDecisions(resources, avoidsCaches: disabling.contains(.remoteCache), session, configuration)
        let now = environment.clock.uptime
        preauthorizations.keep(decisions, key, until: now + Self.preauthorizationLifetime, now: now)
        return decisions
    }

    private func askDecisions(
        _ resources: [Resource.ID], avoidsCaches: Bool, _ session: ActiveSession, _ configuration: ServiceConfiguration
    ) async throws -> [Decision] {
        let answer: PreauthorizationAnswer
        do {
            answer = try await api(configuration, session.token.provider).decisions(resources, avoidsCaches: avoidsCaches, session)
        } catch let failure as ServerFailure {
            throw EntitlementError.preauthorizationFailed(PreauthorizationStatus(failure))
        }
        switch answer {
        case .decisions(let decisions): return decisions
        case .unknownFormat: throw EntitlementError.preauthorizationFailed(.unknownFormat)
        case .refused(let status):
            emit(Status(.preauthorizationFailed, message: status.message, details: status.details ?? status.code))
            throw EntitlementError.preauthorizationFailed(status)
        }
    }
}

extension EntitlementClient {
    /// States whether a person is signed in, without a call to the servers. The platform is asked only about a session that came from it.
    ///
    /// Events before the result: tracking, then the code that tells how the device is signed in, or why it is not.
    /// - Returns: After a `configure` that is running; without a configuration the device is not signed in.
    public func authenticationState() async -> AuthenticationState {
        guard let configuration = try? await ready() else {
            track(tracked(nil, isCached: false))
            emit(Status(.notAuthenticated))
            return .notAuthenticated(reason: .notAuthenticated)
        }
        let (decision, active) = await check(configuration)
        // The result of a cancelled platform request has no meaning.
        guard !Task.isCancelled else { return .notAuthenticated(reason: .notAuthenticated) }
        let session = decision.isAuthenticated ? active?.token.session : nil
        track(tracked(session, isCached: session != nil))
        if let status = decision.status { emit(Status(status, details: decision.details)) }
        if let session { return .authenticated(session) }
        return .notAuthenticated(reason: decision.status ?? .notAuthenticated)
    }

    /// Decides, and removes what is not good any more; sends nothing.
    func check(_ configuration: ServiceConfiguration) async -> (decision: CheckDecision, session: ActiveSession?) {
        var platform: CheckDecision.Platform?
        while true {
            let token = stateStore.token(of: configuration.requestor)
            if let decision = CheckDecision.decide(
                token, deviceID: environment.device.id, configuration, now: now(configuration), platform: platform)
            {
                switch decision.effect {
                case .keep: break
                case .removeToken: stateStore.removeToken(of: configuration.requestor)
                case .clear: stateStore.clearSessions()
                }
                var session = token.map { ActiveSession(token: $0) }
                if case .account(let account) = platform { session?.account = account }
                return (decision, session)
            }
            platform = await askPlatform()
        }
    }

    /// The session, if it is good; sends nothing.
    func goodSession(_ configuration: ServiceConfiguration) async -> ActiveSession? {
        let (decision, session) = await check(configuration)
        return decision.isAuthenticated ? session : nil
    }

    func goodToken(_ configuration: ServiceConfiguration) async -> StoredToken? { await goodSession(configuration)?.token }

    private func askPlatform() async -> CheckDecision.Platform {
        guard let accounts = environment.providerAccounts else { return .failed("the device has no single sign-on") }
        let request = AccountMetadataRequest(channelIdentifier: environment.channelIdentifier)
        do {
            let access = try await abandonable { try await accounts.accessStatus(prompting: false) }
            guard access == .granted else { return .permission(access) }
            return .account(try await abandonable { try await accounts.metadata(request, handler: NoDialogs()) })
        } catch {
            return .failed(PlatformError(any: error).explanation)
        }
    }

    func tracked(_ session: Session?, isCached: Bool) -> Tracking {
        .authentication(
            isSuccess: session != nil, provider: session?.provider, userID: session?.userID ?? "", isCached: isCached,
            device: environment.device.tracked)
    }
}

extension EntitlementClient {
    /// The session, if it is good. As ``authenticationState()``, without an event.
    package func session() async -> Session? {
        guard let configuration = try? await ready() else { return nil }
        return await goodToken(configuration)?.session
    }

    /// The requestor's providers, in the servers' order.
    /// - Throws: `EntitlementError.notConfigured`, `CancellationError`.
    package func providers() async throws -> [Provider] { try await ready().providers }

    /// True when the device is not signed in although it is configured. As ``authenticationState()``, without an event.
    func needsSignIn() async -> Bool {
        guard let configuration = try? await ready() else { return false }
        return await goodToken(configuration) == nil
    }
}
