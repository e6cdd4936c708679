import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct ClientRevocationTests {
    @Test("A revoked client's tokens are refused at once, and it gets no others", arguments: Backend.allCases)
    func refusesTokens(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let client = try await rig.register()
        let (bearer, other) = (try await rig.token(of: client).accessToken, try await rig.bearer())
        _ = try await rig.code(rig.call(bearer))
        #expect(try await revoke(rig, client))
        await expectFault(.invalidClient) { _ = try await rig.code(rig.call(bearer)) }
        await expectFault(.invalidClient) {
            _ = try await rig.service.verifyAccessToken(.init(accessToken: bearer), context: rig.context)
        }
        await expectFault(.invalidClient) { _ = try await rig.token(of: client) }
        _ = try await rig.code(rig.call(other))
        #expect(try await !revoke(rig, client))
        await expectFault(.invalidRequest) { _ = try await rig.operations.revokeClient(.init(), context: rig.context) }
    }

    @Test("What others do while a client is revoked does not bring it back", arguments: Backend.allCases)
    func staysRevoked(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        // There each revocation waits until every copy has heard of it.
        for _ in 0..<(backend == .postgres ? 3 : 20) {
            let client = try await rig.register()
            let bearer = try await rig.token(of: client).accessToken
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { _ = try? await rig.service.verifyAccessToken(.init(accessToken: bearer), context: rig.context) }
                }
                group.addTask {
                    let wasKnown = try await revoke(rig, client)
                    #expect(wasKnown)
                }
                try await group.waitForAll()
            }
            await expectFault(.invalidClient) {
                _ = try await rig.service.verifyAccessToken(.init(accessToken: bearer), context: rig.context)
            }
        }
    }

    private func revoke(_ rig: Rig, _ client: RegisteredClient) async throws -> Bool {
        try await rig.operations.revokeClient(.init(clientID: client.clientID), context: rig.context).wasKnown
    }
}
