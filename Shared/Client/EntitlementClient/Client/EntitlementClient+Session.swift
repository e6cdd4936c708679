internal import Octets
internal import Foundation

extension EntitlementClient {
    /// - Throws: `CancellationError` only.
    func lookForSession(_ search: SessionSearch, _ configuration: ServiceConfiguration) async throws -> SessionAnswer {
        let provider: Provider.ID? =
            switch search {
            case .login(let login): login.code.provider
            case .provider(let id, _, _), .trial(let id, _): id
            case .any: nil
            }
        do {
            return try await api(configuration, provider).session(search)
        } catch ServerFailure.throttled {
            return .throttled
        } catch let failure as ServerFailure {
            return .failed(failure.details)
        }
    }

    /// The session that must be there after a login.
    /// - Throws: `EntitlementError.authenticationFailed` with N130 or N500, or what the server refuses it for; `CancellationError`.
    func fetchSession(_ search: SessionSearch, _ configuration: ServiceConfiguration) async throws -> StoredToken {
        var outcome = try await lookForSession(search, configuration)
        if case .throttled = outcome { outcome = try await lookForSession(search, configuration) }
        switch outcome {
        case .session(let token): return token
        case .none, .over: throw EntitlementError.authenticationFailed(.noSession)
        case .refused(let code): throw EntitlementError.authenticationFailed(code)
        case .throttled, .failed: throw EntitlementError.authenticationFailed(.authenticationFailed)
        }
    }

    /// Takes a session of a login on: the person may have chosen another provider, and the server may have let them in without it.
    func loggedIn(_ token: StoredToken, _ configuration: ServiceConfiguration) -> Session {
        var token = token
        if configuration.provider(token.provider)?.isTempPass == true { token.source = .tempPass }
        return succeeded(token)
    }
}
