import Clocks
import Contracts
import Doubles
import Faults
import Logging
import ManualClocks
import Storage
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The contract of the store of people of service tokens, on each backend.
struct ServiceTokenStoreTests {
    private static func tie(
        _ device: String = "dev-1", programmer: String = "seven", at moment: Timestamp = t0, lifetime: Duration = .seconds(600), new: String? = nil
    ) -> ServiceTokenTie {
        ServiceTokenTie(
            programmer: ProgrammerID(programmer), device: DeviceID(device), information: Sample.device, now: moment, expiresAt: moment + lifetime,
            newTie: ServiceTieID(new ?? "tie-of-\(device)-\(programmer)"))
    }

    private static func name(_ text: String = "ada", id: String = "person-1") -> ServicePersonName {
        ServicePersonName(digest: Array(text.utf8), newID: ServicePersonID(id))
    }

    private static func link(_ code: String, of person: String, programmer: String = "seven") -> ServiceLinkCode {
        ServiceLinkCode(code: code, person: ServicePersonID(person), programmer: ProgrammerID(programmer), expiresAt: t0 + .seconds(1800))
    }

    @Test("A name is one person at its programmer, and another at another; a device keeps its tie", arguments: Backend.allCases)
    func people(_ backend: Backend) async throws {
        let store = try backend.open()
        let first = try await store.tie(Self.tie(), to: Self.name())
        #expect(first.person == ServicePersonID("person-1") && first.tie == ServiceTieID("tie-of-dev-1-seven"))
        let later = t0 + .seconds(10)
        let again = try await store.tie(Self.tie(at: later, new: "unused"), to: Self.name(id: "unused"))
        #expect(again.person == first.person && again.tie == first.tie && again.seenAt == later)
        #expect(try await store.tie(Self.tie("dev-2"), to: Self.name(id: "unused")).person == first.person)
        #expect(try await store.tie(Self.tie("dev-3"), to: Self.name("ben", id: "person-2")).person == ServicePersonID("person-2"))
        let elsewhere = try await store.tie(Self.tie(programmer: "other"), to: Self.name(id: "person-3"))
        #expect(elsewhere.person == ServicePersonID("person-3") && elsewhere.programmer == ProgrammerID("other"))
        #expect(try await store.serviceDevice(first.tie) == again)
        #expect(try await store.serviceDevices(of: first.person, now: t0).map(\.device.text) == ["dev-1", "dev-2"])
        #expect(try await store.serviceDevices(of: first.person, now: t0 + .seconds(600)).map(\.device.text) == ["dev-1"])
    }

    @Test("A device that was taken out is known no more, and has another tie when it comes back", arguments: Backend.allCases)
    func unties(_ backend: Backend) async throws {
        let store = try backend.open()
        let own = try await store.tie(Self.tie(), to: Self.name())
        let other = try await store.tie(Self.tie("dev-2"), to: Self.name("ben", id: "person-2"))
        let (ours, theirs) = (ServiceIdentity("s1"), ServiceIdentity("s2"))
        for (number, device, identity) in [(1, "dev-1", ours), (2, "dev-3", ours), (3, "dev-1", theirs)] {
            var origin = SessionOrigin(kind: .regular, authenticatedAt: t0)
            origin.serviceIdentity = identity
            #expect(
                try await store.start(
                    Sample.session("session-\(number)", client: "client-\(number)", device: device, record: nil, origin: origin), now: t0))
        }
        var record = Sample.record(device: "dev-1")
        (record.serviceIdentity, record.isPlan) = (ours, true)
        #expect(try await store.claim(record, now: t0))
        let key = SessionKey(device: DeviceID("dev-1"), requestor: RequestorID("CHAN7"))
        #expect(try await store.sessions(key).count == 2)
        try await store.untie([own], of: ours)
        #expect(try await store.serviceDevice(own.tie) == nil)
        #expect(try await store.serviceDevice(other.tie) == other, "another person's")
        #expect(try await store.sessions(of: ours, now: t0).map(\.id.text) == ["session-2"])
        #expect(try await store.sessions(of: theirs, now: t0).map(\.id.text) == ["session-3"])
        #expect(Set(try await store.sessions(key).map(\.origin.serviceIdentity)) == [nil, theirs])
        #expect(try await store.liveRecord(record.code, now: t0)?.serviceIdentity == nil)
        #expect(try await !store.renew(own.tie, at: t0, until: t0 + .seconds(900), personUntil: t0 + .seconds(9000)))
        #expect(try await store.tie(Self.tie(new: "tie-new"), to: Self.name()).tie == ServiceTieID("tie-new"))
        #expect(try await store.renew(other.tie, at: t0 + .seconds(5), until: t0 + .seconds(900), personUntil: t0 + .seconds(9000)))
        let renewed = try await store.serviceDevice(other.tie)
        #expect(renewed?.seenAt == t0 + .seconds(5) && renewed?.expiresAt == t0 + .seconds(900))
    }

    @Test("A person has so many devices at most; those that were not seen for longest go", arguments: Backend.allCases)
    func mostDevices(_ backend: Backend) async throws {
        let store = try backend.open()
        for number in 0..<(ServiceTokenDevice.most + 3) {
            _ = try await store.tie(Self.tie("dev-\(number)", at: t0 + .seconds(Int64(number))), to: Self.name())
        }
        let devices = try await store.serviceDevices(of: ServicePersonID("person-1"), now: t0)
        #expect(devices.count == ServiceTokenDevice.most && devices.first?.device.text == "dev-\(ServiceTokenDevice.most + 2)")
        #expect(devices.last?.device.text == "dev-3")
    }

    @Test("rest-v2 #103: of many simultaneous uses of a link code one succeeds, at its programmer and in its time", arguments: Backend.allCases)
    func linksOnce(_ backend: Backend) async throws {
        let store = try backend.open()
        let person = try await store.tie(Self.tie(), to: Self.name()).person
        #expect(try await store.add(Self.link("123456", of: person.text), now: t0))
        #expect(try await store.tie(Self.tie("dev-9", programmer: "other"), by: "123456") == nil)
        #expect(try await store.tie(Self.tie("dev-9"), by: "123457") == nil)
        #expect(try await store.tie(Self.tie("dev-9", at: t0 + .seconds(1800)), by: "123456") == nil)
        let found = try await withThrowingTaskGroup(of: ServiceTokenDevice?.self) { group in
            for number in 0..<16 { group.addTask { try await store.tie(Self.tie("dev-\(number)"), by: "123456") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(found.compactMap(\.?.person) == [person])
    }

    @Test("A new link code ends the person's one before; one that another person has is not given out, until it is over", arguments: Backend.allCases)
    func linkCodes(_ backend: Backend) async throws {
        let store = try backend.open()
        let ada = try await store.tie(Self.tie(), to: Self.name()).person
        let ben = try await store.tie(Self.tie("dev-2"), to: Self.name("ben", id: "person-2")).person
        let far = try await store.tie(Self.tie(programmer: "other"), to: Self.name(id: "person-3")).person
        #expect(try await store.add(Self.link("111111", of: ada.text), now: t0))
        #expect(try await store.add(Self.link("222222", of: ada.text), now: t0))
        #expect(try await store.tie(Self.tie("dev-3"), by: "111111") == nil)
        #expect(try await !store.add(Self.link("222222", of: ben.text), now: t0))
        #expect(try await store.add(Self.link("222222", of: far.text, programmer: "other"), now: t0))
        #expect(try await store.tie(Self.tie("dev-3"), by: "222222")?.person == ada)
        #expect(try await store.add(Self.link("333333", of: ada.text), now: t0))
        #expect(try await store.add(Self.link("333333", of: ben.text), now: t0 + .seconds(1800)))
    }

    @Test("The live sessions of whom a service token names are found; a logout is remembered as long as one of them", arguments: Backend.allCases)
    func sessions(_ backend: Backend) async throws {
        let store = try backend.open()
        let (ours, other) = (ServiceIdentity("s1"), ServiceIdentity("s2"))
        for (number, identity, lifetime) in [(1, ours, 3600), (2, ours, 60), (3, other, 3600)] as [(Int, ServiceIdentity, Int64)] {
            var origin = SessionOrigin(kind: .regular, authenticatedAt: t0)
            origin.serviceIdentity = identity
            let session = Sample.session("session-\(number)", device: "dev-\(number)", record: nil, lifetime: .seconds(lifetime), origin: origin)
            #expect(try await store.start(session, now: t0))
        }
        #expect(Set(try await store.sessions(of: ours, now: t0).map(\.id.text)) == ["session-1", "session-2"])
        #expect(try await store.sessions(of: ours, now: t0 + .seconds(60)).map(\.origin.serviceIdentity) == [ours])
        let key = SessionKey(device: DeviceID("dev-9"), requestor: RequestorID("CHAN7"))
        _ = try await store.end(key, client: ClientID("client-1"), mvpd: MvpdID("DemoCable"), now: t0)
        #expect(try await store.lastLogout(key, now: t0) == t0)
        #expect(try await store.lastLogout(key, now: t0 + .seconds(3600)) == nil)
    }

    @Test("A code keeps whom its device's service token named", arguments: Backend.allCases)
    func codes(_ backend: Backend) async throws {
        let store = try backend.open()
        var record = Sample.record()
        record.serviceIdentity = ServiceIdentity("s1")
        #expect(try await store.claim(record, now: t0))
        #expect(try await store.liveRecord(record.code, now: t0) == record)
    }

    @Test("What is over is swept: a code, a device whose token can be exchanged no more, a person without a token for longer than any session")
    func sweeps() async throws {
        let clock = ManualClock(t0)
        let database = try Backend.database(Folder.shared.newFile())
        let store = SqlAuthenticationStore(database)
        let sweeper = Sweeper(
            store: database, name: "authentication", sweeps: AuthenticationDatabase.sweeps, clock: clock,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let device = try await store.tie(Self.tie(lifetime: .seconds(3600)), to: Self.name())
        #expect(try await store.add(Self.link("123456", of: device.person.text), now: t0))
        func round() async throws -> [Int] {
            var removed: [Int] = []
            for name in ["service_link", "service_device", "service_person"] {
                removed.append(try await sweeper.sweep(try #require(AuthenticationDatabase.sweeps.first { $0.table == name })))
            }
            return removed
        }
        #expect(try await round() == [0, 0, 0])
        clock.advance(by: .seconds(1800))
        #expect(try await round() == [1, 0, 0])
        clock.advance(by: .seconds(1800))
        #expect(try await round() == [0, 1, 0])
        clock.set(t0 + ServiceTokenTie.personLifetime)
        #expect(try await round() == [0, 0, 1])
        #expect(try await store.tie(Self.tie(), to: Self.name(id: "person-2")).person == ServicePersonID("person-2"))
    }
}
