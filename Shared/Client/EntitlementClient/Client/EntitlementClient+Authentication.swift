internal import Octets
internal import Synchronization

extension EntitlementClient {
    /// Signs a person in: by the platform if it can, else at a provider that they choose (client-sdk §2.4).
    ///
    /// A second call ends the first one. Cancelling the task counts as cancelling the sign-in.
    /// - Parameters:
    ///   - force: Sign in even if the device is signed in already.
    ///   - data: Pairs for the server, for a promotional trial for example.
    ///   - filter: Ids of the providers that the platform's picker lists.
    ///   - interaction: The app's pages.
    /// - Throws: `EntitlementError`: `.notConfigured`, `.providerNotSelected`, `.authenticationFailed`.
    public func authenticate(
        force: Bool = false, data: [String: String] = [:], filter: ProviderFilter? = nil, interaction: some AuthenticationInteraction
    ) async throws -> Session {
        try await authenticate(force: force, data: data, filter: filter, preselected: nil, interaction)
    }

    /// Signs a person in at one provider, without a picker.
    ///
    /// - Parameters:
    ///   - provider: As the configuration names it.
    ///   - data: Pairs for the server, for a promotional trial for example.
    ///   - interaction: The app's pages.
    /// - Throws: As ``authenticate(force:data:filter:interaction:)``.
    public func signIn(
        at provider: Provider.ID, data: [String: String] = [:], interaction: some AuthenticationInteraction
    ) async throws -> Session {
        try await runAttempt(interaction) { [self] attempt in
            let configuration = try await ready()
            return try await signIn(provider, data, attempt, configuration)
        }
    }

    /// - Parameter preselected: The provider that the app named before: the picker is skipped.
    func authenticate(
        force: Bool, data: [String: String], filter: ProviderFilter?, preselected: Provider.ID?, _ interaction: any AuthenticationInteraction
    ) async throws -> Session {
        try await runAttempt(interaction) { [self] attempt in
            let configuration = try await ready()
            if !force, let token = await goodToken(configuration) { return token.session }
            return try await chooseWay(data, filter, preselected, attempt, configuration)
        }
    }

    /// Cancels the running sign-in on behalf of the person.
    /// - Returns: False when none runs.
    func cancelSignIn() -> Bool {
        guard let attempt, attempt.end == nil else { return false }
        attempt.cancel(by: .person)
        return true
    }

    // MARK: - One attempt at a time

    private func runAttempt(
        _ interaction: any AuthenticationInteraction, _ flow: @escaping @Sendable (SignInAttempt) async throws -> Session
    ) async throws -> Session {
        let previous = attempt
        let attempt = SignInAttempt(interaction) { [weak self] name in self?.knownDegraded.withLock { $0.contains(name) } ?? false }
        self.attempt = attempt
        previous?.cancel(by: .app)
        let task = Task {
            await previous?.finished()
            try Task.checkCancellation()
            return try await flow(attempt)
        }
        attempt.run(task)
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            attempt.cancel(by: .app)
        }
        await attempt.close()
        if self.attempt === attempt { self.attempt = nil }
        return try ended(result, attempt)
    }

    private func ended(_ result: Result<Session, any Error>, _ attempt: SignInAttempt) throws -> Session {
        do {
            return try result.get()
        } catch let error as EntitlementError {
            if attempt.end == nil, case .authenticationFailed(let code) = error {
                track(tracked(nil, isCached: false))
                if let code { emit(Status(code)) }
            }
            if attempt.end != nil { return try cancelled(attempt) }
            throw error
        } catch is CancellationError {
            return try cancelled(attempt)
        } catch let failure as ServerFailure {
            track(tracked(nil, isCached: false))
            emit(Status(.authenticationFailed, details: failure.details))
            throw EntitlementError.authenticationFailed(.authenticationFailed)
        }
    }

    private func cancelled(_ attempt: SignInAttempt) throws -> Session {
        if attempt.end == .person { emit(Status(.pickerCancelled)) }
        throw EntitlementError.providerNotSelected
    }

    // MARK: - The way to sign in

    private func chooseWay(
        _ data: [String: String], _ filter: ProviderFilter?, _ preselected: Provider.ID?, _ attempt: SignInAttempt,
        _ configuration: ServiceConfiguration
    ) async throws -> Session {
        if let preselected { return try await signIn(preselected, data, attempt, configuration) }
        guard configuration.hasPlatformSignIn, environment.providerAccounts != nil else {
            return try await display(nil, data, attempt, configuration)
        }
        if let refusal = try await askPermission() { return try await display(refusal, data, attempt, configuration) }
        let decision = try await askPlatform(filter, attempt, configuration)
        return try await follow(decision, data, attempt, configuration)
    }

    /// - Returns: Why the platform may not be asked; `nil` when it may.
    private func askPermission(prompting: Bool = true) async throws -> Status? {
        guard let accounts = environment.providerAccounts else { return Status(.platformRequestFailed) }
        do {
            switch try await abandonable({ try await accounts.accessStatus(prompting: prompting) }) {
            case .granted: return nil
            case .denied, .restricted: return Status(.permissionDenied)
            case .notDetermined: return Status(.permissionUndetermined)
            }
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            return Status(.platformRequestFailed, message: PlatformError(any: error).explanation)
        }
    }

    /// Checks whether the device is signed in, and lets the person choose a provider if it is not.
    private func askPlatform(
        _ filter: ProviderFilter?, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> PlatformDecision {
        var request = AccountMetadataRequest(channelIdentifier: environment.channelIdentifier)
        let first = PlatformDecision(
            try await platformOutcome(request, NoDialogs()), wasAsked: false, configuration, degraded: degradedProviders, now: now(configuration))
        guard first == .signedOut else { return first }
        (request.supportedProviders, request.featuredProviders) = configuration.pickerList(filter)
        request.isInterruptionAllowed = true
        let names = Set(degradedProviders.compactMap { configuration.provider($0)?.platformMappingID })
        knownDegraded.withLock { $0 = names }
        return PlatformDecision(
            try await platformOutcome(request, attempt), wasAsked: true, configuration, degraded: degradedProviders, now: now(configuration))
    }

    private func follow(
        _ decision: PlatformDecision, _ data: [String: String], _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        switch decision {
        case .signIn(let id, let account):
            guard let provider = configuration.provider(id) else { throw EntitlementError.authenticationFailed(.authenticationFailed) }
            return try await signInByPlatform(provider, account, data, attempt, configuration)
        case .ordinaryLogin(let id): return try await signIn(id, data, attempt, configuration)
        case .degraded(let id):
            if let session = try await degradedSession(id, configuration) { return session }
            return try await display(Status(.platformRequestFailed, message: "the provider is out of order"), data, attempt, configuration)
        case .permissionLost:
            let status = try await askPermission(prompting: false) ?? Status(.platformRequestFailed, message: "the platform refused the request")
            return try await display(status, data, attempt, configuration)
        case .signedOut: return try await display(Status(.otherProvider), data, attempt, configuration)
        case .display(let code, let message): return try await display(Status(code, message: message), data, attempt, configuration)
        }
    }

    private func signInByPlatform(
        _ provider: Provider, _ account: AccountMetadata, _ data: [String: String], _ attempt: SignInAttempt,
        _ configuration: ServiceConfiguration
    ) async throws -> Session {
        func failed(_ message: String) async throws -> Session {
            try await display(Status(.platformRequestFailed, message: message), data, attempt, configuration)
        }
        let (verificationToken, attributeNames): (String, [String])
        do {
            switch try await api(configuration, provider.id).beginPlatformSignIn(at: provider, account, returnAddress: environment.returnAddress) {
            case .request(let token, let names): (verificationToken, attributeNames) = (token, names)
            case .alreadySignedIn:
                return succeeded(try await fetchSession(.provider(provider.id, source: .apple, account: account), configuration))
            case .refused:
                if let session = try await degradedSession(provider.id, configuration) { return session }
                return try await failed("the server made no profile request")
            case .unsupported: return try await follow(.display(.unsupportedProvider, message: nil), data, attempt, configuration)
            case .failed(let reason): return try await failed(reason)
            }
        } catch let failure as ServerFailure {
            return try await failed("the server made no profile request (\(failure.details))")
        }
        switch try await platformAnswer(verificationToken, attributeNames) {
        case .failure(let error) where error.code == .accessNotGranted:
            return try await follow(.permissionLost, data, attempt, configuration)
        case .failure(let error): return try await failed(error.explanation)
        case .metadata(let answer):
            guard answer.providerIdentifier == account.providerIdentifier else {
                return try await failed("the platform named another provider the second time")
            }
            guard let response = answer.attributeQueryResponse else { return try await failed("the provider gave no answer") }
            do {
                return succeeded(try await exchange(response, answer, provider, configuration))
            } catch EntitlementError.authenticationFailed(let code) {
                return try await display(Status(code ?? .authenticationFailed), data, attempt, configuration)
            } catch let failure as ServerFailure {
                return try await display(Status(.authenticationFailed, details: failure.details), data, attempt, configuration)
            }
        }
    }

    /// The ordinary picker of the app, after the code that says why.
    private func display(
        _ status: Status?, _ data: [String: String], _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        try Task.checkCancellation()
        if let status { emit(status) }
        guard let id = try await attempt.choose(configuration.providers, status?.code) else {
            emit(Status(.pickerCancelled))
            throw EntitlementError.providerNotSelected
        }
        return try await signIn(id, data, attempt, configuration)
    }

    /// Keeps a session that a person signed in for, and tells analytics.
    func succeeded(_ token: StoredToken) -> Session {
        stateStore.keep(token)
        stateStore.changeMarks { $0.signedOutByHand = false }
        track(tracked(token.session, isCached: false))
        if token.source == .degraded {
            degradedProviders.insert(token.provider)
            emit(Status(.degradedAuthentication))
        }
        return token.session
    }
}
