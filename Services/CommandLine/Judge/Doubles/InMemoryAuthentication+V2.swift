public import ContractRuntime
public import Contracts
internal import Faults

/// A service that does not know REST v2, as one that was replaced before it: whoever calls finds out by the fault.
extension InMemoryAuthentication {
    public func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan { throw Self.unknown }

    public func continueSignIn(_ request: ContinueSignInRequest, context: CallContext) async throws -> SignInPlan { throw Self.unknown }

    public func findProfiles(_ request: FindProfilesRequest, context: CallContext) async throws -> Profiles { throw Self.unknown }

    public func findProfilesByCode(_ request: SessionByCodeRequest, context: CallContext) async throws -> Profiles { throw Self.unknown }

    public func endProfile(_ request: EndProfileRequest, context: CallContext) async throws -> EndedProfile { throw Self.unknown }

    public func beginPartnerSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> SignInPlan { throw Self.unknown }

    public func exchangePartnerProfile(_ request: ExchangePartnerProfileRequest, context: CallContext) async throws -> Profiles { throw Self.unknown }

    private static let unknown = Fault(.unimplemented, "The service does not know REST v2.")
}
