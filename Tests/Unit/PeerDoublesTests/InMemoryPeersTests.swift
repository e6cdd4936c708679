import ContractRuntime
import Contracts
import Cryptography
import Faults
import PeerDoubles
import Testing
import Tokens

@Suite("The other doubles")
struct InMemoryPeersTests {
    @Test func configTellsItsWatchersOfEachVersion() async throws {
        let double = try InMemoryConfig(SampleCatalogue.configuration)
        let stream = try await double.watchConfiguration(WatchConfigurationRequest(), context: CallContext())
        var items = stream.makeAsyncIterator()
        let first = try #require(try await items.next())
        var changed = first
        changed.requestors[0].name = "Another"
        try double.publish(changed)
        let second = try #require(try await items.next())
        #expect(second.version > first.version && second.requestors[0].name == "Another")
        #expect(try await double.getConfiguration(GetConfigurationRequest(), context: CallContext()) == second)
        double.disconnectWatchers()
        await #expect(throws: Fault.self) { _ = try await items.next() }
    }

    @Test func configDoesNotSendTheVersionThatACallerHas() async throws {
        let double = try InMemoryConfig(SampleCatalogue.configuration)
        let stream = try await double.watchConfiguration(WatchConfigurationRequest(knownVersion: 7), context: CallContext())
        double.disconnectWatchers()
        var items = stream.makeAsyncIterator()
        await #expect(throws: Fault.self) { _ = try await items.next() }
    }

    @Test func authorizationPermitsWhatIsNotDenied() async throws {
        var behaviour = DoubleBehaviour()
        behaviour.denied = ["SECRET"]
        let sessions = InMemoryAuthentication(config: try InMemoryConfig(SampleCatalogue.configuration), behaviour: behaviour)
        let double = InMemoryAuthorization(sessions: sessions, keys: DoubleKeys())
        let call = InMemoryAuthenticationTests.call("tv-1")
        await expect(.authorizationNotFound) {
            try await double.getAuthorization(ResourceRequest(call: call, resource: "NEWS"), context: CallContext())
        }
        let decision = try await double.authorize(AuthorizeRequest(call: call, resource: "NEWS"), context: CallContext())
        #expect(try await double.getAuthorization(ResourceRequest(call: call, resource: "NEWS"), context: CallContext()) == decision)
        await expect(.authorizationDeniedByMvpd) {
            try await double.authorize(AuthorizeRequest(call: call, resource: "SECRET"), context: CallContext())
        }
        let list = PreauthorizeRequest(call: call, resources: ResourceList(text: "NEWS,SECRET,NEWS"))
        #expect(try await double.preauthorize(list, context: CallContext()).resources.map(\.authorized) == [true, false])
    }

    @Test func authorizationDeniesWhomAuthenticationSignedOut() async throws {
        let sessions = InMemoryAuthentication(config: try InMemoryConfig(SampleCatalogue.configuration))
        let double = InMemoryAuthorization(sessions: sessions, keys: DoubleKeys())
        let call = InMemoryAuthenticationTests.call("tv-1")
        _ = try await sessions.logout(LogoutRequest(call: call), context: CallContext())
        await expect(.authenticationSessionMissing) {
            try await double.authorize(AuthorizeRequest(call: call, resource: "NEWS"), context: CallContext())
        }
    }
}
