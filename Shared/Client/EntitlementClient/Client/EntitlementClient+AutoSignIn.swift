internal import Foundation
internal import Octets

/// Automatic Sign-In (client-sdk §2.7).
extension EntitlementClient {
    /// Signs in with the value on the Apple Account, if there is one and the app is signed out. Call it after `configure`.
    ///
    /// - Returns: The session, also one that was there before (the value is then not read); `nil` when an ordinary sign-in is needed.
    /// - Throws: `EntitlementError.notConfigured`, `CancellationError`.
    public func redeemAutomaticSignIn() async throws -> Session? {
        let configuration = try await ready()
        if let token = await goodToken(configuration) { return token.session }
        guard let platform = environment.autoSignIn, !stateStore.marks.signedOutByHand else { return nil }
        guard let found = try await quietly({ try await platform.token() }), found.authorization == .granted, let value = found.value else {
            return nil
        }
        let order = ["value": value, "bundleId": environment.bundleID, "environment": platform.environment.rawValue]
        do {
            let answer = try await post("redeem", order, configuration)
            guard answer.status == 200 else { return nil }
            guard case .session(var token) = try await lookForSession(.any, configuration) else { return nil }
            token.isAutomatic = true
            stateStore.keep(token)
            track(tracked(token.session, isCached: false))
            return token.session
        } catch is ServerFailure {
            return nil
        }
    }

    /// Offers Automatic Sign-In on the other devices of the Apple Account. Call it after an ordinary sign-in, never during playback.
    ///
    /// - Returns: False when the person did not want it, has refused it for good, or the device has no prompt.
    /// - Throws: `EntitlementError.notAuthenticated` without a session that a person signed in for; `.automaticSignIn` when the value could not
    ///   be made or stored; `.notConfigured`; `CancellationError`.
    public func enableAutomaticSignIn() async throws -> Bool {
        let configuration = try await ready()
        guard let token = await goodToken(configuration), !token.isAutomatic, token.source == .regular || token.source == .apple else {
            throw EntitlementError.notAuthenticated
        }
        guard let platform = environment.autoSignIn, platform.hasPrompt else { return false }
        if let found = try await quietly({ try await platform.token() }), found.authorization == .denied { return false }
        guard let context = try await quietly({ try await platform.requestAuthorization() }), context.authorization == .granted else { return false }
        let issued = try await issue(context, platform, configuration)
        do {
            try await abandonable { try await platform.update(issued.value, context: context) }
        } catch {
            // Also when the task was cancelled: the value may not be on the account, and must not stay good.
            try? await confirm(issued, isStored: false, configuration)
            if error is CancellationError { throw error }
            throw EntitlementError.automaticSignIn("the platform did not take the value: \(error)")
        }
        try await confirm(issued, isStored: true, configuration)
        stateStore.changeMarks { $0.autoSignInFamily = issued.familyId }
        return true
    }

    /// Ends Automatic Sign-In for all devices of the Apple Account: at the server first, then on the account.
    ///
    /// A session of an ordinary login stays; one that was made by the value ends.
    /// - Throws: `EntitlementError.automaticSignIn` when the server could not be told: nothing has changed then. `.notConfigured`, `CancellationError`.
    public func disableAutomaticSignIn() async throws {
        let configuration = try await ready()
        guard let platform = environment.autoSignIn else { return }
        let value = try await quietly { try await platform.token() }?.value
        guard let subject = value.map({ ["value": $0] }) ?? stateStore.marks.autoSignInFamily.map({ ["familyId": $0] }) else { return }
        let answer = try await posted("tokens/revoke", subject.merging(["reason": "opt_out"]) { first, _ in first }, configuration)
        guard answer.status == 200 || answer.status == 404 else { throw Self.refusal(answer) }
        stateStore.changeMarks { $0.autoSignInFamily = nil }
        if let token = stateStore.token(of: configuration.requestor), token.isAutomatic { stateStore.removeToken(of: configuration.requestor) }
        do {
            try await abandonable { try await platform.delete() }
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            throw EntitlementError.automaticSignIn("the platform did not delete the value: \(error)")
        }
    }

    // MARK: - Calls (apple §4)

    private struct Issued: Decodable, Sendable {
        let familyId: String
        let value: String
    }

    private func issue(
        _ context: AutoSignInContext, _ platform: any AutoSignInPlatform, _ configuration: ServiceConfiguration
    ) async throws -> Issued {
        let answer = try await posted(
            "tokens",
            [
                "bundleId": environment.bundleID, "environment": platform.environment.rawValue,
                "contextAuthorization": context.authorization.name,
            ], configuration)
        guard answer.status == 201, let issued = answer.decoded(Issued.self) else { throw Self.refusal(answer) }
        return issued
    }

    private func confirm(_ issued: Issued, isStored: Bool, _ configuration: ServiceConfiguration) async throws {
        let call = try autoSignInCall(
            "tokens/\(FormEncoding.encode(issued.familyId))/stored", ["outcome": isStored ? "stored" : "failed"], configuration)
        let (link, options) = (configuration.firstLink, options)
        // In a task of its own: a cancelled one could not tell the server.
        let outcome = await Task { try await link.send(call, options: options) }.result
        guard case .success(let answer) = outcome, answer.status == 200 else {
            throw EntitlementError.automaticSignIn("the server could not be told that the value is \(isStored ? "stored" : "not stored")")
        }
    }

    private func posted(_ path: String, _ order: [String: String], _ configuration: ServiceConfiguration) async throws -> HTTPResponse {
        do {
            return try await post(path, order, configuration)
        } catch let failure as ServerFailure {
            throw EntitlementError.automaticSignIn(failure.details)
        }
    }

    private func post(_ path: String, _ order: [String: String], _ configuration: ServiceConfiguration) async throws -> HTTPResponse {
        try await configuration.firstLink.send(autoSignInCall(path, order, configuration), options: options)
    }

    private func autoSignInCall(
        _ path: String, _ order: [String: String], _ configuration: ServiceConfiguration
    ) throws -> ServerCall {
        ServerCall(
            method: .post, path: "/auto-signin/v1/\(FormEncoding.encode(configuration.requestor.rawValue))/\(path)",
            json: try JSONEncoder().encode(order),
            headers: [environment.device.identifierHeader, HTTPHeader("Idempotency-Key", UUID().uuidString)])
    }

    private static func refusal(_ answer: HTTPResponse) -> EntitlementError {
        .automaticSignIn(answer.decoded(ServerAnswers.Failure.self)?.code ?? "status \(answer.status)")
    }

    /// An error of the platform counts as no value (apple §1.1).
    /// - Throws: `CancellationError` only.
    private func quietly<Value: Sendable>(_ action: @escaping @Sendable () async throws -> Value) async throws -> Value? {
        do {
            return try await abandonable(action)
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            return nil
        }
    }
}

extension EntitlementClient {
    /// Signs the person out (client-sdk §2.5). The local state is cleared first, no matter what the servers answer; a running sign-in ends.
    ///
    /// A server that cannot be reached is told at the next `configure`.
    /// - Parameter interaction: Opens the provider's logout, on devices with a browser.
    /// - Returns: True when the platform stays signed in: then the app tells the person where to sign out.
    /// - Throws: `CancellationError`; the person is signed out here all the same.
    public func signOut(interaction: some AuthenticationInteraction) async throws -> SignOutResult {
        attempt?.cancel(by: .app)
        guard let configuration = try? await ready() else {
            try Task.checkCancellation()
            forgetSessions()
            return SignOutResult(mustSignOutInSettings: false)
        }
        let requestor = configuration.requestor
        let token = stateStore.token(of: requestor)
        guard !stateStore.sessions.isEmpty else { return SignOutResult(mustSignOutInSettings: false) }
        let isOfPlatform = token?.source == .apple
        let opensPages = environment.device.platform.hasBrowser
        forgetSessions()
        preauthorizations = PreauthorizationCache()
        if opensPages, isOfPlatform { emit(Status(.signOutInSettings)) }
        let platformStays = try await signOutAtServer(token, configuration, opensPages ? interaction : nil)
        try Task.checkCancellation()
        let isSaid = opensPages && isOfPlatform
        if !isSaid, isOfPlatform || platformStays { emit(Status(.signOutInSettings)) }
        return SignOutResult(mustSignOutInSettings: isOfPlatform || platformStays)
    }

    /// Ends all sessions here, and records the sign-outs to report to the servers.
    private func forgetSessions() {
        let providers = stateStore.sessions.tokens.mapValues(\.provider)
        guard !providers.isEmpty else { return }
        stateStore.clearSessions()
        stateStore.changeMarks { marks in
            marks.dueSignOuts.formUnion(providers.keys)
            marks.dueProviders = (marks.dueProviders ?? [:]).merging(providers) { $1 }
            marks.signedOutByHand = true
        }
    }

    /// Tells the server, and opens the page that lets the provider end its own session too.
    /// - Parameter interaction: `nil`: the device cannot open pages.
    /// - Returns: True when the platform would sign the person in again, as far as the server knows.
    private func signOutAtServer(
        _ token: StoredToken?, _ configuration: ServiceConfiguration, _ interaction: (any AuthenticationInteraction)?
    ) async throws -> Bool {
        let (style, returnAddress) = browser(for: token.flatMap { configuration.provider($0.provider) })
        let answer = await tellServer(token?.provider, configuration, opensPages: interaction != nil, returnAddress)
        guard case .page(let page, let isDone) = answer, let interaction else {
            if case .done(let platformStays) = answer { return platformStays }
            return false
        }
        let end = try await abandonable { await interaction.openLogin(page, style: style == .webView ? .hidden : style) }
        if isDone { return false }
        if let end, Self.isReturn(end, to: returnAddress) {
            signedOut(configuration.requestor)
        } else {
            await tellServer(token?.provider, configuration, opensPages: false, returnAddress)
        }
        return false
    }

    /// Not cancelled with the task: the person is signed out, and the server should know.
    @discardableResult
    private func tellServer(
        _ provider: Provider.ID?, _ configuration: ServiceConfiguration, opensPages: Bool, _ returnAddress: String
    ) async -> SignOutAnswer {
        let api = api(configuration, provider)
        let answer = try? await abandonable(cancels: false) {
            try await api.signOut(of: provider, opensPages: opensPages, returnAddress: returnAddress)
        }
        switch answer {
        case .done, .page(_, isDone: true): signedOut(configuration.requestor)
        case .page, .failed, nil: break
        }
        return answer ?? .failed
    }

    func signedOut(_ requestor: Requestor.ID) {
        stateStore.changeMarks { marks in
            marks.dueSignOuts.remove(requestor.rawValue)
            marks.dueProviders?[requestor.rawValue] = nil
        }
    }
}

/// Answers of preauthorizations that can be used again for a while.
struct PreauthorizationCache: Sendable {
    struct Key: Hashable, Sendable {
        let provider: Provider.ID
        let userID: String
        let resources: [Resource.ID]
    }

    private static let limit = 32
    private var answers: [Key: (decisions: [Decision], until: Duration)] = [:]

    /// - Parameter now: The clock's uptime.
    func decisions(_ key: Key, at now: Duration) -> [Decision]? {
        guard let answer = answers[key], now < answer.until else { return nil }
        return answer.decisions
    }

    mutating func keep(_ decisions: [Decision], _ key: Key, until end: Duration, now: Duration) {
        answers = answers.filter { now < $0.value.until }
        if answers.count >= Self.limit { answers = [:] }
        answers[key] = (decisions, end)
    }
}
