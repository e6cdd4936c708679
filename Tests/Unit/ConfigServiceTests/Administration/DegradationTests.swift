import CatalogueSamples
import Clocks
import ConfigService
import ContractRuntime
import Contracts
import Faults
import Testing

@Suite("Degradation rules", .eachEngine)
struct DegradationTests {
    private func request(
        _ who: AdministrationWorld.Who = .ed, kind: DegradationKind = .authnAll, requestor: String = "NEWS", mvpds: [String] = ["TinyCable"],
        lasting: Duration = .seconds(7200)
    ) -> StartDegradationRequest {
        StartDegradationRequest(
            token: who.token, kind: kind, requestorID: requestor, mvpdIDs: mvpds, endsAtMilliseconds: Self.end(lasting),
            message: "Please wait.", reason: "agreed with Tiny Cable")
    }

    private static func end(_ span: Duration) -> UInt64 { UInt64((CatalogueFolder.now + span).milliseconds) }

    @Test("dashboard #32: a rule is with services at once without a push, ends by itself, and both are in the log")
    func startAndEnd() async throws {
        let admin = try await AdministrationWorld()
        var items = try await ConfigService(published: admin.published, statements: admin.statements, statementCallers: [])
            .watchConfiguration(WatchConfigurationRequest(knownVersion: admin.published.configuration.version), context: CallContext())
            .makeAsyncIterator()
        let outcome = try await admin.service.startDegradation(request(mvpds: ["TinyCable", "Trial"]), context: CallContext()).outcome
        guard case .started(let rules) = outcome else { throw AdministrationWorld.Unexpected(description: "\(outcome as Any)") }
        #expect(rules.rules.compactMap(\.rule?.mvpdID) == ["TinyCable", "Trial"])
        let seen = try await items.next()
        #expect(seen?.degradationRules == rules.rules.compactMap(\.rule))
        #expect(try await admin.versions().count == 1)
        #expect(!admin.service.hasOverdueDegradations)
        admin.world.clock.advance(by: .seconds(7200))
        #expect(admin.service.hasOverdueDegradations)
        try await admin.service.endOverdueDegradations()
        #expect(try await items.next()?.degradationRules == [])
        #expect(!admin.service.hasOverdueDegradations)
        let audit = try await admin.audit()
        #expect(audit.map(\.action) == ["degradation_ended", "degradation_ended", "degradation_started", "degradation_started", "import"])
        #expect(audit.map(\.author) == ["time", "time", "ed", "ed", "catalogue file"])
        #expect(audit[0].text.contains("AuthNAll") && audit[0].text.contains("NEWS"))
    }

    @Test("dashboard #33: an end is needed, after now and within 24 hours", arguments: [nil, 0, -1, 86_401] as [Int64?])
    func ends(seconds: Int64?) async throws {
        let admin = try await AdministrationWorld()
        var request = request()
        request.endsAtMilliseconds = seconds.map { Self.end(.seconds($0)) } ?? 0
        guard case .refusal(let refusal) = try await admin.service.startDegradation(request, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "started")
        }
        #expect(refusal.reason == .invalid && refusal.problems.map(\.field) == ["endsAt"])
        #expect(admin.published.configuration.degradationRules.isEmpty)
    }

    @Test("a rule of exactly 24 hours is possible, and can be renewed from then on")
    func renews() async throws {
        let admin = try await AdministrationWorld()
        guard
            case .started(let rules) = try await admin.service.startDegradation(
                request(lasting: .seconds(86_400)), context: CallContext()
            ).outcome
        else { throw AdministrationWorld.Unexpected(description: "refused") }
        let id = try #require(rules.rules.first?.rule?.id)
        let later = Self.end(.seconds(100_000))
        let renewal = RenewDegradationRequest(token: AdministrationWorld.Who.ed.token, id: id, endsAtMilliseconds: later)
        guard case .refusal = try await admin.service.renewDegradation(renewal, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "renewed too far")
        }
        admin.world.clock.advance(by: .seconds(50_000))
        guard case .started = try await admin.service.renewDegradation(renewal, context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "not renewed")
        }
        #expect(admin.published.configuration.degradationRules.map(\.endsAtMilliseconds) == [later])
    }

    @Test("a rule that is ended is gone at once; foreign rules are not found")
    func end() async throws {
        let admin = try await AdministrationWorld()
        guard case .started(let rules) = try await admin.service.startDegradation(request(), context: CallContext()).outcome else {
            throw AdministrationWorld.Unexpected(description: "refused")
        }
        let id = try #require(rules.rules.first?.rule?.id)
        func end(_ who: AdministrationWorld.Who) async throws {
            _ = try await admin.service.endDegradation(EndDegradationRequest(token: who.token, id: id), context: CallContext())
        }
        #expect(try await code { try await end(.rita) } == .notFound)
        #expect(try await code { try await end(.vic) } == .insufficientRole)
        let foreign = ListDegradationRulesRequest(token: AdministrationWorld.Who.rita.token)
        #expect(try await admin.service.listDegradationRules(foreign, context: CallContext()).rules.isEmpty)
        try await end(.emma)
        #expect(admin.published.configuration.degradationRules.isEmpty)
        #expect(try await code { try await end(.emma) } == .notFound)
    }

    @Test("rules survive a restart, and those whose time is over do not come back")
    func restart() async throws {
        let admin = try await AdministrationWorld()
        _ = try await admin.service.startDegradation(request(lasting: .seconds(60)), context: CallContext())
        _ = try await admin.service.startDegradation(request(kind: .authzNone, lasting: .seconds(600)), context: CallContext())
        await admin.store.close()
        admin.world.clock.advance(by: .seconds(100))
        let again = try await AdministrationWorld(admin.world)
        #expect(again.published.configuration.degradationRules.map(\.kind) == [.authzNone])
        #expect(again.published.configuration.version > admin.published.configuration.version)
        let record = try #require(try await again.audit().first)
        #expect(record.action == "degradation_ended" && record.author == "time" && record.text.contains("AuthNAll"))
    }

    @Test("a rule that ends while something else is changed is recorded with that change")
    func endsBesideOthers() async throws {
        let admin = try await AdministrationWorld()
        _ = try await admin.service.startDegradation(request(lasting: .seconds(60)), context: CallContext())
        admin.world.clock.advance(by: .seconds(60))
        try await admin.edit(.requestor, "NEWS") { $0["name"] = "Late" }.changed()
        try await admin.push().version()
        #expect(admin.published.configuration.degradationRules.isEmpty)
        #expect(try await admin.audit().prefix(2).map(\.action) == ["degradation_ended", "push"])
    }

    @Test("texts have up to 500 characters and no control characters but line ends; at most 1,000 resources of 1 to 1,024 octets")
    func bounds() async throws {
        let admin = try await AdministrationWorld()
        func fields(_ change: (inout StartDegradationRequest) -> Void) async throws -> [String] {
            var request = request(kind: .authzNone)
            change(&request)
            switch try await admin.service.startDegradation(request, context: CallContext()).outcome {
            case .refusal(let refusal): return refusal.problems.map(\.field)
            case .started(let rules):
                for id in rules.rules.compactMap(\.rule?.id) {
                    let end = EndDegradationRequest(token: AdministrationWorld.Who.ed.token, id: id)
                    _ = try await admin.service.endDegradation(end, context: CallContext())
                }
                return []
            case nil: return ["no outcome"]
            }
        }
        for (text, isGood) in [
            (String(repeating: "é", count: 500), true), (String(repeating: "x", count: 501), false), ("a\nb", true), ("a\u{1b}[0m", false),
        ] {
            #expect(try await fields { $0.message = text } == (isGood ? [] : ["message"]))
            #expect(try await fields { $0.reason = text } == (isGood ? [] : ["reason"]))
        }
        #expect(try await fields { $0.resources = (0..<1000).map { "r\($0)" } } == [])
        #expect(try await fields { $0.resources = (0...1000).map { "r\($0)" } } == ["resources"])
        #expect(try await fields { $0.resources = [String(repeating: "r", count: 1024)] } == [])
        #expect(try await fields { $0.resources = ["a", "", String(repeating: "é", count: 513)] } == ["resources[1]", "resources[2]"])
    }

    @Test("an MVPD without an integration, an unknown kind, the same MVPD twice: refused with the field")
    func fields() async throws {
        let admin = try await AdministrationWorld()
        func fields(_ request: StartDegradationRequest) async throws -> [String] {
            guard case .refusal(let refusal) = try await admin.service.startDegradation(request, context: CallContext()).outcome else { return [] }
            return refusal.problems.map(\.field)
        }
        #expect(try await fields(request(mvpds: ["TinyCable", "Other"])) == ["mvpds[1]"])
        #expect(try await fields(request(mvpds: ["TinyCable", "TinyCable"])) == ["mvpds[1]"])
        #expect(try await fields(request(mvpds: [])) == ["mvpds"])
        #expect(try await fields(request(kind: .unknown)) == ["kind"])
        var odd = request()
        odd.platforms = [.roku, .unknown]
        #expect(try await fields(odd) == ["platforms[1]"])
        #expect(admin.published.configuration.degradationRules.isEmpty)
    }
}
