import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Who calls", .everyEngine)
struct CallerTests {
    private let now = Timestamp(seconds: 1_930_384_800)

    private func caller(_ kind: SessionKind?, origin: StreamingSessionOrigin? = nil, since: Duration = .zero) -> DeviceCaller {
        let login = kind.map { kind in
            CallerLogin(
                session: StreamingSessionID("s"), person: TVLogin(mvpd: MvpdID("NorthCable"), userID: "ada"), kind: kind,
                authenticatedAt: now - since,
                expiresAt: now + .seconds(60), allowsAutoSignIn: true)
        }
        let record = origin.map { origin in
            StreamingSessionRecord(
                id: StreamingSessionID("s"), account: AccountID("a"), programmer: ProgrammerID("acme"), requestor: RequestorID("ACME1"),
                device: DeviceID("d"), deviceLabel: "TV", client: ClientID("tv"), origin: origin, createdAt: now - since, lastUsedAt: now,
                expiresAt: now + .seconds(60))
        }
        return DeviceCaller(
            client: ClientID("tv"), programmer: ProgrammerID("acme"), requestor: RequestorID("ACME1"), device: DeviceID("d"), deviceLabel: "TV",
            login: login, streaming: record, account: record?.account)
    }

    private static let apple = StreamingSessionOrigin.apple(AppleLinkID("l"), AppleClientID("tv.acme"))
    private static let automatic = StreamingSessionOrigin.automatic(FamilyID("f"))

    private func code(_ work: () throws(Fault) -> Void) -> Fault.Code? {
        do throws(Fault) {
            try work()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("a person at the MVPD, or by Sign in with Apple, reaches the account; any other caller needs to step up (I4)")
    func standings() {
        #expect(code(caller(nil).requirePerson) == .authenticationSessionMissing)
        #expect(code(caller(.regular, since: .seconds(1_000_000)).requirePerson) == nil)
        #expect(code(caller(.automatic, origin: Self.apple).requirePerson) == nil)
        #expect(code(caller(nil, origin: Self.apple).requirePerson) == nil)
        for caller in [caller(.automatic), caller(.automatic, origin: Self.automatic), caller(.tempPass), caller(.degraded)] {
            #expect(code(caller.requirePerson) == .stepUpRequired)
        }
    }

    @Test("a fresh login is a person's on this device, at most 15 minutes old")
    func freshness() {
        func isFresh(_ caller: DeviceCaller) -> Bool { (try? caller.freshLogin(now: now)) != nil }
        #expect(isFresh(caller(.regular, since: .seconds(900))) && isFresh(caller(.platform)))
        #expect(!isFresh(caller(.regular, since: .seconds(901))))
        #expect(isFresh(caller(.automatic, origin: Self.apple)) && !isFresh(caller(.automatic, origin: Self.apple, since: .seconds(901))))
        for caller in [caller(nil), caller(nil, origin: Self.apple), caller(.automatic), caller(.automatic, origin: Self.automatic), caller(.shared)]
        {
            #expect(!isFresh(caller))
        }
    }

    @Test("a device and a browser reach their own account, a backend those of its programmer")
    func reach() {
        let (own, acme, bravo) = (AccountID("a"), ProgrammerID("acme"), ProgrammerID("bravo"))
        let device = CheckedCaller.device(caller(.automatic, origin: Self.automatic))
        #expect(device.mayReach(own, of: acme) && !device.mayReach(AccountID("b"), of: acme))
        #expect(!CheckedCaller.device(caller(.regular)).mayReach(own, of: acme), "a person without an account reaches none")
        let backend = CheckedCaller.backend(BackendCaller(client: ClientID("b"), programmer: acme, requestor: RequestorID("ACME1")))
        #expect(backend.mayReach(own, of: acme) && !backend.mayReach(own, of: bravo))
    }

    @Test("a device's label holds no control character and is short")
    func labels() {
        #expect(DeviceInformation(model: "Apple\u{7}TV\n4K").label == "AppleTV4K")
        #expect(DeviceInformation(model: String(repeating: "x", count: 100)).label.count == 64)
        #expect(DeviceInformation(osName: "tvOS").label == "tvOS" && DeviceInformation().label == "Device")
    }
}
