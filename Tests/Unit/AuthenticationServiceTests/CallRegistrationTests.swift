import ContractRuntime
import Contracts
import Testing

/// The owners of the contract's calls.
@Suite struct CallRegistrationTests {
    @Test("each call of the contract is registered exactly once, and no other")
    func registersEachCallOnce() throws {
        let rig = try Rig(.sqlite, upstream: ScriptedUpstream())
        let registered = try #require(rig.modules.caller as? RegisteredCalls)
        var contract = RegisteredCalls()
        AuthenticationMethods.register(AuthenticationClient(caller: contract), in: &contract)
        SessionsMethods.register(SessionsClient(caller: contract), in: &contract)
        LoginsMethods.register(LoginsClient(caller: contract), in: &contract)
        AuthenticationOperationsMethods.register(AuthenticationOperationsClient(caller: contract), in: &contract)
        #expect(contract.names.count > 60)
        #expect(registered.names.sorted() == contract.names.sorted())
    }
}
