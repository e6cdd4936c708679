import Clocks
import Testing

@testable import BridgeClient

/// Slots, budgets and what is asked when (bridge §4.2, §5.4, §7, §9.5, §14.3).
@Suite struct StateTests {
    private let now = Timestamp(seconds: 1_000_000)
    private let credentials = BridgeCredentials(clientID: "c", clientSecret: "s", scopes: ["api:client:v2"])

    private func bearer(_ life: Duration, _ token: String = "t") -> BridgeBearer { BridgeBearer(token: token, end: now + life, life: life) }

    private func working(_ kind: BridgeSlot.Kind) -> BridgeSlot {
        var slot = BridgeSlot(kind)
        #expect(slot.registered(credentials, scope: "api:client:v2", now) == nil)
        slot.issued(bearer(.seconds(21_600)))
        return slot
    }

    @Test("bridge B11: a slot registers once, gets a token once, then calls")
    func life() {
        var slot = BridgeSlot(.device)
        #expect(slot.step(now) == .register)
        #expect(slot.registered(credentials, scope: "api:client:v2", now) == nil)
        #expect(slot.step(now) == .token(credentials))
        let given = bearer(.seconds(3600))
        slot.issued(given)
        #expect(slot.step(now) == .call(given))
        #expect(!slot.isWorn(now) && slot.isWorn(now + .seconds(3421)))
        #expect(slot.step(now + .seconds(3600)) == .token(credentials))
    }

    @Test("bridge B13: a bearer with less than a minute left is renewed before the call, and serves while that fails")
    func worn() {
        var slot = working(.device)
        slot.issued(bearer(.seconds(50)))
        #expect(slot.isWorn(now))
        #expect(slot.failed(.token, .serverError(503), now) == nil)
        #expect(slot.step(now) == .call(bearer(.seconds(50))))
    }

    @Test("bridge B14: a second 401 is an alarm; where upstream gives no bearer it is asked for one again after a minute")
    func unauthorized() {
        var slot = working(.device)
        let used = bearer(.seconds(21_600))
        #expect(slot.unauthorized(with: used, isRepetition: false) == nil)
        #expect(slot.step(now) == .token(credentials))
        let second = bearer(.seconds(21_600), "u")
        slot.issued(second)
        #expect(slot.unauthorized(with: used, isRepetition: false) == nil)
        #expect(slot.step(now) == .call(second), "a late 401 of an old bearer does not cost the new one")
        let refused = BridgeFailure.refused(BridgeRefusal(status: 400, code: "invalid_scope"))
        #expect(slot.failed(.token, refused, now) == .statementRefused)
        #expect(slot.step(now) == .call(second), "a bearer that holds serves on")
        #expect(slot.unauthorized(with: second, isRepetition: true) == .accessRefused)
        #expect(slot.step(now + .seconds(59)) == .wait(.accessRefused(until: now + .seconds(60))))
        #expect(slot.step(now + .seconds(60)) == .token(credentials))
    }

    @Test("bridge B15, B18: a device's client is registered anew at once, a shared one only after a second question")
    func lostClients() {
        let gone = BridgeFailure.refused(BridgeRefusal(status: 400, code: "invalid_client"))
        var own = working(.device)
        #expect(own.failed(.token, gone, now) == .clientLost)
        #expect(own.step(now) == .register)
        var shared = working(.shared)
        #expect(shared.failed(.token, gone, now) == nil)
        #expect(shared.step(now + .seconds(9)) == .wait(.clientDoubted(until: now + .seconds(10))))
        #expect(shared.step(now + .seconds(10)) == .token(credentials))
        #expect(shared.failed(.token, gone, now + .seconds(10)) == .clientLost)
        #expect(shared.step(now + .seconds(10)) == .register)
        var known = working(.shared)
        _ = known.failed(.token, gone, now)
        known.issued(bearer(.seconds(100)))
        #expect(known.step(now) == .call(bearer(.seconds(100))), "an upstream that remembers its client was only confused")
    }

    @Test("bridge B16, B17: a refused statement rests ten minutes, or until it is replaced")
    func refusedStatements() {
        let refused = BridgeFailure.refused(BridgeRefusal(status: 400, code: "unapproved_software_statement"))
        var slot = BridgeSlot(.device)
        #expect(slot.failed(.register, refused, now) == .statementRefused)
        let end = now + .seconds(600)
        #expect(slot.step(now + .seconds(599)) == .wait(.statementRefused(code: "unapproved_software_statement", until: end)))
        #expect(slot.step(end) == .register)
        slot.forgive()
        #expect(slot.step(now) == .register)
        #expect(slot.failed(.register, .badRequest(400), now) == .statementRefused)
        #expect(slot.step(now + .seconds(60)) == .register)
        #expect(slot.failed(.register, .serverError(503), now) == nil)
        var poor = BridgeSlot(.device)
        #expect(poor.registered(BridgeCredentials(clientID: "c", clientSecret: "s", scopes: []), scope: "api:client:v2", now) == .scopeMissing)
        #expect(poor.step(now) == .wait(.statementRefused(code: "scope_missing", until: end)))
    }

    @Test("bridge §4.2: who gets no bearer for another reason is asked about once in a minute; a bearer that holds serves meanwhile")
    func refusedTokens() throws {
        let refused = BridgeFailure.refused(BridgeRefusal(status: 400, code: "unauthorized_client"))
        var slot = working(.device)
        let end = try #require(slot.bearer?.end)
        let worn = end - .seconds(30)
        #expect(slot.isWorn(worn) && slot.failed(.token, refused, worn) == .statementRefused)
        if case .call = slot.step(worn) {} else { Issue.record("\(slot.step(worn))") }
        #expect(!slot.isWorn(worn) && slot.step(end) == .wait(.accessRefused(until: worn + .seconds(60))))
        var bare = BridgeSlot(.device, state: .registered(credentials))
        #expect(bare.failed(.token, refused, now) == .statementRefused)
        #expect(bare.step(now + .seconds(59)) == .wait(.accessRefused(until: now + .seconds(60))))
        #expect(bare.step(now + .seconds(60)) == .token(credentials))
        #expect(bare.failed(.token, .serverError(503), now) == nil, "an outage says nothing of the client")
    }

    @Test("a clock that is set back does not prolong a rest")
    func clocks() {
        var slot = BridgeSlot(.device)
        _ = slot.failed(.register, .refused(BridgeRefusal(status: 400, code: "invalid_software_statement")), now)
        #expect(slot.step(now - .seconds(3600)) == .register)
    }

    @Test("the bucket of an address gives its burst, then one a second; a 429 stops it")
    func budgets() {
        var budget = DeviceBudget(perSecond: 1, burst: 8, now)
        for _ in 0..<8 { #expect(budget.take(now) == nil) }
        #expect(budget.take(now) == .seconds(1))
        #expect(budget.take(now + .seconds(1)) == nil)
        #expect(budget.take(now - .seconds(100)) != nil)
        budget.throttled(.seconds(7), now)
        #expect(budget.take(now + .seconds(3)) == .seconds(4))
        #expect(budget.take(now + .seconds(7)) == nil)
        #expect(!budget.isFull(now + .seconds(8)) && budget.isFull(now + .seconds(60)))
    }

    @Test("bridge B37: a device that polls each second for a minute costs 15 looks at most, and none before its time")
    func polls() {
        var reads = PendingReads(start: now, end: now + .seconds(1800), poll: .seconds(5))
        #expect(reads.read(for: .device, now) == .byCode(repeated: true))
        let looks = (1...60).count { reads.read(for: .device, now + .seconds($0)) != .no }
        #expect(looks == 12)
        #expect(reads.read(for: .page, now + .seconds(61)) == .byCode(repeated: true))
        #expect(reads.read(for: .page, now + .seconds(61)) == .no)
        let later = (200...300).count { reads.read(for: .device, now + .seconds($0)) != .no }
        #expect(later == 11)
    }

    @Test("bridge B38: after its end a sign-in is looked for once more")
    func finalRead() {
        var reads = PendingReads(start: now, end: now + .seconds(1800), poll: .seconds(5))
        #expect(reads.read(for: .device, now + .seconds(1800)) == .final)
        #expect(reads.read(for: .device, now + .seconds(1801)) == .no && reads.isOver)
    }

    @Test("a return that found nothing is followed by three looks at most")
    func laterReads() {
        var reads = PendingReads(start: now, end: now + .seconds(1800), poll: .seconds(5))
        reads.returnedWithout(now)
        #expect((1...100).count { reads.read(for: .device, now + .seconds($0)) != .no } == 3)
        #expect(reads.isOver)
    }

    @Test("bridge B44: a return that upstream could not be asked about is looked after until it can, however long that takes")
    func undecidedReads() {
        var reads = PendingReads(start: now, end: now + .seconds(1800), poll: .seconds(5))
        reads.returnedUndecided(now)
        #expect((1...100).count { reads.read(for: .device, now + .seconds($0)) != .no } == 20)
        #expect(!reads.isOver)
        reads.note(isUndecided: false)
        #expect((101...300).count { reads.read(for: .device, now + .seconds($0)) != .no } == 3, "another copy has heard that nobody is there")
        #expect(reads.isOver)
    }

    @Test("bridge B75, B77: batches of five, each resource once, halved where upstream takes fewer, merged in order")
    func batches() throws {
        let resources = (1...12).map { "r\($0)" }
        #expect(PreauthorizationBatches(resources + ["r1"]).batches.map(\.count) == [5, 5, 2])
        #expect(PreauthorizationBatches.smaller(than: 5) == 3 && PreauthorizationBatches.smaller(than: 1) == nil)
        let body = #"{"decisions":[{"resource":"r2","authorized":true},{"resource":"r1","authorized":false}]}"#
        let decisions = try BridgedDecision.all(AnswerTests.answer(200, body))
        #expect(PreauthorizationBatches.merged(["r1", "r2", "r3", "r1"], decisions).map { $0?.resource } == ["r1", "r2", nil, "r1"])
    }

    @Test(
        "bridge B45: where an answer may send a browser",
        arguments: [
            ("/api/v2/authenticate/A/C", "https://api.upstream.example/api/v2/authenticate/A/C"),
            ("https://sp.upstream.example/x", "https://sp.upstream.example/x"),
            ("https://api.upstream.example/x", "https://api.upstream.example/x"), ("https://evil.example/x", nil), ("//evil.example/x", nil),
            ("http://api.upstream.example/x", nil), ("https://api.upstream.example@evil.example/", nil), ("javascript:alert(1)", nil), ("/a\\b", nil),
            ("https://sp.upstream.example:8443/x", nil), ("/a\r\nSet-Cookie: x", nil), ("", nil),
            ("https://SP.upstream.example/x", "https://SP.upstream.example/x"),
        ] as [(String, String?)])
    func browserAddresses(address: String, absolute: String?) {
        let rule = BridgedAddress(origin: "https://api.upstream.example", hosts: ["sp.upstream.example"])
        #expect(rule.absolute(address) == absolute)
    }

    @Test("bridge B6, B26: each provider once, in upstream's order, a direct one in place of the bridged one, a disabled one not at all")
    func lists() throws {
        let body = """
            {"requestor":{"mvpds":[{"id":"CoastCable","displayName":"Coast"},{"id":"NorthCable","displayName":"North up"},{"id":"HillTel","displayName":"Hill"},
            {"id":"Closed"},{"id":"TheirTel","displayName":"Theirs"}]}}
            """
        let list = try BridgedList(AnswerTests.answer(200, body)).providers
        let catalogue = [
            ProviderListMerge.Entry(id: "NorthCable", displayName: "North", way: .direct), .init(id: "Lake", displayName: "Lake", way: .direct),
            .init(id: "CoastCable", displayName: "Our Coast", way: .bridged(id: "CoastCable")), .init(id: "Closed", displayName: "", way: .off),
            .init(id: "OurTel", displayName: "", way: .bridged(id: "TheirTel")), .init(id: "Gone", displayName: "", way: .bridged(id: "Gone")),
        ]
        let whole = ProviderListMerge(order: .upstream, isWhole: true).merge(list, catalogue)
        #expect(whole.map(\.id) == ["CoastCable", "NorthCable", "HillTel", "OurTel", "Lake"])
        #expect(whole.map(\.displayName) == ["Our Coast", "North", "Hill", "Theirs", "Lake"])
        #expect(whole.map { $0.provider == nil } == [false, true, false, false, true])
        #expect(
            ProviderListMerge(order: .upstream, isWhole: false).merge(list, catalogue).map(\.id) == ["CoastCable", "NorthCable", "OurTel", "Lake"])
        #expect(
            ProviderListMerge(order: .catalogue, isWhole: true).merge(list, catalogue).map(\.id)
                == ["NorthCable", "Lake", "CoastCable", "OurTel", "HillTel"])
        #expect(
            ProviderListMerge(order: .displayName, isWhole: false).merge(list, catalogue).map(\.displayName) == [
                "Lake", "North", "Our Coast", "Theirs",
            ])
    }
}
