@testable import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("How much the library asks for")
@MainActor
struct PaceTests {
    @Test("from getAuthentication to the first poll's answer there is no call beside the code and the poll", arguments: RestVersion.allCases)
    func addsNoRoundTrip(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.forget()
        app.server.signIn("plain")
        app.whenDisplayed = { $0.enabler.setSelectedProvider("plain") }
        try await app.signIn()
        #expect(app.server.names.prefix(2) == [.RGC, .AUN])
        #expect(app.server.names.count { $0 == .AUN } == 1)
    }

    @Test("a long wait for a second screen keeps nothing: no event, no entry, no call that goes on", arguments: RestVersion.allCases)
    func keepsNothing(rest: RestVersion) async throws {
        let app = TestApp(.tvOS, rest: rest)
        try await app.configure()
        app.server.change { $0.codeLifetime = 36_000 }
        app.forget()
        let callbacks = try await app.until("setAuthenticationStatus") { app.enabler.setSelectedProvider("plain") }
        #expect(callbacks == ["status(REGCODE)", "status(N130)", LoginTests.failed])
        #expect(app.server.calls(.AUN).count == 7199)
        #expect(app.server.calls(.RGC).count == 1 && app.server.business.count == 7200)
    }
}
