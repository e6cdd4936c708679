internal import Octets
internal import Foundation

extension EntitlementClient {
    /// Signs in by the platform if that asks the person nothing (client-sdk §2.2, R2 to R15).
    /// - Throws: `CancellationError` only: any other failure leaves the configuration in place.
    func signInAtLaunch(_ configuration: ServiceConfiguration) async throws {
        guard configuration.hasPlatformSignIn, let accounts = environment.providerAccounts else { return }
        let metadata: AccountMetadata
        do {
            let access = try await abandonable { try await accounts.accessStatus(prompting: false) }
            switch access {
            case .denied, .restricted: return emit(Status(.permissionDenied))
            case .notDetermined: return emit(Status(.permissionUndetermined))
            case .granted: break
            }
            let request = AccountMetadataRequest(channelIdentifier: environment.channelIdentifier)
            metadata = try await abandonable { try await accounts.metadata(request, handler: NoDialogs()) }
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            return emit(Status(.platformFailed, details: PlatformError(any: error).explanation))
        }
        try await exchangeAtLaunch(configuration, metadata)
    }

    private func exchangeAtLaunch(_ configuration: ServiceConfiguration, _ metadata: AccountMetadata) async throws {
        let (token, now) = (keeper.token(of: configuration.requestor), now(configuration))
        let isValid = token.map { now < $0.expires && configuration.provider($0.provider) != nil } ?? false
        if isValid, token?.source != .apple { return }
        let isOfSameProvider =
            metadata.providerIdentifier != nil
            && token.flatMap { configuration.provider($0.provider) }?.platformMappingID == metadata.providerIdentifier
        if isValid, isOfSameProvider { return }
        guard let name = metadata.providerIdentifier, let end = metadata.expires, now < end else {
            if token?.source == .apple { keeper.removeToken(of: configuration.requestor) }
            return
        }
        guard let provider = configuration.provider(mappedTo: name), provider.takesPartInPlatformSignIn, provider.boardingStatus == .supported else {
            if token?.source == .apple { keeper.removeToken(of: configuration.requestor) }
            return
        }
        do {
            let start = try await api(configuration, provider.id).beginPlatformSignIn(
                at: provider, metadata, returnAddress: environment.returnAddress)
            if case .alreadySignedIn = start {
                return keeper.keep(try await fetchSession(.provider(provider.id, source: .apple, account: metadata), configuration))
            }
            guard case .request(let verificationToken, let attributeNames) = start else { return }
            let outcome = try await platformAnswer(verificationToken, attributeNames)
            guard case .metadata(let answer) = outcome, answer.providerIdentifier == name, let response = answer.attributeQueryResponse else {
                if case .failure(let error) = outcome { return emit(Status(.platformFailed, details: error.explanation)) }
                return emit(Status(.platformFailed, details: "the provider gave no answer"))
            }
            _ = try await exchange(response, answer, provider, configuration)
        } catch is ServerFailure {
            return
        } catch is EntitlementError {
            return
        }
    }

    // MARK: - Steps

    /// The second request: the provider's signed answer, without asking the person.
    func platformAnswer(_ verificationToken: String, _ attributeNames: [String]) async throws -> PlatformDecision.Outcome {
        let request = AccountMetadataRequest(
            channelIdentifier: environment.channelIdentifier, verificationToken: verificationToken, attributeNames: attributeNames)
        return try await platformOutcome(request, NoDialogs())
    }

    /// - Throws: `CancellationError` only.
    func platformOutcome(_ request: AccountMetadataRequest, _ handler: any PlatformDialogHandler) async throws -> PlatformDecision.Outcome {
        guard let accounts = environment.providerAccounts else { return .failure(PlatformError(nil, message: "the device has no single sign-on")) }
        do {
            return .metadata(try await abandonable { try await accounts.metadata(request, handler: handler) })
        } catch let cancellation as CancellationError {
            throw cancellation
        } catch {
            return .failure(PlatformError(any: error))
        }
    }

    /// Makes a session of the provider's signed answer, and keeps it.
    /// - Parameter account: The platform's account, which came with that answer.
    /// - Throws: `ServerFailure` when the exchange is refused, `EntitlementError` when there is no session after it, `CancellationError`.
    func exchange(
        _ response: String, _ account: AccountMetadata, _ provider: Provider, _ configuration: ServiceConfiguration
    ) async throws -> StoredToken {
        let api = api(configuration, provider.id)
        var token = try await api.exchange(PlatformAnswerText.encoded(response), at: provider.id, account)
        if token == nil { token = try await fetchSession(.provider(provider.id, source: .apple, account: account), configuration) }
        guard let token else { throw EntitlementError.authenticationFailed(.noSession) }
        keeper.keep(token)
        return token
    }
}
