internal import Octets
internal import Foundation

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
        guard keeper.marks.dueSignOuts.contains(requestor.rawValue) else { return }
        let provider = keeper.marks.dueProviders?[requestor.rawValue]
        let answer = try? await api(configuration, provider).signOut(
            of: provider, opensPages: false, returnAddress: environment.returnAddress)
        if case .done = answer { signedOut(requestor) }
    }

    /// A session of the other version of the API: the server may know it in this one too.
    private func adoptSession(_ configuration: ServiceConfiguration) async throws {
        guard let token = keeper.token(of: configuration.requestor), token.api ?? .v1 != environment.restVersion, now(configuration) < token.expires
        else { return }
        switch try await lookForSession(.provider(token.provider, source: token.source), configuration) {
        case .session(var found):
            found.isAutomatic = token.isAutomatic
            keeper.keep(found)
        case .none, .over, .refused: keeper.removeToken(of: configuration.requestor)
        case .throttled, .failed: break
        }
    }
}

/// Why there is no configuration, as reported to the app (client-sdk §2.6).
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
