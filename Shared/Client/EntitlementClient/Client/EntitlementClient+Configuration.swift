internal import Foundation
internal import Octets

extension EntitlementClient {
    private struct Answer: Sendable {
        let link: ServerLink
        let requestor: ServerAnswers.Configuration.Requestor
        let date: Date?
    }

    /// client-sdk §2.2, R1 and what follows.
    func runConfiguration(_ requestor: Requestor.ID, _ endpoints: [URL]) async throws {
        do {
            let fetched = try await fetchConfiguration(requestor, endpoints.map(link(to:)))
            configuration = fetched
            degradedProviders = []
            preauthorizations = PreauthorizationCache()
            if fetched.clockDifference != 0 {
                emit(Status(.wrongClock, details: "the device's clock is off by \(Int(-fetched.clockDifference)) s"))
            }
            await signOutWhatIsDue(fetched)
            try await adoptSession(fetched)
            try await signInAtLaunch(fetched)
        } catch let failure as ConfigurationFailure {
            configuration = nil
            emit(failure.status)
            throw EntitlementError.configurationFailed(failure.status.code)
        }
    }

    /// - Throws: The failure of the first server that was named, when none has an answer.
    private func fetchConfiguration(_ requestor: Requestor.ID, _ links: [ServerLink]) async throws -> ServiceConfiguration {
        var (answers, failures): ([Answer], [(Int, any Error)]) = ([], [])
        await withTaskGroup(of: (Int, Result<Answer, any Error>).self) { group in
            for (index, link) in links.enumerated() {
                let api = api(requestor, link)
                group.addTask {
                    do {
                        return (index, .success(try await Self.fetch(api, link)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (index, result) in group {
                switch result {
                case .success(let answer): answers.append(answer)
                case .failure(let error): failures.append((index, error))
                }
            }
        }
        try Task.checkCancellation()
        guard let first = answers.first else {
            throw failures.min { $0.0 < $1.0 }?.1 ?? ConfigurationFailure(.unreachable("no server was named"), at: nil)
        }
        return merged(answers, first, requestor)
    }

    private static func fetch(_ api: any RestAPI, _ link: ServerLink) async throws -> Answer {
        let response: HTTPResponse
        do {
            response = try await api.configuration()
        } catch let failure as ServerFailure {
            throw ConfigurationFailure(failure, at: link.server)
        }
        guard response.status == 200 else { throw ConfigurationFailure(answer: response) }
        guard let answer = response.decoded(ServerAnswers.Configuration.self) else {
            throw ConfigurationFailure(.unexpectedAnswer("configuration: the answer is not what these servers send"), at: link.server)
        }
        return Answer(link: link, requestor: answer.requestor, date: response.header("Date").flatMap(HTTPDate.parse))
    }

    private func merged(_ answers: [Answer], _ first: Answer, _ requestor: Requestor.ID) -> ServiceConfiguration {
        var (providers, links): ([Provider], [Provider.ID: ServerLink]) = ([], [:])
        for answer in answers {
            for provider in answer.requestor.mvpds.map(\.provider) where links[provider.id] == nil {
                links[provider.id] = answer.link
                providers.append(provider)
            }
        }
        let difference = first.date.map { $0.timeIntervalSince(environment.clock.now) } ?? 0
        return ServiceConfiguration(
            requestor: requestor, domain: answers.compactMap { $0.requestor.domains?.first?.name }.first ?? "", providers: providers, links: links,
            firstLink: first.link, clockDifference: abs(difference) >= Self.clockTolerance ? difference : 0)
    }

    /// A sign-out that the server could not be told of (client-sdk §2.5 L6).
    private func signOutWhatIsDue(_ configuration: ServiceConfiguration) async {
        let requestor = configuration.requestor
        guard stateStore.marks.dueSignOuts.contains(requestor.rawValue) else { return }
        let provider = stateStore.marks.dueProviders?[requestor.rawValue]
        let answer = try? await api(configuration, provider).signOut(
            of: provider, opensPages: false, returnAddress: environment.returnAddress)
        if case .done = answer { signedOut(requestor) }
    }

    /// A session of the other version of the API: the server may know it in this one too.
    private func adoptSession(_ configuration: ServiceConfiguration) async throws {
        guard let token = stateStore.token(of: configuration.requestor), token.api ?? .v1 != environment.restVersion,
            now(configuration) < token.expires
        else { return }
        switch try await lookForSession(.provider(token.provider, source: token.source), configuration) {
        case .session(var found):
            found.isAutomatic = token.isAutomatic
            stateStore.keep(found)
        case .none, .over, .refused: stateStore.removeToken(of: configuration.requestor)
        case .throttled, .failed: break
        }
    }
}

/// There is no configuration for this reason, as reported to the app (client-sdk §2.6).
private struct ConfigurationFailure: Error {
    let status: Status

    /// - Parameter server: The one that was asked.
    init(_ failure: ServerFailure, at server: URL?) {
        let code: StatusCode =
            switch failure {
            case .unreachable, .unexpectedAnswer: .serversNotFound
            case .insecure: .transportInsecure
            case .statementRefused: .statementRefused
            case .noAccessToken: .noAccessToken
            case .throttled: .configurationThrottled
            case .unavailable(let status): .configurationUnavailable(status: status)
            }
        status = Status(code, details: server.map { Self.details(failure, $0) } ?? failure.details)
    }

    /// Names the address where no server was found at it: an app may have meant another one.
    private static func details(_ failure: ServerFailure, _ server: URL) -> String {
        switch failure {
        case .unreachable, .insecure:
            let isSecure = server.scheme?.lowercased() == "https"
            let hint = isSecure ? "; where the server speaks plain HTTP, as on a developer's machine, its address begins with http://" : ""
            return "\(server.absoluteString): \(failure.details)\(hint)"
        case .statementRefused, .noAccessToken, .throttled, .unavailable, .unexpectedAnswer: return failure.details
        }
    }

    /// - Parameter answer: An answer of another status than 200 (rest-v1 §2.2, §3.3, rest-v2 §1.3).
    init(answer: HTTPResponse) {
        let failure = answer.decoded(ServerAnswers.Failure.self)
        let code: StatusCode =
            switch answer.status {
            case 400: .badRequestor
            case 401 where failure?.code == "invalid_access_token_service_provider": .domainNotAllowed
            case 401: .noAccessToken
            case 403: .domainNotAllowed
            case 429: .configurationThrottled
            case 500...599: .configurationUnavailable(status: answer.status)
            default: .serversNotFound
            }
        status = Status(code, message: failure?.message, details: "\(answer.status)")
    }
}

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
        let (token, now) = (stateStore.token(of: configuration.requestor), now(configuration))
        let isValid = token.map { now < $0.expires && configuration.provider($0.provider) != nil } ?? false
        if isValid, token?.source != .apple { return }
        let isOfSameProvider =
            metadata.providerIdentifier != nil
            && token.flatMap { configuration.provider($0.provider) }?.platformMappingID == metadata.providerIdentifier
        if isValid, isOfSameProvider { return }
        guard let name = metadata.providerIdentifier, let end = metadata.expires, now < end else {
            if token?.source == .apple { stateStore.removeToken(of: configuration.requestor) }
            return
        }
        guard let provider = configuration.provider(mappedTo: name), provider.takesPartInPlatformSignIn, provider.boardingStatus == .supported else {
            if token?.source == .apple { stateStore.removeToken(of: configuration.requestor) }
            return
        }
        do {
            let start = try await api(configuration, provider.id).beginPlatformSignIn(
                at: provider, metadata, returnAddress: environment.returnAddress)
            if case .alreadySignedIn = start {
                return stateStore.keep(try await fetchSession(.provider(provider.id, source: .apple, account: metadata), configuration))
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
        stateStore.keep(token)
        return token
    }
}
