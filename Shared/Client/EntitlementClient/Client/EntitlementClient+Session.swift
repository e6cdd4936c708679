internal import Foundation

extension EntitlementClient {
    /// The result of asking the servers for a session.
    enum SessionAnswer: Sendable {
        case session(StoredToken)
        /// None, or an expired one.
        case none
        case throttled
        case failed(String)
    }

    /// AUN.
    /// - Parameters:
    ///   - provider: Determines the server to ask.
    ///   - source: What kind of session it is if there is one.
    /// - Throws: `CancellationError` only.
    func lookForSession(
        _ configuration: ServiceConfiguration, _ provider: Provider.ID?, source: Session.Source
    ) async throws -> SessionAnswer {
        let answer: HTTPResponse
        do {
            answer = try await send(.session(configuration.requestor, environment.device), configuration, provider)
        } catch ServerFailure.throttled {
            return .throttled
        } catch let failure as ServerFailure {
            return .failed(failure.details)
        }
        switch answer.status {
        case 200:
            guard let session = answer.decoded(ServerAnswers.Session.self) else { return .failed("the answer is not what these servers send") }
            return .session(
                StoredToken(
                    requestor: configuration.requestor, provider: Provider.ID(session.mvpd), source: source, expires: session.expires.date,
                    userID: session.userId ?? "", deviceID: environment.device.id))
        case 404, 410: return .none
        case 429: return .throttled
        default: return .failed("status \(answer.status)")
        }
    }

    /// The session that must be there after a login.
    /// - Throws: `EntitlementError.authenticationFailed` with N130 or N500, after the event; `CancellationError`.
    func fetchSession(
        _ configuration: ServiceConfiguration, _ provider: Provider.ID?, source: Session.Source
    ) async throws -> StoredToken {
        var outcome = try await lookForSession(configuration, provider, source: source)
        if case .throttled = outcome { outcome = try await lookForSession(configuration, provider, source: source) }
        switch outcome {
        case .session(let token): return token
        case .none: throw EntitlementError.authenticationFailed(.noSession)
        case .throttled, .failed: throw EntitlementError.authenticationFailed(.authenticationFailed)
        }
    }

    /// A session of a login in a browser: the server may have made it without the provider (client-sdk §2.1, T's kind).
    func withSource(_ token: StoredToken, _ configuration: ServiceConfiguration) async throws -> StoredToken {
        var token = token
        if configuration.provider(token.provider)?.isTempPass == true {
            token.source = .tempPass
        } else if try await isDegraded(token, configuration) {
            token.source = .degraded
            degradedProviders.insert(token.provider)
        }
        return token
    }

    /// The marker of a person that the server let in without the provider (rest-v1 §6.1).
    private static let degradationMarker = "95cf93bcd183214a"

    private func isDegraded(_ token: StoredToken, _ configuration: ServiceConfiguration) async throws -> Bool {
        do {
            let answer = try await send(.userMetadata(configuration.requestor, environment.device), configuration, token.provider)
            guard answer.status == 200, case .string(let user) = answer.decoded(ServerAnswers.UserMetadata.self)?.data["userID"] else { return false }
            return user.hasPrefix(Self.degradationMarker)
        } catch is ServerFailure {
            return false
        }
    }
}
