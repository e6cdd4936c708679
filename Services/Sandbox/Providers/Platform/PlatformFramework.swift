internal import SandboxKit
internal import Clocks

/// Apple's video subscriber framework and the MVPD behind it, as far as an app sees them.
struct PlatformFramework: Sendable {
    /// The MVPDs that sign people in by the platform, by the platform's names.
    let providers: [String: IdentityProvider]
    /// Every MVPD here, those that the platform does not sign in included.
    let all: [IdentityProvider]

    /// - Returns: The metadata, and the account as the request leaves it: a person may have signed in meanwhile.
    func answer(_ request: MetadataRequest, _ account: PlatformAccount, now: Timestamp) -> (AccountMetadata, PlatformAccount) {
        guard account.access == .granted else { return (AccountMetadata(AccountMetadata.Problem.accessNotGranted), account) }
        if let error = account.error { return (AccountMetadata(error), account) }
        var account = account
        if request.interruptionAllowed == true, account.authenticatedUntil.map({ now < $0 }) != true {
            if let refusal = signIn(request, &account, now) { return (refusal, account) }
        }
        guard let id = account.provider, let provider = providers[id] else { return (AccountMetadata(), account) }
        var metadata = AccountMetadata()
        metadata.accountProviderIdentifier = account.flaw == .otherProvider ? id + "-other" : id
        metadata.authenticationExpirationDate = account.authenticatedUntil?.milliseconds
        guard let token = request.verificationToken, account.flaw != .noAnswer, account.authenticatedUntil.map({ now < $0 }) == true else {
            return (metadata, account)
        }
        return (query(provider, token, request, account, metadata, now), account)
    }

    /// The platform's own picker and login.
    private func signIn(_ request: MetadataRequest, _ account: inout PlatformAccount, _ now: Timestamp) -> AccountMetadata? {
        guard let choice = account.pick ?? account.provider else { return AccountMetadata() }
        guard providers[choice] != nil, request.supportedProviders?.contains(choice) ?? true else {
            return AccountMetadata(AccountMetadata.Problem.unsupportedProvider, unsupported: choice)
        }
        account.provider = choice
        account.authenticatedUntil = account.flaw == .expiredLogin ? now - .seconds(1) : now + PlatformAccount.loginLifetime
        return nil
    }

    /// Asks the MVPD, which checks the token as it checks any request of the service provider.
    private func query(
        _ provider: IdentityProvider, _ token: String, _ request: MetadataRequest, _ account: PlatformAccount, _ metadata: AccountMetadata,
        _ now: Timestamp
    ) -> AccountMetadata {
        guard request.channelIdentifier == provider.serviceProvider.entityID else {
            return AccountMetadata(AccountMetadata.Problem.invalidVerificationToken, "The channel is not \(provider.serviceProvider.entityID).")
        }
        do {
            let asked = try provider.reader.token(token, at: now)
            let answer = PlatformAnswer(
                provider: provider, others: all.filter { $0.id != provider.id }, request: asked, account: account,
                attributeNames: request.attributeNames ?? [], now: now)
            var metadata = metadata
            metadata.samlAttributeQueryResponse = try answer.text()
            return metadata
        } catch let refusal as RequestRejection {
            return AccountMetadata(AccountMetadata.Problem.invalidVerificationToken, "\(refusal.code): \(refusal.explanation)")
        } catch {
            return AccountMetadata(AccountMetadata.Problem.providerRejected, "\(error)")
        }
    }
}

/// An app's request to the platform's framework (`VSAccountMetadataRequest`).
struct MetadataRequest: Decodable {
    /// The simulated account; the real framework has no such parameter.
    let account: String
    /// The SAML issuer for which the MVPD answers.
    let channelIdentifier: String?
    /// True when the platform may ask the person.
    let interruptionAllowed: Bool?
    /// The providers that the app offers, by the platform's names; absent: all.
    let supportedProviders: [String]?
    let featuredProviders: [String]?
    let attributeNames: [String]?
    /// Proves to the MVPD which service asks; absent: the MVPD is not asked.
    let verificationToken: String?
}

/// The framework's answer to the app (`VSAccountMetadata`, or an error).
struct AccountMetadata: Encodable, Equatable {
    /// `VSError.Code` with what comes along.
    struct Problem: Encodable, Equatable {
        static let accessNotGranted = 0
        static let unsupportedProvider = 1
        static let providerRejected = 4
        static let invalidVerificationToken = 5

        let code: Int
        var unsupportedProviderIdentifier: String?
        /// For the engineer who looks on; the real framework has no such text.
        var explanation: String?
    }

    var accountProviderIdentifier: String?
    /// Milliseconds since 1970.
    var authenticationExpirationDate: Int64?
    /// The MVPD's SAML response, as text.
    var samlAttributeQueryResponse: String?
    var error: Problem?

    init() {}

    init(_ code: Int, unsupported: String? = nil, _ explanation: String? = nil) {
        error = Problem(code: code, unsupportedProviderIdentifier: unsupported, explanation: explanation)
    }
}
