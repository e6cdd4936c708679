import ContractRuntime
import Contracts
import Doubles
import Faults
import Testing

/// Parental limits that come with permits (mvpd §4.2, rest-v1 §3.19).
@Suite struct RatingRefreshTests {
    private static let prefix = "urn:cablelabs:ocla:1.0:attribute:content:ratings:"
    private static let permit = Xacml.permit(
        Xacml.obligation("urn:x:any", (prefix + "maxMPAA", #""R""#), (prefix + "maxVCHIP", #"" TV-14 ""#)))

    @Test("rest-v1 #83, mvpd #116: new limits reach the session's attributes with the decision")
    func passesNewLimits() async throws {
        let fixture = try AuthorizationFixture()
        fixture.sessions.updateAttributes.answer(with: UpdateAttributesResponse(changed: true))
        fixture.transport.answer(Self.permit)
        _ = try await fixture.authorize()
        let request = UpdateAttributesRequest(
            sessionID: "session-1", deviceID: "dev-1", requestor: "CHAN7",
            attributes: [UserAttribute(key: "maxRating.MPAA", values: ["R"]), UserAttribute(key: "maxRating.VCHIP", values: ["TV-14"])])
        #expect(fixture.sessions.updateAttributes.requests == [request])
    }

    @Test func knownLimitsAreNotPassedOn() async throws {
        let fixture = try AuthorizationFixture()
        fixture.signIn(attributes: [
            UserAttribute(key: "maxRating.MPAA", values: ["R"]), UserAttribute(key: "maxRating.VCHIP", values: ["TV-14"]),
        ])
        fixture.transport.answer(Self.permit)
        _ = try await fixture.authorize()
        #expect(fixture.sessions.updateAttributes.requests.isEmpty)
    }

    @Test("mvpd §4.2: a decision neither fails for its limits nor waits long for them")
    func neverFailsADecision() async throws {
        let fixture = try AuthorizationFixture()
        fixture.transport.answer(Self.permit)
        fixture.sessions.updateAttributes.fail(with: Fault(.unavailable, "x"))
        _ = try await fixture.authorize()
        fixture.sessions.updateAttributes.answer { _, context in
            let end = try #require(context.deadline)
            #expect(ContinuousClock.now.duration(to: end) <= .milliseconds(500))
            throw Fault(.deadlineExceeded, "x")
        }
        fixture.transport.answer(
            Xacml.response(Xacml.result("Permit", obligations: Xacml.obligation("urn:x:any", (Self.prefix + "maxMPAA", #""PG""#)))))
        #expect(fixture.counts("rating_refresh_failures_total") == ["": 1])
        _ = try await fixture.authorize("other")
        #expect(fixture.sessions.updateAttributes.requests.count == 2)
        #expect(fixture.counts("rating_refresh_failures_total") == ["": 2])
    }
}
