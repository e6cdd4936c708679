import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The hourly work that forgets clients, at the days that hold unless set.
@Suite("Clients that nobody uses")
struct UnusedClientTests {
    private static let days = (acted: 400, idle: 30)

    @Test(
        "rest-v1 §3.1: a client that made nothing is forgotten after 30 days, one that did after 400; one with a session stays; an app registers again",
        arguments: Backend.allCases)
    func forgets(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        // More than one batch of them: the work goes on until nobody is left.
        let crowd = (0..<501).map { "crowd-\($0)" }
        for id in crowd { try await rig.store.add(Sample.client(id)) }
        let idle = try await rig.register()
        let acted = try await rig.register()
        _ = try await rig.code(rig.call(rig.token(of: acted).accessToken))
        let signedIn = try await rig.register()
        let session = Sample.session(client: signedIn.clientID, record: nil, lifetime: .seconds(86_400 * 1000))
        #expect(try await rig.store.start(session, now: rig.clock.now()))

        /// - Returns: Those who are left of the three.
        func after(days: Int64) async throws -> [String] {
            rig.clock.advance(by: .seconds(86_400 * days))
            await rig.modules.clients.unused.forgetOnce(after: Self.days.acted, idleAfter: Self.days.idle)
            var left: [String] = []
            for client in [idle, acted, signedIn] where try await rig.store.client(ClientID(client.clientID)) != nil { left.append(client.clientID) }
            return left
        }
        #expect(try await after(days: 30) == [idle, acted, signedIn].map(\.clientID), "not a moment before")
        #expect(try await rig.store.client(ClientID(crowd[0])) != nil && rig.log.lines.allSatisfy { $0.event != "clients.forgotten" })
        #expect(try await after(days: 1) == [acted, signedIn].map(\.clientID))
        for id in crowd { #expect(try await rig.store.client(ClientID(id)) == nil) }
        #expect(rig.log.lines.filter { $0.event == "clients.forgotten" }.map(\.fields) == [["clients": "502"]])

        await expectFault(.invalidClient) { _ = try await rig.token(of: idle) }
        #expect(try await rig.token(of: rig.register()).accessToken.isEmpty == false, "the app registers again")
        #expect(try await after(days: 370) == [signedIn.clientID])
        await expectFault(.invalidClient) { _ = try await rig.token(of: acted) }
        #expect(try await rig.token(of: signedIn).accessToken.isEmpty == false)
    }

    @Test("who asks for a token is in use: the days count from then")
    func usesCount() async throws {
        let rig = try Rig()
        let client = try await rig.register()
        for _ in 0..<3 {
            rig.clock.advance(by: .seconds(86_400 * 29))
            _ = try await rig.token(of: client)
            await rig.modules.clients.unused.forgetOnce(after: Self.days.acted, idleAfter: Self.days.idle)
        }
        _ = try await rig.token(of: client)
    }
}
