import CatalogueSamples
import Clocks
import ContractRuntime
import Contracts
import Testing

@Suite("Upstreams in the administration", .eachEngine)
struct UpstreamTests {
    private static let vendor = """
        {"id": "vendor", "baseUrl": "https://api.upstream.example", "clients": [{"id": "tv", "statementReference": "tv-v2", "requestors": ["NEWS"], "platforms": "all"}]}
        """

    @Test("B5: upstreams, and what they serve, are an operator's to say")
    func rights() async throws {
        let admin = try await AdministrationWorld()
        #expect(try await code { try await admin.create(.upstream, Self.vendor, as: .ed) } == .insufficientRole)
        try await admin.create(.upstream, Self.vendor).changed()
        #expect(try await code { try await admin.get(.upstream, "vendor", as: .ed) } == .notFound)
        let bridge: [String: Any] = ["upstream": "vendor", "returnOrigin": "https://login.news.example"]
        #expect(try await code { try await admin.edit(.requestor, "NEWS", as: .ed) { $0["upstream"] = bridge } } == .insufficientRole)
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = bridge }.changed()
        #expect(try await code { try await admin.edit(.integration, "NEWS/TinyCable", as: .ed) { $0["upstream"] = true } } == .insufficientRole)
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["upstream"] = true }.changed()
        try await admin.push().version()
        #expect(admin.published.configuration.upstreams.map(\.id) == ["vendor"])
        #expect(admin.published.configuration.requestors.first { $0.id == "NEWS" }?.bridge?.serviceProvider == "NEWS")
        // An editor's other changes go on, beside what an upstream serves.
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Late" }.changed()
        #expect(try await code { try await admin.edit(.requestor, "NEWS", as: .ed) { $0["upstream"] = nil } } == .insufficientRole)
        #expect(try await code { try await admin.edit(.integration, "NEWS/TinyCable", as: .ed) { $0["upstream"] = nil } } == .insufficientRole)
        try await admin.push("Late on", as: .ed).version()
        #expect(admin.requestorName("NEWS") == "Late")
    }

    @Test("an upstream that serves somebody stays; the names of statements are not shown in reviews")
    func references() async throws {
        let admin = try await AdministrationWorld()
        try await admin.create(.upstream, Self.vendor).changed()
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = ["upstream": "vendor", "returnOrigin": "https://news.example"] }.changed()
        let refusal = try #require(try await admin.delete(.upstream, "vendor").refusal)
        #expect(refusal.references.map(\.id) == ["NEWS"])
        let draft = try await admin.draft()
        #expect(draft.changes.contains { $0.newJson.contains("api.upstream.example") })
        #expect(!draft.changes.contains { $0.newJson.contains("tv-v2") })
        // B4: judged at the entry, with the requestor and the upstream it stands on.
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["upstream"] = true }.changed()
        let wrong = try await admin.edit(.integration, "NEWS/TinyCable") { $0["autoSignIn"] = true }
        #expect(wrong.refusal?.problems.map(\.field) == ["autoSignIn"])
    }

    @Test("bridge B4: a rule that lets in at an upstream's MVPD needs media tokens of ours; one that refuses does not")
    func degradation() async throws {
        let admin = try await AdministrationWorld()
        func problems(_ kind: DegradationKind) async throws -> [String] {
            let end = CatalogueFolder.now + .seconds(600)
            let request = StartDegradationRequest(
                token: AdministrationWorld.Who.ed.token, kind: kind, requestorID: "NEWS", mvpdIDs: ["TinyCable"],
                endsAtMilliseconds: UInt64(end.milliseconds))
            guard case .refusal(let refusal) = try await admin.service.startDegradation(request, context: CallContext()).outcome else { return [] }
            return refusal.problems.map(\.field)
        }
        #expect(try await problems(.authnAll).isEmpty)
        try await admin.create(.upstream, Self.vendor).changed()
        let bridge: [String: Any] = ["upstream": "vendor", "returnOrigin": "https://login.news.example"]
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = bridge }.changed()
        try await admin.edit(.integration, "NEWS/TinyCable") { $0["upstream"] = true }.changed()
        try await admin.push().version()
        for kind in [DegradationKind.authnAll, .authzAll] { #expect(try await problems(kind) == ["mvpds[0]"]) }
        #expect(try await problems(.authzNone).isEmpty)
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = bridge.merging(["localMediaTokens": true]) { $1 } }.changed()
        try await admin.push().version()
        for kind in [DegradationKind.authnAll, .authzAll] { #expect(try await problems(kind).isEmpty) }
    }
}
