import Clocks
import Contracts
import Cryptography
import Faults
import Testing
import Tokens

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

@Suite("Sessions as apps keep them")
struct StoredSessionTests {
    private let rig: Rig
    private let bearer: String
    private let call: DeviceCall

    init() async throws {
        rig = try Rig()
        bearer = try await rig.bearer()
        call = rig.call(bearer)
    }

    private func token(_ code: RegistrationCode, bearer: String? = nil, device: String = "", demandsDevice: Bool = false) async throws -> String {
        let request = SessionByCodeRequest(
            accessToken: bearer ?? self.bearer, requestor: "CHAN7", code: code.code, deviceID: device, demandsDevice: demandsDevice)
        return try await rig.service.issueStoredToken(request, context: rig.context).token
    }

    private func find(_ token: String, bearer: String? = nil, device: String = "", requestor: String = "CHAN7", mvpd: String = "") async throws
        -> SessionSubject
    {
        let call = DeviceCall(
            accessToken: bearer ?? self.bearer, requestor: requestor, deviceID: device, storedToken: StoredToken(text: token, mvpd: mvpd))
        return try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
    }

    @Test("what a key from before sealed opens as long as that key is there, a session's handle and a device's id alike")
    func olderSeals() throws {
        let (old, new) = (SymmetricKey.random(), SymmetricKey.random())
        let handle = StoredTokenSeals.Handle(session: SessionID("s1"), key: SessionKey(device: DeviceID("d1"), requestor: RequestorID("CHAN7")))
        let before = try StoredTokenSeals(old)
        let (session, device) = (try before.close(handle), try before.close(handle.key.device))
        let after = try StoredTokenSeals(new, older: [old])
        #expect(after.handle(session) == handle && after.device(device) == handle.key.device)
        #expect(try StoredTokenSeals(new).handle(session) == nil)
    }

    @Test("clients §3: only the code's maker gets a token, once a person has signed in")
    func maker() async throws {
        let open = try await rig.code(call)
        await expectFault(.authenticationSessionMissing) { _ = try await token(open) }
        let code = try await rig.signIn(call)
        #expect(try await token(code).contains("<simpleTokenMsoID>DemoCable</simpleTokenMsoID>"))
        #expect(try await !token(code, device: call.deviceID, demandsDevice: true).isEmpty)
        await expectFault(.invalidRegistrationCode) { _ = try await token(code, demandsDevice: true) }
        await expectFault(.invalidRegistrationCode) { _ = try await token(code, device: "another", demandsDevice: true) }
        let other = try await rig.bearer()
        await expectFault(.invalidRegistrationCode) { _ = try await token(code, bearer: other) }
        await expectFault(.accessDenied) { _ = try await token(code, bearer: "") }
        _ = try await rig.logout(call)
        await expectFault(.authenticationSessionExpired) { _ = try await token(code) }
    }

    @Test(
        "clients §3: the token stands for its session with and without a bearer; what differs is as if nobody were signed in",
        arguments: [true, false])
    func stands(withBearer: Bool) async throws {
        let text = try await token(try await rig.signIn(call))
        let bearer = withBearer ? self.bearer : ""
        let subject = try await find(text, bearer: bearer, mvpd: "DemoCable")
        #expect(subject.deviceID == call.deviceID && !subject.sessionIndex.isEmpty && subject.deviceFingerprint.count == 64)
        #expect(text.contains("<simpleTokenFingerprint>\(subject.deviceFingerprint)<") && !text.contains(call.deviceID))
        let byIndex = DeviceCall(accessToken: bearer, requestor: "CHAN7", storedToken: StoredToken(sessionIndex: subject.sessionIndex))
        #expect(try await rig.sessions.findSession(SessionRequest(call: byIndex), context: rig.context).session == subject.session)
        await expectFault(.authenticationSessionMissing) { _ = try await find(text, bearer: bearer, device: "another") }
        await expectFault(.authenticationSessionMissing) { _ = try await find(text, bearer: bearer, mvpd: "OpenTel") }
        await expectFault(.authenticationSessionMissing) { _ = try await find(text + "x", bearer: bearer) }
        await expectFault(.invalidRequest) { _ = try await find("<!DOCTYPE a>" + text, bearer: bearer) }
        await expectFault(.invalidRequestor) { _ = try await find(text, bearer: bearer, requestor: "NONE") }
        await expectFault(.accessDenied) { _ = try await find(text, bearer: "wrong") }
        #expect(rig.log.lines.contains { $0.event == "foreign_token" })
    }

    @Test("clients §3: a token alone needs the session's client to be served still", arguments: [true, false])
    func revoked(byStatement: Bool) async throws {
        let client = try await rig.register()
        let bearer = try await rig.token(of: client).accessToken
        let code = try await rig.signIn(rig.call(bearer))
        let text = try await token(code, bearer: bearer)
        _ = try await find(text, bearer: "")
        if byStatement {
            rig.catalogue.change { $0.applications[0].requestorIDs.removeAll { $0 == "CHAN7" } }
        } else {
            _ = try await rig.operations.revokeClient(RevokeClientRequest(clientID: client.clientID), context: rig.context)
        }
        await expectFault(.authenticationSessionMissing) { _ = try await find(text, bearer: "") }
    }

    @Test("clients #48: where tokens are bound, a bearer and the device's id are needed beside them")
    func bound() async throws {
        let text = try await token(try await rig.signIn(call))
        rig.catalogue.change { $0.requestors[0].bindsStoredTokens = true }
        await expectFault(.authenticationSessionMissing) { _ = try await find(text) }
        await expectFault(.authenticationSessionMissing) { _ = try await find(text, bearer: "", device: call.deviceID) }
        _ = try await find(text, device: call.deviceID)
    }

    @Test("clients #71: other keys, twice, and the tokens from before stay good; so do sealed device ids")
    func rotation() async throws {
        let text = try await token(try await rig.signIn(call))
        let request = IdentifyDeviceRequest(fingerprint: "x", clientAddress: "192.0.2.1")
        let device = try await rig.service.identifyDevice(request, context: rig.context)
        for _ in 1...2 {
            let keys = rig.modules.sessions.storedTokenKeys
            keys.replace(SigningKeyRing(current: JoseSigningKey(try P256PrivateKey.generate()), previous: keys.keySet.keys))
            rig.modules.sessions.stored.verifier.forget()
            try rig.modules.sessions.stored.seals.adopt(.random(), older: [])
            _ = try await find(text)
            var again = request
            again.seal = device.seal
            #expect(try await rig.service.identifyDevice(again, context: rig.context).deviceID == device.deviceID)
        }
        let keys = try await rig.service.getStoredTokenKeys(GetStoredTokenKeysRequest(), context: rig.context)
        #expect(try JSONWebKeySet(json: keys.jwks).keys.count == 3)
    }

    @Test("clients #39: at most twenty fingerprints of an address and an application in an hour get ids that come again")
    func fingerprints() async throws {
        func id(_ number: Int, address: String = "192.0.2.1") async throws -> String {
            let digits = String(repeating: "0", count: 28) + String(1000 + number)
            let request = IdentifyDeviceRequest(accessToken: bearer, fingerprint: digits, clientAddress: address)
            return try await rig.service.identifyDevice(request, context: rig.context).deviceID
        }
        for number in 0..<20 {
            let first = try await id(number)
            #expect(try await id(number) == first)
        }
        let guessed = try await id(20)
        #expect(try await id(20) != guessed, "random ones")
        let elsewhere = try await id(20, address: "192.0.2.2")
        #expect(try await id(20, address: "192.0.2.2") == elsewhere)
        rig.clock.advance(by: .seconds(3600) - .milliseconds(1))
        #expect(try await id(20) != elsewhere)
        rig.clock.advance(by: .milliseconds(1))
        #expect(try await id(20) == elsewhere, "the same application and fingerprint")
    }

    @Test("clients §3: a fingerprint has 1 to 512 octets; one that is no 32 random digits, or comes without a bearer, gets another id each time")
    func formsOfFingerprints() async throws {
        func id(_ fingerprint: String, bearer: String? = nil) async throws -> String {
            let request = IdentifyDeviceRequest(accessToken: bearer ?? self.bearer, fingerprint: fingerprint, clientAddress: "192.0.2.1")
            return try await rig.service.identifyDevice(request, context: rig.context).deviceID
        }
        for bad in ["", String(repeating: "0", count: 513)] { await expectFault(.invalidRequest) { _ = try await id(bad) } }
        let good = String(repeating: "0a", count: 16)
        #expect(try await id(good) == id(good))
        for other in [String(repeating: "0", count: 512), String(good.dropLast()), good + "0", String(good.dropLast()) + "x"] {
            #expect(try await id(other) != id(other))
        }
        #expect(try await id(good, bearer: "") != id(good, bearer: ""))
        await expectFault(.accessDenied) { _ = try await id(good, bearer: "x") }
    }
}
