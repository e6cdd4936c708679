internal import Foundation
internal import Octets

/// The meaning of a platform's answer for a sign-in (client-sdk §2.4, rows G6 to G15).
enum PlatformDecision: Equatable, Sendable {
    /// Go on with this provider's signed answer.
    case signIn(Provider.ID, AccountMetadata)
    /// The provider signs people in the ordinary way: no code, no display.
    case ordinaryLogin(Provider.ID)
    /// The provider is out of order: the server lets the person in.
    case degraded(Provider.ID)
    /// The device is not signed in, and the person was not asked.
    case signedOut
    /// The permission was lost in between: check it again.
    case permissionLost
    /// Show all providers, with this code.
    case display(StatusCode, message: String?)

    /// The result of a request.
    enum Outcome: Sendable, Equatable {
        case metadata(AccountMetadata)
        case failure(PlatformError)
    }

    /// - Parameters:
    ///   - wasAsked: True when the person could choose.
    ///   - degraded: Providers known to be out of order.
    init(_ outcome: Outcome, wasAsked: Bool, _ configuration: ServiceConfiguration, degraded: Set<Provider.ID>, now: Date) {
        switch outcome {
        case .metadata(let metadata): self = Self.metadata(metadata, wasAsked, configuration, degraded, now)
        case .failure(let error): self = Self.failure(error, configuration, degraded)
        }
    }

    private static func metadata(
        _ metadata: AccountMetadata, _ wasAsked: Bool, _ configuration: ServiceConfiguration, _ degraded: Set<Provider.ID>, _ now: Date
    ) -> PlatformDecision {
        guard let name = metadata.providerIdentifier else { return wasAsked ? .display(.otherProvider, message: nil) : .signedOut }
        guard let end = metadata.expires, now < end else {
            return wasAsked ? .display(.platformRequestFailed, message: "the provider's login has expired") : .signedOut
        }
        guard let provider = configuration.provider(mappedTo: name), provider.takesPartInPlatformSignIn else {
            return .display(.unsupportedProvider, message: nil)
        }
        if degraded.contains(provider.id) { return .degraded(provider.id) }
        return provider.boardingStatus == .supported ? .signIn(provider.id, metadata) : .ordinaryLogin(provider.id)
    }

    private static func failure(
        _ error: PlatformError, _ configuration: ServiceConfiguration, _ degraded: Set<Provider.ID>
    ) -> PlatformDecision {
        switch error.code {
        case .accessNotGranted: return .permissionLost
        case .userCancelled: return .display(.pickerCancelled, message: nil)
        case .unsupportedProvider:
            guard let name = error.unsupportedProvider else { return .display(.otherProvider, message: nil) }
            guard let provider = configuration.provider(mappedTo: name), provider.takesPartInPlatformSignIn else {
                return .display(.unsupportedProvider, message: nil)
            }
            return degraded.contains(provider.id) ? .degraded(provider.id) : .ordinaryLogin(provider.id)
        default: return .display(.platformRequestFailed, message: error.explanation)
        }
    }
}

extension PlatformError {
    /// For the message of a code; never empty.
    var explanation: String {
        if !message.isEmpty { return message }
        return code.map { "\($0)" } ?? "the platform's framework failed"
    }

    /// Any error of a platform.
    init(any error: any Error) {
        self = error as? PlatformError ?? PlatformError(nil, message: "\(error)")
    }
}

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
