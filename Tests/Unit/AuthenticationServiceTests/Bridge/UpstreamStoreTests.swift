import Clocks
import Contracts
import Faults
import Identifiers
import PostgresServer
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The bridge's storage, on each engine.
@Suite(.serialized) struct UpstreamStoreTests {
    static let engines: [Backend] = PostgresServer.isHere ? [.sqlite, .postgres] : [.sqlite]

    private func open(_ backend: Backend) throws -> SqlAuthenticationStore { try backend.open() }

    static let slot = UpstreamSlotName(text: "vendor/tv/0a1b", upstream: "vendor", entry: "tv", isDevices: true)

    func part(
        _ session: SessionRecord, kind: String = "regular", mvpd: String = "CoastCable", slot: String = UpstreamStoreTests.slot.text
    ) -> UpstreamPart {
        UpstreamPart(
            session: session.id, key: session.key, mvpd: session.mvpd, upstream: "vendor", serviceProvider: "SP", theirMvpd: mvpd,
            slot: slot,
            kind: kind, startsAt: t0, expiresAt: session.expiresAt, confirmedAt: t0, encryptedNames: ["zip", "maxRating"], attributes: [1, 2, 3],
            device: session.device, userAgent: "Player/1")
    }

    private func session(_ id: String, mvpd: String = "DemoCable") -> SessionRecord { Sample.session(id, record: nil, mvpd: mvpd) }

    @Test("bridge B11: a client is registered by one copy at a time, and known to all afterwards", arguments: engines)
    func claims(_ backend: Backend) async throws {
        let store = try open(backend)
        #expect(try await store.claimBridgeSlot(Self.slot, until: t0 + .seconds(10), now: t0))
        #expect(try await !store.claimBridgeSlot(Self.slot, until: t0 + .seconds(11), now: t0 + .seconds(1)))
        #expect(try await store.bridgeSlot(Self.slot) == nil, "it is being registered")
        // Another's turn is not given back by who had it before.
        try await store.releaseBridgeSlot(Self.slot, until: t0 + .seconds(9))
        #expect(try await !store.claimBridgeSlot(Self.slot, until: t0 + .seconds(11), now: t0 + .seconds(1)))
        try await store.releaseBridgeSlot(Self.slot, until: t0 + .seconds(10))
        #expect(try await store.claimBridgeSlot(Self.slot, until: t0 + .seconds(11), now: t0 + .seconds(1)))
        // The copy that had the turn was killed.
        #expect(try await store.claimBridgeSlot(Self.slot, until: t0 + .seconds(25), now: t0 + .seconds(15)))
        var record = UpstreamSlotRecord(name: Self.slot, clientID: "client", secret: [9, 9], scopes: ["a", "b"])
        try await store.keep(record, now: t0)
        #expect(try await store.bridgeSlot(Self.slot) == record)
        #expect(try await !store.claimBridgeSlot(Self.slot, until: t0 + .seconds(99), now: t0 + .seconds(90)))
        (record.bearer, record.bearerEnd, record.bearerLifeSeconds) = ([7], t0 + .seconds(60), 3600)
        try await store.keep(record, now: t0)
        #expect(try await store.bridgeSlot(Self.slot) == record)
    }

    @Test("a claim is prolonged by its holder, and taken over from one that says nothing: what that one registered is not kept", arguments: engines)
    func takesClaimsOver(_ backend: Backend) async throws {
        let store = try open(backend)
        let ends = (1...4).map { t0 + .seconds(Int64($0)) }
        #expect(try await store.bridgeClaim(Self.slot) == nil)
        #expect(try await store.claimBridgeSlot(Self.slot, until: ends[0], now: t0))
        #expect(try await store.bridgeClaim(Self.slot) == ends[0])
        #expect(try await store.takeBridgeClaim(Self.slot, from: ends[0], until: ends[1]), "its holder lives")
        #expect(try await !store.takeBridgeClaim(Self.slot, from: ends[0], until: ends[2]), "it is another claim by now")
        #expect(try await store.takeBridgeClaim(Self.slot, from: ends[1], until: ends[2]), "its holder is dead")
        let late = UpstreamSlotRecord(name: Self.slot, clientID: "late", secret: [1], scopes: ["a"])
        let record = UpstreamSlotRecord(name: Self.slot, clientID: "client", secret: [9], scopes: ["a", "b"])
        #expect(try await !store.keep(late, claimedUntil: ends[1], now: t0))
        #expect(try await store.bridgeSlot(Self.slot) == nil)
        #expect(try await store.keep(record, claimedUntil: ends[2], now: t0))
        #expect(try await store.bridgeSlot(Self.slot) == record)
        #expect(try await store.bridgeClaim(Self.slot) == nil)
        #expect(try await !store.takeBridgeClaim(Self.slot, from: ends[2], until: ends[3]), "it is kept")
    }

    func pending(_ number: Int, secret: String? = nil, mvpd: String = "CoastCable") -> UpstreamPending {
        let record = Sample.record(id: "record-\(number)")
        return UpstreamPending(
            handle: RelayHandle("handle-\(number)").digest, record: record.id, code: record.code,
            key: SessionKey(device: record.deviceID, requestor: record.requestor), claims: record.claims, clientID: record.clientID,
            device: record.device, userAgent: record.userAgent, mvpd: MvpdID(mvpd), upstream: "vendor", serviceProvider: "SP", theirMvpd: mvpd,
            slot: Self.slot.text, upstreamCode: [1], redirectURL: "https://chan7.example/done", isOwn: true, startedAt: t0 + .seconds(Int64(number)),
            expiresAt: t0 + .seconds(1800), browserSecret: secret.map { BrowserSecret($0).digest })
    }

    @Test("bridge §7.2: logins of one browser stay until they are over; of many the first and the last", arguments: engines)
    func boundLogins(_ backend: Backend) async throws {
        let store = try open(backend)
        let key = pending(0).key
        func bound() async throws -> [UpstreamPending] { try await store.boundPendings(key, upstream: "vendor", mvpd: "CoastCable") }
        try await store.begin(pending(0))
        #expect(try await bound().isEmpty)
        #expect(try await store.bridgePending(pending(0).handle, now: t0) == pending(0))
        try await store.begin(pending(1, secret: "s1", mvpd: "HillTel"))
        for number in 2..<30 { try await store.begin(pending(number, secret: "s\(number)")) }
        let found = try await bound()
        #expect(found.map(\.startedAt) == ([2] + Array(21...29)).map { t0 + .seconds(Int64($0)) })
        #expect(found.dropLast().allSatisfy { $0.state == .superseded } && found.last == pending(29, secret: "s29"))
        #expect(try await store.unresolvedPendings(now: t0 + .seconds(1800), most: 99).isEmpty)
        #expect(try await store.unresolvedPendings(now: t0 + .seconds(1860), most: 99).count == 11)
        try await store.settle(pending(29).handle, as: .refusedUnseen)
        #expect(try await store.unresolvedPendings(now: t0, most: 99).map(\.handle) == [pending(29).handle])
        for login in try await bound() { try await store.settle(login.handle, as: .done) }
        #expect(try await bound().isEmpty)
    }

    @Test(
        "a device that is known to have no login under way has one as soon as it begins, and a session its part as soon as it starts",
        arguments: engines)
    func forgetsAbsence(_ backend: Backend) async throws {
        let store = try open(backend)
        let key = pending(0).key
        for _ in 0..<2 { #expect(try await store.bridgePendings(key, now: t0).isEmpty) }
        try await store.begin(pending(0))
        #expect(try await store.bridgePendings(key, now: t0).map(\.handle) == [pending(0).handle])
        try await store.settle(pending(0).handle, as: .done)
        for _ in 0..<2 { #expect(try await store.bridgePendings(key, now: t0).isEmpty) }
        try await store.begin(pending(1))
        #expect(try await store.bridgePendings(key, now: t0).map(\.handle) == [pending(1).handle])
        let session = session("session-1")
        for _ in 0..<2 { #expect(try await store.bridgedPart(session.id) == nil) }
        #expect(try await store.start(session, part(session), of: nil, now: t0))
        #expect(try await store.bridgedPart(session.id)?.upstream == "vendor")
    }

    @Test("a session comes with its part; a newer one of the same profile takes its place, and nothing is told upstream", arguments: engines)
    func keepsParts(_ backend: Backend) async throws {
        let store = try open(backend)
        let (first, second) = (session("s-1"), session("s-2"))
        #expect(try await store.start(first, part(first), of: nil, now: t0))
        #expect(try await store.bridgedPart(first.id) == part(first))
        #expect(try await store.start(second, part(second), of: nil, now: t0))
        #expect(try await store.sessions(second.key).map(\.id) == [second.id])
        #expect(try await store.rememberOrphans(now: t0) == 0)
        var confirmed = part(second)
        (confirmed.expiresAt, confirmed.confirmedAt, confirmed.attributes) = (t0 + .seconds(77), t0 + .seconds(5), [4])
        try await store.confirm(confirmed, updatedAt: t0 + .seconds(5))
        #expect(try await store.bridgedPart(second.id) == confirmed)
        #expect(try await store.sessions(second.key).first?.expiresAt == t0 + .seconds(77))
        try await store.suspect(second.id)
        #expect(try await store.bridgedPart(second.id)?.isSuspect == true)
        try await store.drop(confirmed, now: t0)
        #expect(try await store.sessions(second.key).isEmpty)
        #expect(try await store.bridgedPart(second.id) == nil)
    }

    @Test(
        "bridge B58: a decision is noted until upstream has told the person's attributes again; doubt about the session goes before it",
        arguments: engines)
    func notesDecisions(_ backend: Backend) async throws {
        let store = try open(backend)
        let session = session("s-1")
        #expect(try await store.start(session, part(session), of: nil, now: t0))
        try await store.decided(part(session))
        #expect(try await store.bridgedPart(session.id)?.mayHaveChanged == true)
        try await store.confirm(part(session), updatedAt: nil)
        #expect(try await store.bridgedPart(session.id) == part(session))
        try await store.suspect(session.id)
        try await store.decided(part(session))
        let doubted = try #require(try await store.bridgedPart(session.id))
        #expect(doubted.isSuspect && !doubted.mayHaveChanged)
    }

    @Test("bridge B69: a person's id in media tokens is the user id of the session, and of those that start in the next 90 days", arguments: engines)
    func learnsIDs(_ backend: Backend) async throws {
        let store = try open(backend)
        let day: Duration = .seconds(86_400)
        func start(_ id: String, of person: String?, now: Timestamp) async throws -> String? {
            let session = session(id)
            var part = part(session)
            part.person = person
            #expect(try await store.start(session, part, of: nil, now: now))
            return try await store.sessions(session.key).first?.userID
        }
        let scrambled = session("s-1").userID
        #expect(try await start("s-1", of: "ada", now: t0) == scrambled)
        try await store.learn("guid-1", of: part(session("s-1")), person: "ada", now: t0)
        #expect(try await store.sessions(session("s-1").key).first?.userID == "guid-1")
        #expect(try await start("s-2", of: "ada", now: t0 + day * 89) == "guid-1")
        #expect(try await start("s-3", of: "ben", now: t0 + day * 89) == scrambled)
        #expect(try await start("s-4", of: "ada", now: t0 + day * 170) == "guid-1", "its use has renewed it")
        #expect(try await start("s-5", of: nil, now: t0 + day * 170) == scrambled)
        try await store.learn("guid-2", of: part(session("s-5")), person: nil, now: t0)
        #expect(try await store.sessions(session("s-5").key).first?.userID == "guid-2")
        #expect(try await start("s-6", of: "ada", now: t0 + day * 300) == scrambled)
    }

    @Test(
        "bridge B80: a logout is kept with the session's end, and waits until upstream has heard of it; a trial's needs none; a lost part is found",
        arguments: engines)
    func remembersLogouts(_ backend: Backend) async throws {
        let store = try open(backend)
        let (viewer, trial, lost) = (session("s-1"), session("s-2", mvpd: "Trial"), session("s-3", mvpd: "Other"))
        #expect(try await store.start(viewer, part(viewer), of: nil, now: t0))
        #expect(try await store.start(trial, part(trial, kind: "temporary", mvpd: "TrialUp"), of: nil, now: t0))
        #expect(try await store.start(lost, part(lost, mvpd: "HillTel"), of: nil, now: t0))
        _ = try await store.end(device: viewer.key.device, requestors: [viewer.key.requestor], claims: DeviceClaims(), now: t0)
        let firstTry = t0 + .milliseconds(3000)
        try await store.remember(logoutsOf: [viewer.id, trial.id], now: t0, firstTry: firstTry)
        // Until then they are left to the call that ended the sessions: a work-off beside it would tell upstream twice.
        #expect(try await store.dueLogouts(now: firstTry - .milliseconds(1), most: 5).isEmpty)
        // Whoever ended the other one died before saying so.
        #expect(try await store.openLogouts(of: [viewer.id, trial.id, lost.id], now: t0).map(\.part.session) == [viewer.id, lost.id])
        #expect(try await store.dueLogouts(now: t0 + .seconds(5), most: 5).map(\.part.session) == [viewer.id, lost.id])
        let due = try await store.dueLogouts(now: firstTry, most: 5)
        #expect(due.map(\.part.session) == [viewer.id] && due.first?.tries == 0)
        #expect(try await store.openLogouts(of: viewer.key, upstream: "vendor", mvpd: "CoastCable", now: t0).count == 1)
        try await store.postpone(try #require(due.first), until: t0 + .seconds(5))
        #expect(try await store.dueLogouts(now: t0 + .seconds(4), most: 5).isEmpty)
        try await store.hastenLogouts(at: "another", now: t0 + .seconds(4))
        #expect(try await store.dueLogouts(now: t0 + .seconds(4), most: 5).isEmpty)
        try await store.hastenLogouts(at: "vendor", now: t0 + .seconds(4))
        #expect(try await Set(store.dueLogouts(now: t0 + .seconds(4), most: 5).map(\.part.session)) == [viewer.id, lost.id])
        try await store.postpone(try #require(due.first), until: t0 + .seconds(5))
        #expect(try await store.dueLogouts(now: t0 + .seconds(5), most: 5).first { $0.part.session == viewer.id }?.tries == 2)
        try await store.finish(try #require(due.first))
        #expect(try await store.dueLogouts(now: t0 + .seconds(5), most: 5).map(\.part.session) == [lost.id])
        // The session went with a new one at the same MVPD, by another client upstream.
        let (former, moved) = (session("s-4", mvpd: "Moved"), session("s-5", mvpd: "Moved"))
        #expect(try await store.start(former, part(former, mvpd: "Moved"), of: nil, now: t0))
        #expect(try await store.start(moved, part(moved, mvpd: "Moved", slot: "vendor/tv/ffff"), of: nil, now: t0))
        #expect(try await store.rememberOrphans(now: t0) == 1)
        #expect(try await store.dueLogouts(now: t0, most: 5).map(\.part.session) == [former.id])
    }

    @Test(
        "bridge B48: with a login the client's others end in the same change, and upstream has to hear of it; without one nothing changes",
        arguments: engines)
    func endsOthers(_ backend: Backend) async throws {
        let store = try open(backend)
        let (first, direct) = (session("s-1", mvpd: "First"), session("s-2", mvpd: "Direct"))
        let foreign = Sample.session("s-3", client: "client-2", record: nil, mvpd: "First")
        #expect(try await store.start(first, part(first, mvpd: "HillTel"), of: nil, now: t0))
        #expect(try await store.start(direct, now: t0))
        #expect(try await store.start(foreign, part(foreign, mvpd: "HillTel", slot: "vendor/tv/2"), of: nil, now: t0))
        let last = session("s-4", mvpd: "Last")
        #expect(try await store.startAlone(last, part(last), of: pending(1).handle, now: t0) == nil, "its login is done")
        #expect(try await store.dueLogouts(now: t0, most: 5).isEmpty)
        #expect(try await store.startAlone(last, part(last), of: nil, now: t0)?.map(\.session) == [first.id])
        #expect(try await store.sessions(first.key).map(\.id) == [last.id, foreign.id, direct.id])
        #expect(try await store.bridgedPart(first.id) == nil)
        #expect(try await store.dueLogouts(now: t0, most: 5).map(\.part.session) == [first.id])
    }

    @Test("bridge B15: with a client that upstream forgot go the sessions that came by it, and no others", arguments: engines)
    func dropsClients(_ backend: Backend) async throws {
        let store = try open(backend)
        let (own, other) = (session("s-1"), session("s-2", mvpd: "Direct"))
        try await store.keep(UpstreamSlotRecord(name: Self.slot, clientID: "client", secret: [], scopes: []), now: t0)
        #expect(try await store.start(own, part(own), of: nil, now: t0))
        #expect(try await store.start(other, now: t0))
        let end = t0 + .seconds(30 * 86_400)
        #expect(try await store.dropBridgeSlot(Self.slot, asideUntil: end, now: t0) == 1)
        #expect(try await store.sessions(own.key).map(\.id) == [other.id])
        #expect(try await store.bridgeSlot(Self.slot) == nil)
        let aside = try #require(try await store.lostBridgeSlot(Self.slot, now: end - .milliseconds(1)))
        #expect(aside.slot == UpstreamSlotRecord(name: Self.slot, clientID: "client", secret: [], scopes: []) && aside.at == t0)
        #expect(try await store.lostBridgeSlot(Self.slot, now: end) == nil)
        // Nobody takes a claim for a client, and the last one lost is the one that is kept.
        #expect(try await store.claimBridgeSlot(Self.slot, until: t0 + .seconds(10), now: t0))
        #expect(try await store.dropBridgeSlot(Self.slot, asideUntil: end, now: t0 + .seconds(1)) == 0)
        #expect(try await store.lostBridgeSlot(Self.slot, now: t0)?.at == t0)
        try await store.keep(UpstreamSlotRecord(name: Self.slot, clientID: "client-2", secret: [7], scopes: ["a", "b"]), now: t0)
        #expect(try await store.dropBridgeSlot(Self.slot, asideUntil: end, now: t0 + .seconds(2)) == 0)
        #expect(try await store.lostBridgeSlot(Self.slot, now: t0)?.slot.scopes == ["a", "b"])
        #expect(try await store.dropBridgeSlot(Self.slot, asideUntil: nil, now: t0 + .seconds(3)) == 0)
        #expect(try await store.lostBridgeSlot(Self.slot, now: t0) == nil)
    }

    @Test("the newest list of a place is kept", arguments: engines)
    func keepsLists(_ backend: Backend) async throws {
        let store = try open(backend)
        #expect(try await store.list("vendor/SP/roku") == nil)
        try await store.keep(list: [1], "vendor/SP/roku", at: t0)
        try await store.keep(list: [2, 3], "vendor/SP/roku", at: t0 + .seconds(1))
        let kept = try await store.list("vendor/SP/roku")
        #expect(kept?.content == [2, 3] && kept?.at == t0 + .seconds(1))
    }
}

extension UpstreamStoreTests {
    @Test("bridge §14.1: clients, logouts and lists of an upstream are counted, and of no other", arguments: engines)
    func counts(_ backend: Backend) async throws {
        let store = try backend.open()
        let hex = String(repeating: "0a", count: 32)
        for (name, upstream) in [
            ("vendor/tv/service", "vendor"), ("vendor/tv/\(hex)", "vendor"), ("vendor/phone/\(hex)", "vendor"), ("vendor/tv/7", "vendor"),
            ("vendor2/tv/\(hex)", "vendor2"),
        ] {
            let slot = UpstreamSlotName(text: name, upstream: upstream, entry: "tv", isDevices: false)
            try await store.keep(UpstreamSlotRecord(name: slot, clientID: "c", secret: [1], scopes: []), now: t0)
        }
        let waiting = UpstreamSlotName(text: "vendor/tv/8", upstream: "vendor", entry: "tv", isDevices: false)
        _ = try await store.claimBridgeSlot(waiting, until: t0 + .seconds(10), now: t0)
        try await store.keep(list: [1], "vendor/SP/roku", at: t0 + .seconds(50))
        try await store.keep(list: [1], "vendor/SP/tvos", at: t0 + .seconds(20))
        try await store.keep(list: [1], "vendor/SP/old", at: t0)
        try await store.keep(list: [1], "vendor2/SP/roku", at: t0 + .seconds(15))
        let holdings = try await store.bridgeHoldings("vendor", listsSince: t0 + .seconds(10), now: t0)
        #expect(holdings == UpstreamHoldings(clients: 4, deviceClients: 2, openLogouts: 0, oldestList: t0 + .seconds(20)))
        #expect(try await store.bridgeHoldings("nobody", listsSince: t0, now: t0) == UpstreamHoldings())
    }

    @Test(
        "bridge §14.1: metrics count clients with a bearer that holds, without one and unregistered, and logouts that have waited", arguments: engines
    )
    func countsForMetrics(_ backend: Backend) async throws {
        let store = try open(backend)
        #expect(try await store.bridgeCounts(patience: .seconds(60), now: t0).isEmpty)
        func keep(_ number: Int, at upstream: String = "vendor", bearerEnd: Timestamp) async throws {
            let name = UpstreamSlotName(text: "\(upstream)/tv/\(number)", upstream: upstream, entry: "tv", isDevices: false)
            var record = UpstreamSlotRecord(name: name, clientID: "client", secret: [9], scopes: [])
            record.bearerEnd = bearerEnd
            try await store.keep(record, now: t0)
        }
        for number in 0..<3 { try await keep(number, bearerEnd: t0 + .seconds(60)) }
        for number in 3..<5 { try await keep(number, bearerEnd: t0) }
        try await keep(1, at: "other", bearerEnd: t0 + .seconds(60))
        #expect(try await store.claimBridgeSlot(Self.slot, until: t0 + .seconds(10), now: t0))
        let session = session("s-1")
        #expect(try await store.start(session, part(session), of: nil, now: t0))
        _ = try await store.end(session.key, client: session.clientID, mvpd: session.mvpd, now: t0)
        try await store.remember(logoutsOf: [session.id], now: t0, firstTry: t0)
        let counts = try await store.bridgeCounts(patience: .seconds(60), now: t0 + .seconds(59))
        #expect(
            counts == ["vendor": UpstreamCounts(readyClients: 3, idleClients: 2, unregisteredClients: 1), "other": UpstreamCounts(readyClients: 1)])
        let later = try await store.bridgeCounts(patience: .seconds(60), now: t0 + .seconds(60))
        #expect(later["vendor"] == UpstreamCounts(idleClients: 5, unregisteredClients: 1, waitingLogouts: 1))
    }
}
