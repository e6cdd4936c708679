internal import Octets
internal import Foundation

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
            let token = keeper.token(of: configuration.requestor)
            if let decision = CheckDecision.decide(
                token, deviceID: environment.device.id, configuration, now: now(configuration), platform: platform)
            {
                switch decision.effect {
                case .keep: break
                case .removeToken: keeper.removeToken(of: configuration.requestor)
                case .clear: keeper.clearSessions()
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
