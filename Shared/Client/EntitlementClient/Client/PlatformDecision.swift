internal import Octets
internal import Foundation

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
