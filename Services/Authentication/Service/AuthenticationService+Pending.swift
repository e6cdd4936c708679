public import ContractRuntime
public import Contracts
internal import Faults

extension AuthenticationService {
    public func completeOAuthSignIn(_ request: CompleteOAuthSignInRequest, context: CallContext) async throws -> SignInOutcome {
        throw Fault(.unimplemented, "No MVPD signs people in by OAuth yet.")
    }

    public func getUpstreamToken(_ request: UpstreamTokenRequest, context: CallContext) async throws -> UpstreamToken {
        throw Fault(.unimplemented, "No MVPD signs people in by OAuth yet.")
    }
}
