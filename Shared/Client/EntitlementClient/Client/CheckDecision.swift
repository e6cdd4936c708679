internal import Octets
internal import Foundation

/// States whether a kept session is good (client-sdk §2.3). Decides without the network; asks for the platform only where a row needs it.
struct CheckDecision: Equatable, Sendable {
    /// The effect on the kept session.
    enum Effect: Equatable, Sendable {
        case keep
        case removeToken
        case clear
    }

    /// The platform's answer.
    enum Platform: Equatable, Sendable {
        case permission(AccountAccess)
        /// With the framework's words.
        case failed(String)
        /// The provider of the device, whether or not its login has expired.
        case account(AccountMetadata)
    }

    /// For example `C5`.
    let row: String
    /// Sent before the answer.
    let status: StatusCode?
    let isAuthenticated: Bool
    let effect: Effect
    var details: String?

    /// - Parameter platform: `nil`: not asked yet.
    /// - Returns: `nil` when the platform has to be asked first.
    static func decide(
        _ token: StoredToken?, deviceID: String, _ configuration: ServiceConfiguration, now: Date, platform: Platform? = nil
    ) -> CheckDecision? {
        guard let token else { return refusal("C1", .notAuthenticated) }
        guard now < token.expires else {
            return refusal("C2", token.source == .tempPass ? .tempPassExpired : .notAuthenticated, .removeToken)
        }
        guard token.deviceID == deviceID else { return refusal("C3", .deviceChanged, .clear) }
        guard let provider = configuration.provider(token.provider) else { return refusal("C4", .notAuthenticated) }
        switch token.source {
        case .regular: return CheckDecision(row: "C5", status: nil, isAuthenticated: true, effect: .keep)
        case .tempPass: return CheckDecision(row: "C6", status: .tempPass, isAuthenticated: true, effect: .keep)
        case .degraded: return CheckDecision(row: "C6", status: .degradedAuthentication, isAuthenticated: true, effect: .keep)
        case .apple: return apple(provider, platform)
        }
    }

    private static func apple(_ provider: Provider, _ platform: Platform?) -> CheckDecision? {
        guard provider.takesPartInPlatformSignIn else { return refusal("C7", .notAuthenticated) }
        switch platform {
        case nil, .permission(.granted): return nil
        case .permission(.denied), .permission(.restricted): return refusal("C8", .permissionDenied)
        case .permission(.notDetermined): return refusal("C9", .permissionUndetermined)
        case .failed(let reason):
            var decision = refusal("C10", .platformCheckFailed)
            decision.details = reason
            return decision
        case .account(let account):
            guard account.providerIdentifier == provider.platformMappingID else { return refusal("C11", .notAuthenticated, .removeToken) }
            return CheckDecision(row: "C12", status: nil, isAuthenticated: true, effect: .keep)
        }
    }

    private static func refusal(_ row: String, _ status: StatusCode, _ effect: Effect = .keep) -> CheckDecision {
        CheckDecision(row: row, status: status, isAuthenticated: false, effect: effect)
    }
}
