internal import Contracts
public import PeerDoubles

/// A service with a contract that can be examined.
public enum ExaminedService: String, CaseIterable, Sendable {
    case config
    case authentication
    case authorization
    case autosignin

    /// DNS name in its certificate.
    public var certificateName: String { "\(rawValue).boxoffice" }

    /// The services that it calls.
    public var peers: [PeerDoubles.Peer] {
        switch self {
        case .config: []
        case .authentication: [.config]
        case .authorization, .autosignin: [.config, .authentication]
        }
    }

    /// Full names of the RPC services that it must offer, beside those that every service offers.
    var rpcServices: [String] {
        switch self {
        case .config: [ConfigMethods.service]
        case .authentication:
            [AuthenticationMethods.service, SessionsMethods.service, LoginsMethods.service, AuthenticationOperationsMethods.service]
        case .authorization: [AuthorizationMethods.service]
        case .autosignin: [AutomaticSignInMethods.service, SignInWithAppleMethods.service, AutoSignInOperationsMethods.service]
        }
    }

    /// A method with a string as field 1 of its request.
    var methodWithText: (service: String, method: String) {
        switch self {
        case .config: (ConfigMethods.service, ConfigMethods.issueSoftwareStatement.name)
        case .authentication: (AuthenticationMethods.service, AuthenticationMethods.verifyAccessToken.name)
        case .authorization: (AuthorizationMethods.service, AuthorizationMethods.preauthorizeByCode.name)
        case .autosignin: (AutomaticSignInMethods.service, AutomaticSignInMethods.openWebLink.name)
        }
    }

    /// What callers need before any method of the service's own can work: connections, calls, streams, health. In the order of the report.
    public var minimalRequirements: [Requirement] {
        let ids = Set(WireRequirements.minimal)
        return requirements.filter { ids.contains($0.id) }
    }

    /// Everything that is required of an implementation, in the order of the report.
    public var requirements: [Requirement] {
        switch self {
        case .config: WireRequirements.all + ConfigRequirements.all
        case .authentication: WireRequirements.all + AuthenticationRequirements.all
        case .authorization: WireRequirements.all + AuthorizationRequirements.all
        case .autosignin: WireRequirements.all + AutoSignInRequirements.all
        }
    }
}
