import Clocks
import ContractRuntime
import Contracts
import Faults
import Foundation
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The records of a person that are told and erased.
struct PersonTests {
    private static let everything: [PersonSelector.Person] = [.userID("user-42"), .householdID("house-1"), .deviceID("dev-7f3a")]

    private func export(_ rig: Rig, _ person: PersonSelector.Person?, mvpd: String = "", logins: [PersonLogin] = []) async throws -> PersonExport {
        let request = ExportPersonRequest(selector: PersonSelector(mvpd: mvpd, logins: logins, person: person))
        return try await rig.operations.exportPerson(request, context: rig.context)
    }

    private func erase(_ rig: Rig, _ person: PersonSelector.Person, mvpd: String = "") async throws -> PersonErasure {
        let request = ErasePersonRequest(selector: PersonSelector(mvpd: mvpd, person: person))
        return try await rig.operations.erasePerson(request, context: rig.context)
    }

    private func signIn(_ rig: Rig, _ user: String, device: String, requestor: String = "CHAN7", assertion: String) async throws -> String {
        let call = try await rig.call(rig.bearer(), requestor: requestor, device: device)
        let code = try await rig.code(call)
        let browser = try await rig.start(code.code)
        rig.saml.accept(user: user, assertion: assertion)
        #expect(try await rig.finish(browser).result == .signedIn)
        return code.code
    }

    private func rows(_ told: PersonExport, _ table: String) throws -> [[String: Any]] {
        try (told.records?.tables.first { $0.name == table }?.rows ?? []).map { row in
            try #require(try JSONSerialization.jsonObject(with: Data(row.utf8)) as? [String: Any])
        }
    }

    @Test("every row of a person is told by table, whichever way they are named, and each is JSON", arguments: Backend.allCases)
    func tells(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let code = try await signIn(rig, "user-42", device: "dev-7f3a", assertion: "_a1")
        _ = try await signIn(rig, "user-42", device: "dev-2", assertion: "_a2")
        for person in Self.everything + [.code(" " + code.lowercased())] {
            let told = try await export(rig, person)
            #expect(told.people.count == 1 && told.people.first?.upstreamUserID == "user-42" && told.people.first?.sessions == 2, "\(person)")
            #expect(Set(told.deviceIDs) == ["dev-7f3a", "dev-2"] && told.sessionIDs.count == 2 && told.records?.hasMore == false)
            let sessions = try rows(told, "session")
            #expect(Set(sessions.compactMap { $0["device_id"] as? String }) == ["dev-7f3a", "dev-2"])
            #expect(sessions.allSatisfy { ($0["attributes"] as? [String: [String]])?["householdID"] == ["house-1"] })
            #expect(sessions.allSatisfy { ($0["device"] as? [String: String])?["osName"] == "Roku OS" })
            #expect(try rows(told, "registration_code").count == 2)
            #expect(told.records?.remainders.map(\.name).contains("used_assertion") == true)
            #expect(told.logins.contains { $0.mvpd == "DemoCable" && $0.userID.count == 64 })
        }
    }

    @Test("of an erased person's login at an upstream what upstream told goes at once, and the row when upstream has heard of the logout")
    func erasesBridged() async throws {
        let bridge = try BridgeRig()
        try await bridge.signIn(bridge.viewer())
        func kept() async throws -> [(octets: Int64, logout: Int64)] {
            try await bridge.rig.store.store.read { database in
                try database.all("SELECT length(attributes), logout_ms FROM bridge_session") { (octets: $0.next(), logout: $0.next()) }
            }
        }
        #expect(try await kept().map { $0.octets > 0 && $0.logout == 0 } == [true])
        _ = try await erase(bridge.rig, .deviceID("dev-7f3a"))
        #expect(try await kept().map { $0.octets == 0 && $0.logout > 0 } == [true])
    }

    @Test("after an erasure nothing of the person is there, in one commit, and nothing of others has gone", arguments: Backend.allCases)
    func erases(_ backend: Backend) async throws {
        for person in Self.everything {
            let rig = try Rig(backend)
            _ = try await signIn(rig, "user-42", device: "dev-7f3a", assertion: "_a1")
            _ = try await signIn(rig, "user-42", device: "dev-2", assertion: "_a2")
            if case .householdID = person {} else { _ = try await signIn(rig, "other", device: "dev-3", assertion: "_a3") }
            let erased = try await erase(rig, person)
            let tables = Dictionary(uniqueKeysWithValues: (erased.records?.tables ?? []).map { ($0.name, $0.rows) })
            #expect(!erased.isAmbiguous && tables["session"] == 2 && tables["registration_code"] == 2, "\(person): \(tables)")
            #expect(erased.records?.remainders.map(\.name).contains("erased") == true)
            for again in Self.everything {
                if case .householdID = again, case .householdID = person {} else if case .householdID = again { continue }
                let told = try await export(rig, again)
                #expect(told.people.isEmpty && told.records?.tables.isEmpty == true, "\(again) after \(person): \(told.records?.tables ?? [])")
            }
            if case .householdID = person { continue }
            #expect(try await export(rig, .deviceID("dev-3")).people.first?.upstreamUserID == "other")
            // Once more does no harm.
            #expect(try await erase(rig, person).records?.tables.isEmpty == true)
        }
    }

    @Test("the app of an erased person hears that there is no session, at another copy too", arguments: Backend.allCases)
    func endsSessions(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        let copy = rig.copy()
        _ = try await copy.getSession(SessionRequest(call: call), context: rig.context)
        _ = try await rig.session(call)
        _ = try await erase(rig, .userID("user-42"))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        await expectFault(.authenticationSessionMissing) { _ = try await copy.getSession(SessionRequest(call: call), context: rig.context) }
    }

    @Test("an id that stands for two people is refused, and they are shown", arguments: Backend.allCases)
    func refusesTwo(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let store = rig.store
        #expect(try await store.start(Sample.session("s1", device: "dev-1", record: nil, mvpd: "DemoCable", user: "u1"), now: t0))
        #expect(try await store.start(Sample.session("s2", device: "dev-1", record: nil, mvpd: "OtherCable", user: "u2"), now: t0))
        for person in [PersonSelector.Person.userID("user-42"), .householdID("house-1"), .deviceID("dev-1")] {
            let erased = try await erase(rig, person)
            #expect(erased.isAmbiguous && Set(erased.people.map(\.mvpd)) == ["DemoCable", "OtherCable"] && erased.records == nil, "\(person)")
            let told = try await export(rig, person)
            #expect(told.isAmbiguous && told.people.count == 2 && told.records == nil && told.sessionIDs.isEmpty)
        }
        let erased = try await erase(rig, .userID("user-42"), mvpd: "DemoCable")
        #expect(erased.people.map(\.mvpd) == ["DemoCable"])
        // The device is somebody else's too: what is the device's stays.
        let left = try await export(rig, .deviceID("dev-1"))
        #expect(left.people.map(\.mvpd) == ["OtherCable"] && left.sessionIDs == ["s2"])
    }

    @Test("a sign-in that began before the erasure brings nobody back; one that begins after it does", arguments: Backend.allCases)
    func endsSignInsUnderWay(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        _ = try await signIn(rig, "user-42", device: "dev-7f3a", assertion: "_a1")
        let call = try await rig.call(rig.bearer(), device: "dev-new")
        let code = try await rig.code(call)
        let browser = try await rig.start(code.code)
        rig.saml.accept(user: "user-42", assertion: "_a2")
        rig.clock.advance(by: .seconds(30))
        _ = try await erase(rig, .userID("user-42"))
        rig.clock.advance(by: .seconds(30))
        #expect(try await rig.finish(browser).result == .rejected)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        let told = try await export(rig, .userID("user-42"))
        #expect(told.people.isEmpty && told.records?.tables.isEmpty == true)
        let later = try await rig.code(call)
        let again = try await rig.start(later.code)
        rig.saml.accept(user: "user-42", assertion: "_a3")
        #expect(try await rig.finish(again).result == .signedIn)
        #expect(try await export(rig, .userID("user-42")).people.count == 1)
    }

    @Test("erasures and sign-ins of one person at the same time: whichever comes last, no half of the person stays", arguments: Backend.allCases)
    func racesWithSignIns(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        for round in 0..<8 {
            rig.clock.advance(by: .seconds(10))
            let call = try await rig.call(rig.bearer(), device: "dev-\(round)")
            let browser = try await rig.start(try await rig.code(call).code)
            rig.saml.accept(user: "user-42", assertion: "_r\(round)")
            async let finished = rig.finish(browser)
            async let erased = erase(rig, .userID("user-42"), mvpd: "DemoCable")
            _ = try await (finished, erased)
            let told = try await export(rig, .userID("user-42"))
            #expect(told.sessionIDs.isEmpty, "round \(round)")
        }
    }

    @Test("a session that is taken over from a login before the erasure is not made", arguments: Backend.allCases)
    func takesNothingOver(_ backend: Backend) async throws {
        let store = try backend.open()
        #expect(try await store.start(Sample.session("s1", record: nil), now: t0))
        let query = PersonQuery(name: .user("user-42"), mvpd: nil, isAnonymous: { _ in false })
        #expect(try await store.erase(query, now: t0 + .seconds(5)).found.sessions.map(\.id.text) == ["s1"])
        let shared = Sample.session("s2", device: "dev-2", record: nil, origin: SessionOrigin(kind: .shared, authenticatedAt: t0))
        await expectFault(.authenticationSessionMissing) { _ = try await store.start(shared, now: t0 + .seconds(6)) }
        #expect(try await store.person(query).sessions.isEmpty)
    }

    @Test("trials, service devices, logouts and codes of the device go with its person", arguments: Backend.allCases)
    func erasesDevices(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = try await rig.call(rig.bearer())
        try await rig.signIn(call)
        let other = try await rig.call(rig.bearer(), device: "dev-trial")
        try await rig.preview(other)
        try await rig.play("CHAN7-1", other)
        let told = try await export(rig, .deviceID("dev-trial"))
        #expect(told.people.isEmpty && told.deviceIDs == ["dev-trial"])
        #expect(try rows(told, "trial_device").count == 1 && rows(told, "trial").count == 1 && rows(told, "session").count == 1)
        let erased = try await erase(rig, .deviceID("dev-trial"))
        let tables = Set((erased.records?.tables ?? []).map(\.name))
        #expect(tables.isSuperset(of: ["session", "trial", "trial_device"]))
        #expect(try await export(rig, .deviceID("dev-trial")).records?.tables.isEmpty == true)
        #expect(try await export(rig, .userID("user-42")).sessionIDs.count == 1)
    }

    @Test("a login that another service knows as the same person's is told and erased with them", arguments: Backend.allCases)
    func followsLogins(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let store = rig.store
        #expect(try await store.start(Sample.session("s1", device: "dev-1", record: nil, mvpd: "DemoCable", user: "u1"), now: t0))
        #expect(try await store.start(Sample.session("s2", device: "dev-2", record: nil, mvpd: "OtherCable", user: "u2"), now: t0))
        let login = PersonLogin(mvpd: "OtherCable", userID: "u2")
        let told = try await export(rig, .deviceID("dev-1"), logins: [login])
        #expect(!told.isAmbiguous && Set(told.sessionIDs) == ["s1", "s2"] && told.logins.contains(login))
    }

    @Test(
        "households of sessions that a release before wrote are noted; until then nobody is told that a household has nobody",
        arguments: Backend.allCases)
    func notesHouseholds(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let store = rig.store
        #expect(try await store.start(Sample.session("s1", device: "dev-1", record: nil), now: t0))
        try await store.store.change("UPDATE session SET household = NULL", [])
        await expectFault(.unavailable) { _ = try await export(rig, .householdID("house-1")) }
        #expect(try await export(rig, .userID("user-42")).sessionIDs == ["s1"])
        #expect(try await store.markHouseholds { _, _ in [] } == 1)
        #expect(try await store.markHouseholds { _, _ in [] } == 0)
        #expect(try await export(rig, .householdID("house-1")).sessionIDs == ["s1"])
        #expect(try await export(rig, .householdID("house-2")).sessionIDs.isEmpty)
    }

    @Test("what is asked is bounded")
    func isBounded() async throws {
        let rig = try Rig(.sqlite)
        for person: PersonSelector.Person? in [nil, .userID(""), .deviceID(String(repeating: "x", count: 513))] {
            await expectFault(.invalidRequest) { _ = try await export(rig, person) }
        }
        let many = (0...100).map { PersonLogin(mvpd: "DemoCable", userID: "\($0)") }
        await expectFault(.invalidRequest) { _ = try await export(rig, .userID("u"), logins: many) }
        #expect(try await export(rig, .code("NOTHING")).records?.tables.isEmpty == true)
    }
}
