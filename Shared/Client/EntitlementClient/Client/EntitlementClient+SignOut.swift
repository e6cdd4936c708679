internal import Octets
internal import Foundation

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
        let token = keeper.token(of: requestor)
        guard !keeper.sessions.isEmpty else { return SignOutResult(mustSignOutInSettings: false) }
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
        let providers = keeper.sessions.tokens.mapValues(\.provider)
        guard !providers.isEmpty else { return }
        keeper.clearSessions()
        keeper.changeMarks { marks in
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
        keeper.changeMarks { marks in
            marks.dueSignOuts.remove(requestor.rawValue)
            marks.dueProviders?[requestor.rawValue] = nil
        }
    }
}
