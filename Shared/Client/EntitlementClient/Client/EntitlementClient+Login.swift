internal import Foundation

/// Signing in at one provider: a trial, a page on this device, or a code for a second screen.
extension EntitlementClient {
    func signIn(
        _ id: Provider.ID, _ data: [String: String], _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        guard let provider = configuration.provider(id) else { throw EntitlementError.authenticationFailed(nil) }
        track(.selectedProvider(id, device: environment.device.tracked))
        if provider.isTempPass { return try await startTrial(provider, data, configuration) }
        let code = try await registrationCode(provider, configuration)
        guard environment.device.platform.hasBrowser else { return try await waitForSecondScreen(code, provider, attempt, configuration) }
        return try await openLogin(code, provider, data, attempt, configuration)
    }

    // MARK: - Trial

    private func startTrial(_ provider: Provider, _ data: [String: String], _ configuration: ServiceConfiguration) async throws -> Session {
        let call = ServerCall.tempPass(
            configuration.requestor, provider.id, domain: configuration.domain, data: Self.text(data), environment.device)
        let answer = try await send(call, configuration, provider.id)
        guard answer.status == 204 else { throw EntitlementError.authenticationFailed(nil) }
        return succeeded(try await fetchSession(configuration, provider.id, source: .tempPass))
    }

    /// `generic_data`: the pairs as a JSON object; `nil` without any.
    static func text(_ data: [String: String]) -> String? {
        guard !data.isEmpty else { return nil }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(data)).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: - Registration code

    private func registrationCode(_ provider: Provider, _ configuration: ServiceConfiguration) async throws -> RegistrationCode {
        let answer: HTTPResponse
        do {
            answer = try await send(
                .registrationCode(configuration.requestor, provider.id, environment.device), configuration, provider.id)
        } catch is ServerFailure {
            throw EntitlementError.authenticationFailed(.noRegistrationCode)
        }
        guard answer.status == 201, let record = answer.decoded(ServerAnswers.Code.self) else {
            throw EntitlementError.authenticationFailed(.noRegistrationCode)
        }
        let lifetime = min(max(record.expires.date.timeIntervalSince(record.generated.date), 0), 36_000)
        return RegistrationCode(
            code: record.code, provider: provider.id, expires: record.expires.date, lifetime: .seconds(lifetime),
            loginAddress: record.info?.registrationURL.flatMap { URL(string: $0) })
    }

    // MARK: - On this device

    private func openLogin(
        _ code: RegistrationCode, _ provider: Provider, _ data: [String: String], _ attempt: SignInAttempt,
        _ configuration: ServiceConfiguration
    ) async throws -> Session {
        let (style, returnAddress) = browser(for: provider)
        let call = ServerCall.login(
            code: code.code, configuration.requestor, provider.id, domain: configuration.domain, data: Self.text(data), returnAddress: returnAddress)
        guard let url = call.url(at: configuration.link(provider.id).server) else {
            throw EntitlementError.authenticationFailed(.authenticationFailed)
        }
        guard let end = try await attempt.openLogin(url, style) else {
            emit(Status(.pickerCancelled))
            throw EntitlementError.providerNotSelected
        }
        guard Self.isReturn(end, to: returnAddress) else { throw EntitlementError.authenticationFailed(nil) }
        let token = try await fetchSession(configuration, provider.id, source: .regular)
        return succeeded(try await withSource(token, configuration))
    }

    /// The browser for a provider's pages, and the return address.
    func browser(for provider: Provider?) -> (style: BrowserStyle, returnAddress: String) {
        guard provider?.requiresSafariViewController == true else { return (.webView, environment.returnAddress) }
        let style: BrowserStyle = options.handlesSafariViewController ? .safari : .safariPresentedByLibrary
        return (style, environment.safariReturnAddress ?? environment.returnAddress)
    }

    /// Whether an address is the return address, with or without more behind it. Scheme and host have no case.
    static func isReturn(_ url: URL, to address: String) -> Bool {
        guard let expected = URL(string: address) else { return false }
        return url.scheme?.lowercased() == expected.scheme?.lowercased() && url.host?.lowercased() == expected.host?.lowercased()
            && url.path.hasPrefix(expected.path)
    }

    // MARK: - On a second screen

    private func waitForSecondScreen(
        _ code: RegistrationCode, _ provider: Provider, _ attempt: SignInAttempt, _ configuration: ServiceConfiguration
    ) async throws -> Session {
        try await attempt.show(code)
        var schedule = PollSchedule(interval: environment.pollInterval, start: environment.clock.uptime, lifetime: code.lifetime)
        while let pause = schedule.next(at: environment.clock.uptime) {
            try await environment.clock.sleep(for: pause)
            guard schedule.isGood(at: environment.clock.uptime) else { break }
            switch try await lookForSession(configuration, provider.id, source: .regular) {
            case .session(let token): return succeeded(try await withSource(token, configuration))
            case .none: schedule.answered()
            case .throttled, .failed: schedule.disturbed()
            }
        }
        throw EntitlementError.authenticationFailed(.noSession)
    }

    // MARK: - Without the provider

    /// Asks the server to let the person in while the provider is out of order (client-sdk §2.1, v1): the first answer to the login then leads
    /// straight back.
    /// - Returns: `nil` when the server wants a login after all.
    func degradedSession(_ id: Provider.ID, _ configuration: ServiceConfiguration) async throws -> Session? {
        guard let provider = configuration.provider(id) else { return nil }
        let returnAddress = environment.returnAddress
        do {
            let code = try await registrationCode(provider, configuration)
            let call = ServerCall.login(
                code: code.code, configuration.requestor, id, domain: configuration.domain, returnAddress: returnAddress)
            let answer = try await send(call, configuration, id)
            guard (300..<400).contains(answer.status), let location = answer.header("Location").flatMap({ URL(string: $0) }),
                Self.isReturn(location, to: returnAddress)
            else { return nil }
            let token = try await fetchSession(configuration, id, source: .degraded)
            degradedProviders.insert(id)
            return succeeded(token)
        } catch is ServerFailure {
            return nil
        } catch EntitlementError.authenticationFailed {
            return nil
        }
    }
}
