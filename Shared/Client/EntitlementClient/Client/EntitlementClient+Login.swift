internal import Octets
internal import Foundation

/// Signing in at one provider: a trial, a page on this device, or a code for a second screen.
extension EntitlementClient {
    func signIn(
        _ id: Provider.ID, _ data: [String: String], _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        guard let provider = configuration.provider(id) else { throw EntitlementError.authenticationFailed(nil) }
        track(.selectedProvider(id, device: environment.device.tracked))
        if provider.isTempPass { return try await startTrial(provider, data, configuration) }
        let returnAddress = environment.device.platform.hasBrowser ? browser(for: provider).returnAddress : nil
        switch try await beginLogin(at: id, data, returnAddress: returnAddress, configuration) {
        case .alreadySignedIn: return loggedIn(try await fetchSession(.provider(id, source: .regular), configuration), configuration)
        case .login(let login) where returnAddress == nil: return try await waitForSecondScreen(login, attempt, configuration)
        case .login(let login): return try await openLogin(login, provider, attempt, configuration)
        }
    }

    private func beginLogin(
        at provider: Provider.ID, _ data: [String: String], returnAddress: String?, _ configuration: ServiceConfiguration
    ) async throws -> LoginStart {
        do {
            let start = try await api(configuration, provider).beginLogin(at: provider, data: data, returnAddress: returnAddress)
            if let start { return start }
        } catch is ServerFailure {}
        throw EntitlementError.authenticationFailed(.noRegistrationCode)
    }

    // MARK: - Trial

    private func startTrial(_ provider: Provider, _ data: [String: String], _ configuration: ServiceConfiguration) async throws -> Session {
        guard try await api(configuration, provider.id).beginTrial(at: provider.id, data: data) else {
            throw EntitlementError.authenticationFailed(nil)
        }
        return succeeded(try await fetchSession(.trial(provider.id, data: data), configuration))
    }

    // MARK: - On this device

    private func openLogin(
        _ login: PendingLogin, _ provider: Provider, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        let (style, returnAddress) = browser(for: provider)
        guard let page = login.page else { throw EntitlementError.authenticationFailed(.authenticationFailed) }
        guard let end = try await attempt.openLogin(page, style) else {
            emit(Status(.pickerCancelled))
            throw EntitlementError.providerNotSelected
        }
        guard Self.isReturn(end, to: returnAddress) else { throw EntitlementError.authenticationFailed(nil) }
        return loggedIn(try await fetchSession(.login(login), configuration), configuration)
    }

    /// The browser for a provider's pages, and the return address.
    func browser(for provider: Provider?) -> (style: BrowserStyle, returnAddress: String) {
        guard provider?.requiresSafariViewController == true else { return (.webView, environment.returnAddress) }
        let style: BrowserStyle = options.handlesSafariViewController ? .safari : .safariPresentedByLibrary
        return (style, environment.safariReturnAddress ?? environment.returnAddress)
    }

    /// True when an address is the return address, with or without more behind it. Scheme and host have no case.
    static func isReturn(_ url: URL, to address: String) -> Bool {
        guard let expected = URL(string: address) else { return false }
        return url.scheme?.lowercased() == expected.scheme?.lowercased() && url.host?.lowercased() == expected.host?.lowercased()
            && url.path.hasPrefix(expected.path)
    }

    // MARK: - On a second screen

    private func waitForSecondScreen(
        _ login: PendingLogin, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        try await attempt.show(login.code)
        var schedule = PollSchedule(interval: environment.pollInterval, start: environment.clock.uptime, lifetime: login.code.lifetime)
        while let pause = schedule.next(at: environment.clock.uptime) {
            try await environment.clock.sleep(for: pause)
            guard schedule.isGood(at: environment.clock.uptime) else { break }
            switch try await lookForSession(.login(login), configuration) {
            case .session(let token): return loggedIn(token, configuration)
            case .none: schedule.answered()
            case .over: throw EntitlementError.authenticationFailed(.noSession)
            case .refused(let code): throw EntitlementError.authenticationFailed(code)
            case .throttled, .failed: schedule.disturbed()
            }
        }
        throw EntitlementError.authenticationFailed(.noSession)
    }

    // MARK: - Without the provider

    /// Asks the server to let the person in while the provider is out of order (client-sdk §2.1).
    /// - Returns: `nil` when the server wants a login after all.
    func degradedSession(_ id: Provider.ID, _ configuration: ServiceConfiguration) async throws -> Session? {
        guard configuration.provider(id) != nil else { return nil }
        do {
            guard try await api(configuration, id).beginDegraded(at: id, returnAddress: environment.returnAddress) else { return nil }
            return succeeded(try await fetchSession(.provider(id, source: .degraded), configuration))
        } catch is ServerFailure {
            return nil
        } catch EntitlementError.authenticationFailed {
            return nil
        }
    }
}
