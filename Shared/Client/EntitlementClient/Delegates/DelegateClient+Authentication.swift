package import Foundation
internal import Octets
internal import Synchronization

extension DelegateClient {
    /// Signs a person in; always ends with `setAuthenticationStatus`. A second call ends the first one.
    /// - Parameters:
    ///   - force: Sign in even if the device is signed in already.
    ///   - data: Pairs for the server.
    ///   - filter: ``TV_PROVIDERS`` and ``FEATURED_TV_PROVIDERS``.
    package func getAuthentication(force: Bool = false, data: [String: String] = [:], filter: [String: [String]]) {
        let listed = filter[DelegateConstants.TV_PROVIDERS].map { providers in
            ProviderFilter(
                providers: providers.map { Provider.ID($0) },
                featured: (filter[DelegateConstants.FEATURED_TV_PROVIDERS] ?? []).map { Provider.ID($0) })
        }
        startSignIn(force: force, data: data, filter: listed)
    }

    /// As ``getAuthentication(force:data:filter:)``, with a plain list of providers, or none.
    package func getAuthentication(force: Bool = false, data: [String: String] = [:], providers: [String]? = nil) {
        startSignIn(force: force, data: data, filter: providers.map { ProviderFilter(providers: $0.map { Provider.ID($0) }) })
    }

    /// Answers the picker with the person's choice; `nil` cancels the sign-in. Without an open picker it signs in at that provider.
    package func setSelectedProvider(_ id: String?) {
        guard let id else { return giveUp() }
        let provider = Provider.ID(id)
        if interaction.choose(provider) { return }
        guard hasConfiguration else {
            preselected = provider
            return
        }
        isContinued = signInTask != nil
        start { client, interaction in try await client.signIn(at: provider, interaction: interaction) }
    }

    /// Hands over the address at which the page of `navigateToUrl` ended.
    package func handleExternalURL(_ url: URL) {
        interaction.returned(to: url)
        logoutInteraction.returned(to: url)
    }

    /// The form of ``handleExternalURL(_:)`` until version 3.0, for pages that end at ``ADOBEPASS_REDIRECT_URL``.
    @available(*, deprecated, renamed: "handleExternalURL(_:)")
    package func getAuthenticationToken() {
        guard let url = URL(string: client.environment.returnAddress) else { return }
        handleExternalURL(url)
    }

    private func giveUp() {
        if logoutInteraction.closePage() || interaction.choose(nil) || interaction.closePage() { return }
        run { client, push in
            if await client.cancelSignIn() { return }
            push(.status(Status(.pickerCancelled)))
            push(.setAuthenticationStatus(DelegateConstants.ACCESS_ENABLER_STATUS_ERROR, DelegateConstants.PROVIDER_NOT_SELECTED_ERROR))
        }
    }

    @discardableResult
    func startSignIn(force: Bool, data: [String: String], filter: ProviderFilter?) -> Task<Bool, Never> {
        let preselected = preselected
        self.preselected = nil
        return start { client, interaction in
            try await client.authenticate(force: force, data: data, filter: filter, preselected: preselected, interaction)
        }
    }

    /// - Returns: True when the device is signed in at the end.
    @discardableResult
    private func start(
        _ signIn: @escaping @Sendable (EntitlementClient, DelegateInteraction) async throws -> Session
    ) -> Task<Bool, Never> {
        let (previous, prelude) = (signInTask, prelude)
        previous?.cancel()
        let task = Task { [weak self, client, interaction] in
            // The end of the first is reported before any callback of the second.
            _ = await previous?.value
            await prelude()
            let end: (Int32, String)
            do {
                _ = try await signIn(client, interaction)
                end = (DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS, DelegateConstants.USER_AUTHENTICATED)
            } catch EntitlementError.providerNotSelected {
                end = (DelegateConstants.ACCESS_ENABLER_STATUS_ERROR, DelegateConstants.PROVIDER_NOT_SELECTED_ERROR)
            } catch {
                end = (DelegateConstants.ACCESS_ENABLER_STATUS_ERROR, DelegateConstants.GENERIC_AUTHENTICATION_ERROR)
            }
            self?.ended(end, wasCancelled: Task.isCancelled)
            return end.0 == DelegateConstants.ACCESS_ENABLER_STATUS_SUCCESS
        }
        signInTask = task
        return task
    }

    private func ended(_ end: (status: Int32, code: String), wasCancelled: Bool) {
        if wasCancelled, isContinued {
            isContinued = false
            return
        }
        if !wasCancelled { signInTask = nil }
        push(.setAuthenticationStatus(end.status, end.code))
    }
}

/// Turns the questions of a sign-in into callbacks, and waits for the app's answering operations.
final class DelegateInteraction: AuthenticationInteraction {
    private struct Pending {
        var choice: Outcome<Provider.ID?>?
        var login: Outcome<URL?>?
    }

    private let pending = Mutex(Pending())
    private let push: @Sendable (Callback) -> Void
    private let returnAddresses: [String]

    init(returnAddresses: [String], push: @escaping @Sendable (Callback) -> Void) {
        (self.returnAddresses, self.push) = (returnAddresses, push)
    }

    // MARK: - The app's answers

    /// - Returns: False when no picker waits.
    func choose(_ provider: Provider.ID?) -> Bool {
        pending.withLock { $0.choice.take() }?.settle(.success(provider)) ?? false
    }

    /// - Returns: False when no page waits.
    func closePage() -> Bool {
        pending.withLock { $0.login.take() }?.settle(.success(nil)) ?? false
    }

    /// A second call, or an address that is no return address, is ignored (client-sdk §1.3).
    func returned(to url: URL) {
        guard returnAddresses.contains(where: { EntitlementClient.isReturn(url, to: $0) }) else { return }
        pending.withLock { $0.login.take() }?.settle(.success(url))
    }

    // MARK: - The library's questions

    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? {
        let outcome = Outcome<Provider.ID?>()
        return await answer(of: outcome) { pending in
            pending.choice = outcome
            push(.displayProviderDialog(providers.map(ListedProvider.init)))
        }
    }

    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? {
        let outcome = Outcome<URL?>()
        return await answer(of: outcome) { pending in
            pending.login = outcome
            push(.navigateToUrl(url.absoluteString, useSVC: style == .safari))
        }
    }

    func showCode(_ code: RegistrationCode) async {
        push(.status(Status(.registrationCode, registrationCode: code.code)))
    }

    func present(_ picker: ProviderPicker) async { push(.presentTvProviderDialog(picker)) }
    func dismiss(_ picker: ProviderPicker) async { push(.dismissTvProviderDialog(picker)) }

    /// - Parameter ask: Called only when the sign-in still runs; afterwards no callback comes of it.
    private func answer<Value: Sendable>(of outcome: Outcome<Value?>, _ ask: (inout Pending) -> Void) async -> Value? {
        let answer = try? await withTaskCancellationHandler {
            pending.withLock { pending in if !Task.isCancelled { ask(&pending) } }
            return try await withCheckedThrowingContinuation { outcome.wait($0) }
        } onCancel: {
            _ = pending.withLock { _ in outcome.settle(.failure(CancellationError())) }
        }
        return answer ?? nil
    }
}
