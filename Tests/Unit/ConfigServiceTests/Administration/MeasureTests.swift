import CatalogueSamples
import Clocks
import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("Degradation by applications", .eachEngine)
struct MeasureTests {
    /// With a back office of harbor, and one of reef.
    private static let catalogue = AdministrationWorld.catalogue.replacingOccurrences(
        of: #""applications": ["#,
        with: """
            "applications": [
                {"id": "news-ops", "name": "Office", "programmer": "harbor", "requestors": ["NEWS"], "platforms": "all", "scopes": ["decisions:owner"]},
                {"id": "reef-ops", "name": "Office", "programmer": "reef", "requestors": ["SPORT"], "platforms": "all", "scopes": ["decisions:owner"]},
            """)

    private func world() async throws -> AdministrationWorld { try await AdministrationWorld(catalogue: Self.catalogue) }

    private func scope(
        by application: String = "news-ops", programmer: String = "harbor", requestor: String = "NEWS", _ kinds: [DegradationKind] = [],
        mvpds: [String] = ["TinyCable"], resources: [String] = []
    ) -> DegradationScope {
        DegradationScope(
            applicationID: application, programmerID: programmer, requestorID: requestor, kinds: kinds, mvpdIDs: mvpds, resources: resources)
    }

    private func apply(
        _ admin: AdministrationWorld, _ scope: DegradationScope, ttl: UInt32 = 600, message: String = ""
    ) async throws -> [ActiveDegradation] {
        let request = ApplyDegradationMeasureRequest(scope: scope, ttlSeconds: ttl, message: message)
        guard case .started(let rules) = try await admin.service.applyDegradationMeasure(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "refused")
        }
        return rules.rules
    }

    private func listed(_ admin: AdministrationWorld, _ scope: DegradationScope, former: Bool = false) async throws -> [ActiveDegradation] {
        let request = ListDegradationMeasuresRequest(scope: scope, includesFormer: former)
        return try await admin.service.listDegradationMeasures(request, context: CallContext()).rules
    }

    private func remove(_ admin: AdministrationWorld, _ scope: DegradationScope) async throws {
        _ = try await admin.service.removeDegradationMeasures(RemoveDegradationMeasuresRequest(scope: scope), context: CallContext())
    }

    @Test("clients #95: a rule is with services when the call returns, is listed, and ends by a removal; both are in the log")
    func appliesAndRemoves() async throws {
        let admin = try await world()
        let none = scope([.authzNone], resources: ["NEWS-1"])
        let applied = try await apply(admin, none, message: "Not now.")
        #expect(admin.published.configuration.degradationRules == applied.compactMap(\.rule))
        #expect(applied.first?.rule?.message == "Not now." && applied.first?.rule?.resources == ["NEWS-1"])
        #expect(try await listed(admin, scope()) == applied)
        #expect(try await listed(admin, scope([.authzNone])) == applied)
        #expect(try await listed(admin, scope([.authnAll])).isEmpty)
        #expect(try await listed(admin, scope(mvpds: ["Trial"])).isEmpty)
        #expect(try await listed(admin, scope(resources: ["NEWS-2"])).isEmpty)
        #expect(try await admin.service.listDegradationRules(.init(token: AdministrationWorld.Who.ed.token), context: CallContext()).rules == applied)
        try await remove(admin, none)
        #expect(admin.published.configuration.degradationRules.isEmpty)
        try await remove(admin, none)
        let audit = try await admin.audit()
        #expect(audit.prefix(2).map(\.action) == ["degradation_ended", "degradation_started"])
        #expect(audit.prefix(2).allSatisfy { $0.author == "application news-ops" })
    }

    @Test("the same rule again has the new end and message, and there is one")
    func appliesAgain() async throws {
        let admin = try await world()
        let first = try await apply(admin, scope([.authzAll], mvpds: ["TinyCable", "Trial"]), ttl: 0)
        #expect(first.count == 2)
        #expect(first[0].rule.map { $0.endsAtMilliseconds - $0.startsAtMilliseconds } == 86_400_000)
        let again = try await apply(admin, scope([.authzAll]), ttl: 60, message: "Soon.")
        #expect(again.first?.rule?.id == first[0].rule?.id && again.first?.rule?.message == "Soon.")
        #expect(again.first?.rule.map { $0.endsAtMilliseconds - $0.startsAtMilliseconds } == 60_000)
        #expect(try await listed(admin, scope(mvpds: [])).count == 2)
        _ = try await apply(admin, scope([.authzAll], resources: ["NEWS-1"]))
        #expect(try await listed(admin, scope(mvpds: [])).count == 3)
        #expect(try await admin.audit()[1].action == "degradation_renewed")
    }

    @Test("a removal for some resources leaves the rule for the others, and one for every resource alone")
    func removesInPart() async throws {
        let admin = try await world()
        _ = try await apply(admin, scope([.authzNone]))
        _ = try await apply(admin, scope([.authzNone], resources: ["NEWS-1", "NEWS-2"]))
        try await remove(admin, scope([.authzNone], resources: ["NEWS-1"]))
        #expect(admin.published.configuration.degradationRules.map(\.resources) == [[], ["NEWS-2"]])
        try await remove(admin, scope([.authzNone], resources: ["NEWS-2"]))
        #expect(admin.published.configuration.degradationRules.map(\.resources) == [[]])
        try await remove(admin, scope())
        #expect(admin.published.configuration.degradationRules.isEmpty)
    }

    @Test("the history has what ended, newest first, with its end")
    func history() async throws {
        let admin = try await world()
        _ = try await apply(admin, scope([.authnAll]), ttl: 60)
        admin.world.clock.advance(by: .seconds(100))
        try await admin.service.endOverdueDegradations()
        let removed = try await apply(admin, scope([.authzAll]))
        try await remove(admin, scope([.authzAll]))
        let running = try await apply(admin, scope([.authzNone]))
        let all = try await listed(admin, scope(), former: true)
        #expect(all.map { $0.rule?.kind } == [.authzNone, .authzAll, .authnAll])
        #expect(all[0] == running[0] && all[0].endedAtMilliseconds == 0)
        #expect(all[1].endedAtMilliseconds < (removed[0].rule?.endsAtMilliseconds ?? 0))
        #expect(all[2].endedAtMilliseconds == all[2].rule?.endsAtMilliseconds)
        #expect(try await listed(admin, scope(), former: false) == running)
        #expect(try await listed(admin, scope(by: "reef-ops", programmer: "reef", requestor: "", mvpds: []), former: true).isEmpty)
    }

    @Test("clients #95: another programmer's media company, a foreign requestor, an application without the scope: insufficient_scope")
    func foreign() async throws {
        let admin = try await world()
        _ = try await apply(admin, scope([.authnAll]))
        for bad in [
            scope(programmer: "reef"), scope(by: "reef-ops"), scope(by: "reef-ops", programmer: "reef"), scope(by: "news-tv"), scope(by: "nobody"),
            scope(requestor: "SPORT"),
        ] {
            var rule = bad
            rule.kinds = [.authzNone]
            #expect(try await code { _ = try await listed(admin, bad) } == .insufficientScope)
            #expect(try await code { _ = try await apply(admin, rule) } == .insufficientScope)
            #expect(try await code { try await remove(admin, bad) } == .insufficientScope)
        }
        try await remove(admin, scope(by: "reef-ops", programmer: "reef", requestor: "", mvpds: []))
        #expect(admin.published.configuration.degradationRules.count == 1)
    }

    @Test("what no administrator could start is refused with the field")
    func refusals() async throws {
        let admin = try await world()
        func fields(_ scope: DegradationScope, ttl: UInt32 = 60) async throws -> [String] {
            let request = ApplyDegradationMeasureRequest(scope: scope, ttlSeconds: ttl)
            guard case .refusal(let refusal) = try await admin.service.applyDegradationMeasure(request, context: CallContext()).outcome else {
                return []
            }
            return refusal.problems.map(\.field)
        }
        #expect(try await fields(scope([.authnAll], mvpds: ["Other"])) == ["mvpds[0]"])
        #expect(try await fields(scope([.authnAll], mvpds: [])) == ["mvpds"])
        #expect(try await fields(scope([.authnAll]), ttl: 86_401) == ["endsAt"])
        #expect(try await fields(scope([.authnAll, .authzAll])) == ["kind"])
        #expect(admin.published.configuration.degradationRules.isEmpty)
    }
}
