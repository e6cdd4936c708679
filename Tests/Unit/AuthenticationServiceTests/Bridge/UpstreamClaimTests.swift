import BridgeClient
import Clocks
import Contracts
import Cryptography
import Faults
import Identifiers
import Logging
import ManualClocks
import OutboundHttp
import Synchronization
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Two copies that need one client upstream: the death of the one that registers it costs the other half a second, not the claim's whole time.
@Suite(.timeLimit(.minutes(1))) struct UpstreamClaimTests {
    /// Registers each time another client, after a while.
    private final class Upstream: OutboundTransport {
        private let taking: Duration
        private let clients = Mutex(0)

        private let name: String

        init(taking: Duration, name: String = "c") { (self.taking, self.name) = (taking, name) }

        var registrations: Int { clients.withLock { $0 } }

        func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
            let body: String
            if request.url.hasSuffix("/o/client/register") {
                let number = clients.withLock { clients in
                    clients += 1
                    return clients
                }
                try? await Task.sleep(for: taking)
                body = #"{"client_id":"\#(name)-\#(number)","client_secret":"s","scopes":["api:client:v2"]}"#
            } else {
                body = #"{"access_token":"t","expires_in":3600}"#
            }
            return OutboundAnswer(status: 201, headers: [], body: Array(body.utf8))
        }
    }

    private struct Statements: ClientSecrets {
        func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? { ProviderSecret("a statement") }
    }

    private let store: SqlAuthenticationStore
    private let clock = ManualClock(Timestamp(seconds: 784_111_777))
    private let client: UpstreamClientAt

    init() throws {
        store = try Backend.sqlite.open()
        let entry = BridgeClientEntry(id: "tv", statementReference: "acme-v2")
        client = UpstreamClientAt(
            BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example", clients: [entry]), entry, of: DeviceID("dev-1"))
    }

    private func copy(_ upstream: Upstream) throws -> UpstreamSlots {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        return UpstreamSlots(
            line: UpstreamConnection(transport: upstream, via: BridgeVia(origin: "https://tv.example"), clock: clock, logger: logger), store: store,
            statements: Statements(), seal: TokenSeal(keys: SymmetricKeyRing(current: try SymmetricKey(bytes: Array(0..<32)))), clock: clock,
            logger: logger)
    }

    private func bearer(_ slots: UpstreamSlots) async throws(UpstreamError) {
        _ = try await slots.bearer(client, for: nil, UpstreamDeadline(.seconds(9)))
    }

    private func clientID(_ slots: UpstreamSlots) async throws -> String? { try await slots.known(client).credentials?.clientID }

    @Test("a claim whose holder was killed is taken over within a second, and costs one registration", .tags(.timing))
    func takesOver() async throws {
        // The copy that made it will never be heard of again, and its clock was an hour ahead.
        let now = clock.now()
        #expect(try await store.claimBridgeSlot(client.name, until: now + .seconds(3610), now: now))
        let upstream = Upstream(taking: .zero)
        let slots = try copy(upstream)
        let start = ContinuousClock.now
        try await bearer(slots)
        let took = ContinuousClock.now - start
        #expect(took >= .milliseconds(500), "a holder that lives has time to say so")
        #expect(took < .seconds(5), "it waited for the claim's end")
        #expect(upstream.registrations == 1)
        #expect(try await store.bridgeSlot(client.name)?.clientID == "c-1")
    }

    @Test("a holder that lives keeps its claim however long upstream takes, and the others get its client", .tags(.timing))
    func waitsForTheLiving() async throws {
        let upstream = Upstream(taking: .milliseconds(1500))
        let (first, second) = (try copy(upstream), try copy(upstream))
        async let one: Void = bearer(first)
        async let other: Void = bearer(second)
        _ = try await (one, other)
        #expect(upstream.registrations == 1)
        #expect(try await clientID(first) == "c-1")
        #expect(try await clientID(second) == "c-1")
    }

    @Test("who was thought dead and comes back uses the client of the one who took over", .tags(.timing))
    func comesBack() async throws {
        let upstream = Upstream(taking: .milliseconds(600))
        let slots = try copy(upstream)
        async let late: Void = bearer(slots)
        // Somebody takes its claim over while it registers, and is done sooner.
        var lease: Timestamp?
        while lease == nil { lease = try await store.bridgeClaim(client.name) }
        var isTaken = false
        while !isTaken, let claim = try await store.bridgeClaim(client.name) {
            isTaken = try await store.takeBridgeClaim(client.name, from: claim, until: claim + .seconds(60))
        }
        try #require(isTaken)
        let other = try copy(Upstream(taking: .zero, name: "other"))
        try await store.releaseBridgeSlot(client.name, until: try #require(try await store.bridgeClaim(client.name)))
        try await bearer(other)
        try await late
        #expect(try await store.bridgeSlot(client.name)?.clientID == "other-1")
        #expect(try await clientID(other) == "other-1")
        #expect(try await clientID(slots) == "other-1")
    }
}
