internal import Foundation

extension EntitlementClient {
    /// Signs the person out (client-sdk §2.5). The local state is cleared first, no matter what the servers answer; a running sign-in ends.
    ///
    /// A server that cannot be reached is told at the next `configure`.
    /// - Parameter interaction: Opens the provider's logout, on devices with a browser.
    /// - Returns: Whether the platform stays signed in: then the app tells the person where to sign out.
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
        forgetSessions()
        preauthorizations = PreauthorizationCache()
        if environment.device.platform.hasBrowser {
            if isOfPlatform { emit(Status(.signOutInSettings)) }
            try await openLogout(token, configuration, interaction)
        } else {
            await tellServer(token?.provider, configuration)
            try Task.checkCancellation()
            if isOfPlatform { emit(Status(.signOutInSettings)) }
        }
        return SignOutResult(mustSignOutInSettings: isOfPlatform)
    }

    /// Ends all sessions here, and records the sign-outs to report to the servers.
    private func forgetSessions() {
        let requestors = keeper.sessions.tokens.keys
        guard !requestors.isEmpty else { return }
        keeper.clearSessions()
        keeper.changeMarks { marks in
            marks.dueSignOuts.formUnion(requestors)
            marks.signedOutByHand = true
        }
    }

    /// OUT. Not cancelled with the task: the person is signed out, and the server should know.
    private func tellServer(_ provider: Provider.ID?, _ configuration: ServiceConfiguration) async {
        let requestor = configuration.requestor
        let (call, link, options) = (ServerCall.logout(requestor, environment.device), configuration.link(provider), options)
        let answer = try? await abandonable(cancels: false) { try await link.send(call, options: options) }
        if let answer, answer.status == 204 { signedOut(requestor) }
    }

    private func signedOut(_ requestor: Requestor.ID) {
        keeper.changeMarks { $0.dueSignOuts.remove(requestor.rawValue) }
    }

    /// OUTW: lets the provider end its own session too.
    private func openLogout(
        _ token: StoredToken?, _ configuration: ServiceConfiguration, _ interaction: any AuthenticationInteraction
    ) async throws {
        let link = configuration.link(token?.provider)
        // An address that a browser opens cannot be signed.
        guard !link.isSigned else { return await tellServer(token?.provider, configuration) }
        let (style, returnAddress) = browser(for: token.flatMap { configuration.provider($0.provider) })
        let options = options
        guard let bearer = try? await link.bearer(options: options) else { return try Task.checkCancellation() }
        let call = ServerCall.browserLogout(
            configuration.requestor, environment.device, information: options.deviceInformation ?? environment.device.information,
            returnAddress: returnAddress, accessToken: bearer)
        guard let url = call.url(at: link.server) else { return }
        let end = try await abandonable { await interaction.openLogin(url, style: style == .webView ? .hidden : style) }
        guard let end, Self.isReturn(end, to: returnAddress) else { return await tellServer(token?.provider, configuration) }
        signedOut(configuration.requestor)
    }
}
