import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The user metadata of a session for streaming (apple §1.2).
struct StreamingMetadataTests {
    private static let keys = ["userID", "householdID", "upstreamUserID", "channelID", "zip", "maxRating"].map { MetadataKey(key: $0) }
    private static let rating = UserAttribute(key: "maxRating.VCHIP", values: ["TV-PG"])

    private func rig(_ backend: Backend = .sqlite, keys: [MetadataKey] = keys) async throws -> AutomaticRig {
        let rig = try await AutomaticRig(backend)
        rig.changeIntegration { $0.metadataKeys = keys }
        return rig
    }

    @Test("apple #72: userID, channelID and maxRating at most, and no tokenSource", arguments: Backend.allCases)
    func limits(_ backend: Backend) async throws {
        let rig = try await rig(backend)
        let login = try await rig.signIn("dev-1")
        #expect(try await rig.rig.update(login, rig.call("dev-1"), [Self.rating, UserAttribute(key: "zip", values: ["12345"])]))
        #expect(try await rig.rig.metadata(rig.call("dev-1")).data.map(\.key).contains("householdID"))
        let answer = try await rig.start("dev-2", of: [login])
        let metadata = try #require(answer.metadata)
        #expect(metadata.data.map(\.key) == ["userID", "channelID", "maxRating"] && metadata.encrypted.isEmpty)
        #expect(metadata.data.first?.value == .text("ada"))
        #expect(try await rig.rig.metadata(rig.call("dev-2")) == metadata)
        let subject = try await rig.rig.sessions.findSession(SessionRequest(call: rig.call("dev-2")), context: rig.rig.context)
        #expect(subject.attributes == [UserAttribute(key: "channelID", values: ["a", "b"]), Self.rating])
    }

    @Test("apple #72: a login through a platform shows as no platform's session")
    func hidesPlatform() {
        var session = Sample.session(origin: SessionOrigin(kind: .platform, authenticatedAt: t0))
        #expect(MetadataSheet(session, keys: [], trial: nil).items.map(\.key) == ["tokenSource"])
        #expect(MetadataSheet(session, keys: [], trial: nil).forStreaming.items.isEmpty)
        session.origin = SessionOrigin(kind: .automatic, authenticatedAt: t0)
        #expect(MetadataSheet(session, keys: [MetadataKey(key: "tokenSource")], trial: nil).items.isEmpty)
    }

    @Test("Only what the integration enables; values that a decision brings later are told within the same limits")
    func followsIntegration() async throws {
        let rig = try await rig(keys: [MetadataKey(key: "householdID"), MetadataKey(key: "maxRating.VCHIP")])
        let session = try await rig.started("dev-2", of: rig.signIn("dev-1"))
        #expect(try await rig.rig.metadata(rig.call("dev-2")).data.isEmpty)
        let news = [Self.rating, UserAttribute(key: "maxRating.MPAA", values: ["PG"]), UserAttribute(key: "householdID", values: ["house-2"])]
        #expect(try await rig.rig.update(session, rig.call("dev-2"), news))
        let data = try await rig.rig.metadata(rig.call("dev-2")).data
        #expect(data == [MetadataEntry(key: "maxRating", value: .map(TextMap(entries: [TextMapEntry(key: "VCHIP", value: "TV-PG")])))])
    }

    @Test("A device that keeps its own session learns no more with the answer, and no less by itself")
    func limitsAnswer() async throws {
        let rig = try await rig()
        let login = try await rig.signIn("dev-1")
        let answer = try await rig.start("dev-1", of: [login])
        #expect(answer.session == login && answer.metadata?.data.map(\.key) == ["userID", "channelID"])
        #expect(try await rig.rig.metadata(rig.call("dev-1")).data.map(\.key).contains("householdID"))
    }
}
