import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The sessions of a viewer that support sees and ends.
struct ViewerSupportTests {
    private func find(
        _ rig: Rig, _ viewer: FindViewerSessionsRequest.Viewer?, mvpd: String = "", requestor: String = "CHAN7"
    ) async throws -> ViewerSessions {
        let request = FindViewerSessionsRequest(requestor: requestor, mvpd: mvpd, viewer: viewer)
        return try await rig.operations.findViewerSessions(request, context: rig.context)
    }

    private func end(_ rig: Rig, _ viewer: FindViewerSessionsRequest.Viewer, session: String = "", mvpd: String = "") async throws -> UInt32 {
        let request = EndViewerSessionsRequest(
            viewer: FindViewerSessionsRequest(requestor: "CHAN7", mvpd: mvpd, viewer: viewer), sessionID: session)
        return try await rig.operations.endViewerSessions(request, context: rig.context).ended
    }

    @Test("a viewer is found by code, device, the MVPD's id and the app's id, and by nobody else's", arguments: Backend.allCases)
    func finds(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.signIn(call).code
        let session = try await rig.session(call)
        let subject = try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
        let byCode = try await find(rig, .code(" " + code.lowercased()))
        #expect(byCode.sessions.map(\.id) == [session.id] && byCode.code?.isUsed == true && !byCode.hasMore)
        let found = try #require(byCode.sessions.first)
        #expect(found.mvpd == "DemoCable" && found.kind == .regular && found.devicePrefix == "dev-")
        #expect(found.expiresAtMilliseconds == session.expiresAtMilliseconds)
        for viewer in [FindViewerSessionsRequest.Viewer.deviceID("dev-7f3a"), .userID(subject.upstreamUserID), .userID(session.userID)] {
            #expect(try await find(rig, viewer, mvpd: "DemoCable").sessions == [found])
            #expect(try await find(rig, viewer, mvpd: "OtherCable").sessions.isEmpty)
        }
        #expect(try await find(rig, .deviceID("dev-7f3a")).code == nil)
        #expect(try await find(rig, .deviceID("dev-7f3")).sessions.isEmpty)
        #expect(try await find(rig, .userID("nobody"), mvpd: "DemoCable").sessions.isEmpty)
        #expect(try await find(rig, .code("NOTHING")) == ViewerSessions())
        #expect(try await find(rig, .code(code), requestor: "CHAN8") == ViewerSessions(), "another requestor's code is none")
    }

    @Test("what is asked is bounded", arguments: Backend.allCases)
    func isBounded(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        await expectFault(.invalidRequest) { _ = try await find(rig, nil) }
        await expectFault(.invalidRequest) { _ = try await find(rig, .deviceID("")) }
        await expectFault(.invalidRequest) { _ = try await find(rig, .code(String(repeating: "A", count: 513))) }
        await expectFault(.invalidRequest) { _ = try await find(rig, .userID("ada")) }
        await expectFault(.invalidRequestor) { _ = try await find(rig, .deviceID("d"), requestor: "NOWHERE") }
    }

    @Test("one session is ended or all, and the app hears that there is none, also from another copy", arguments: Backend.allCases)
    func ends(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        let code = try await rig.signIn(call)
        let session = try await rig.session(call)
        #expect(try await end(rig, .deviceID("dev-7f3a"), session: "another") == 0)
        #expect(try await rig.session(call).id == session.id)
        #expect(try await end(rig, .code(code.code), session: session.id) == 1)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.copy().getSession(SessionRequest(call: call), context: rig.context) }
        #expect(try await end(rig, .deviceID("dev-7f3a")) == 0)
        try await rig.signIn(call, assertion: "_assertion-2")
        #expect(try await end(rig, .deviceID("dev-7f3a"), mvpd: "OtherCable") == 0)
        #expect(try await end(rig, .deviceID("dev-7f3a")) == 1)
        #expect(try await find(rig, .deviceID("dev-7f3a")).sessions.isEmpty)
    }
}
