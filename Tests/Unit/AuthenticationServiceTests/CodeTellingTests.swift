import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// clients #98: the facts that a code tells, to whom, and until when (clients §1.14, rest-v2 §2.8). It covers codes of v1 and v2, and those whose
/// sign-in an upstream has.
@Suite struct CodeTellingTests {
    enum Kind: String, CaseIterable { case v1, v2, bridged }

    /// Somebody has signed a device in through a code.
    private struct SignedIn {
        let rig: Rig
        let owner: RegisteredClient
        let code: String

        /// A client of the same requestor that made nothing.
        func stranger() async throws -> String { try await rig.bearer() }
        func maker() async throws -> String { try await rig.token(of: owner).accessToken }

        /// Tells whether somebody has signed in: `checkauthn/{code}` and `preauthorize/{code}` ask this.
        func session(_ bearer: String, device: String = "") async throws -> Session {
            let request = SessionByCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code, deviceID: device)
            let session = try await rig.service.getSessionByCode(request, context: rig.context)
            let subject = try await rig.sessions.findSessionByCode(request, context: rig.context)
            #expect(subject.session?.id == session.id)
            return session
        }

        func record(_ bearer: String) async throws -> RegistrationCode {
            try await rig.service.getRegistrationCode(
                RegistrationCodeRequest(accessToken: bearer, requestor: "CHAN7", code: code), context: rig.context)
        }

        func profiles(_ bearer: String) async throws -> [Profile] { try await rig.profiles(byCode: code, bearer) }
    }

    private func signedIn(_ kind: Kind, ttl: UInt32 = 3600) async throws -> SignedIn {
        switch kind {
        case .v1:
            let rig = try Rig(.sqlite)
            let owner = try await rig.register()
            let code = try await rig.code(rig.call(rig.token(of: owner).accessToken), ttl: ttl).code
            rig.saml.accept()
            #expect(try await rig.finish(rig.start(code)).result == .signedIn)
            return SignedIn(rig: rig, owner: owner, code: code)
        case .v2:
            let rig = try Rig(.sqlite)
            let owner = try await rig.register("old")
            return SignedIn(rig: rig, owner: owner, code: try await rig.signIn(planned: rig.v2Call(rig.token(of: owner).accessToken)))
        case .bridged:
            let bridge = try BridgeRig()
            let owner = try await bridge.rig.register()
            let call = bridge.rig.call(try await bridge.rig.token(of: owner).accessToken)
            return SignedIn(rig: bridge.rig, owner: owner, code: try await bridge.signIn(call, ttl: ttl))
        }
    }

    @Test(
        "clients #98: a minute before ten have passed, others and callers without a bearer are told that somebody signed in; a minute after, nothing",
        arguments: [Kind.v1, .bridged])
    func tenMinutes(_ kind: Kind) async throws {
        let made = try await signedIn(kind)
        made.rig.clock.advance(by: .seconds(9 * 60))
        for bearer in [try await made.stranger(), ""] { #expect(try await !made.session(bearer).mvpd.isEmpty) }
        #expect(try await made.session(made.maker()).mvpd == (kind == .bridged ? "CoastCable" : "DemoCable"))
        made.rig.clock.advance(by: .seconds(2 * 60))
        for bearer in [try await made.stranger(), ""] { await expectFault(.registrationCodeSpent) { _ = try await made.session(bearer) } }
        #expect(try await !made.session(made.maker()).mvpd.isEmpty)
    }

    @Test("clients §1.14: the ten minutes are over to the millisecond, for the session and for the profile")
    func endOfTheTenMinutes() async throws {
        let made = try await signedIn(.v2)
        let (stranger, other) = (try await made.rig.bearer("old"), try await made.stranger())
        made.rig.clock.advance(by: .seconds(600) - .milliseconds(1))
        #expect(try await made.profiles(stranger).count == 1)
        #expect(try await !made.session(other).mvpd.isEmpty)
        made.rig.clock.advance(by: .milliseconds(1))
        await expectFault(.registrationCodeSpent) { _ = try await made.profiles(stranger) }
        await expectFault(.registrationCodeSpent) { _ = try await made.session(other) }
    }

    @Test("clients #98: the record tells others nothing from the sign-in on; its maker until the code ends", arguments: [Kind.v1, .bridged])
    func record(_ kind: Kind) async throws {
        let made = try await signedIn(kind)
        for _ in 0..<2 {
            for bearer in [try await made.stranger(), ""] { await expectFault(.registrationCodeSpent) { _ = try await made.record(bearer) } }
            #expect(try await made.record(made.maker()).deviceID == "dev-7f3a")
            made.rig.clock.advance(by: .seconds(20 * 60))
        }
        made.rig.clock.advance(by: .seconds(3600))
        for bearer in [try await made.stranger(), ""] { await expectFault(.invalidRegistrationCode) { _ = try await made.record(bearer) } }
    }

    @Test(
        "clients #98: to the maker it tells until it ends; then it is no guess of the maker's for an hour, and one of everybody else's",
        arguments: [Kind.v1, .bridged])
    func end(_ kind: Kind) async throws {
        let made = try await signedIn(kind)
        made.rig.clock.advance(by: .seconds(3599))
        #expect(try await !made.session(made.maker()).mvpd.isEmpty)
        made.rig.clock.advance(by: .seconds(1))
        for _ in 0..<2 {
            await expectFault(.registrationCodeSpent) { _ = try await made.session(made.maker()) }
            await expectFault(.registrationCodeSpent) { _ = try await made.record(made.maker()) }
            for bearer in [try await made.stranger(), ""] {
                await expectFault(.invalidRegistrationCode) { _ = try await made.session(bearer) }
                await expectFault(.invalidRegistrationCode) { _ = try await made.record(bearer) }
            }
            made.rig.clock.advance(by: .seconds(59 * 60))
        }
        await expectFault(.invalidRegistrationCode) { _ = try await made.session(made.maker()) }
    }

    @Test("rest-v2 §2.8: others are told the profile with its userID alone, for ten minutes; a bearer is needed", arguments: [Kind.v2, .v1])
    func profile(_ kind: Kind) async throws {
        let made = try await signedIn(kind)
        let stranger = kind == .v2 ? try await made.rig.bearer("old") : try await made.rig.bearer("old")
        made.rig.clock.advance(by: .seconds(9 * 60))
        let told = try #require(try await made.profiles(stranger).first)
        #expect(told.session?.mvpd == "DemoCable" && told.metadata?.data.allSatisfy { $0.key == "userID" } == true)
        #expect(told.metadata?.encrypted.allSatisfy { $0 == "userID" } == true && told.metadata?.unsealed.isEmpty == true)
        await expectFault(.accessDenied) { _ = try await made.profiles("") }
        made.rig.clock.advance(by: .seconds(2 * 60))
        await expectFault(.registrationCodeSpent) { _ = try await made.profiles(stranger) }
    }

    @Test("rest-v2 §2.8: a later login of the device through another code is told to who has seen that one alone; the maker may ask by either")
    func laterLogin() async throws {
        let rig = try Rig(.sqlite)
        let owner = try await rig.register("old")
        func maker() async throws -> String { try await rig.token(of: owner).accessToken }
        let first = try await rig.signIn(planned: rig.v2Call(maker()))
        let stranger = try await rig.bearer("old")
        let seen = try #require(try await rig.profiles(byCode: first, stranger).first?.session)

        // Another person, within the ten minutes of the first code.
        rig.clock.advance(by: .seconds(3 * 60))
        _ = try await rig.service.logout(LogoutRequest(call: rig.v2Call(maker())), context: rig.context)
        let second = try await rig.signIn(planned: rig.v2Call(maker()), assertion: "_assertion-2")
        #expect(try await rig.profiles(byCode: first, stranger).isEmpty)
        let later = try #require(try await rig.profiles(byCode: second, stranger).first?.session)
        #expect(later.id != seen.id)
        for code in [first, second] { #expect(try await rig.profiles(byCode: code, maker()).map(\.session?.id) == [later.id], "to the maker") }

        // The first code's ten minutes end, the second's go on.
        rig.clock.advance(by: .seconds(8 * 60))
        await expectFault(.registrationCodeSpent) { _ = try await rig.profiles(byCode: first, stranger) }
        #expect(try await rig.profiles(byCode: second, stranger).map(\.session?.id) == [later.id])
        rig.clock.advance(by: .seconds(3 * 60))
        await expectFault(.registrationCodeSpent) { _ = try await rig.profiles(byCode: second, stranger) }
    }

    @Test("rest-v2 §2.8: the maker is told all that the integration tells")
    func ownProfile() async throws {
        let made = try await signedIn(.v2)
        let mine = try #require(try await made.profiles(made.maker()).first)
        #expect(mine.session?.mvpd == "DemoCable" && mine.metadata?.data.isEmpty == false)
    }

    @Test("all installations of an imported client are one to v1; to v2 the code's own device is its maker")
    func sharedClient() async throws {
        let rig = try Rig(.sqlite)
        rig.catalogue.change { $0.applications[0].clients = [ImportedClient(clientID: "old-app", secretReference: "own")] }
        let issue = IssueAccessTokenRequest(clientID: "old-app", clientSecret: "0wn", grantType: "client_credentials")
        func bearer() async throws -> String { try await rig.service.issueAccessToken(issue, context: rig.context).accessToken }
        let code = try await rig.code(rig.call(bearer()), ttl: 3600).code
        rig.saml.accept()
        #expect(try await rig.finish(rig.start(code)).result == .signedIn)
        rig.clock.advance(by: .seconds(11 * 60))
        let request = SessionByCodeRequest(accessToken: try await bearer(), requestor: "CHAN7", code: code)
        #expect(try await rig.service.getSessionByCode(request, context: rig.context).mvpd == "DemoCable")
        let record = RegistrationCodeRequest(accessToken: try await bearer(), requestor: "CHAN7", code: code)
        #expect(try await rig.service.getRegistrationCode(record, context: rig.context).deviceID != "dev-7f3a")
        for (device, isMaker) in [("", false), ("dev-other", false), ("dev-7f3a", true)] {
            let own = SessionByCodeRequest(accessToken: try await bearer(), requestor: "CHAN7", code: code, deviceID: device, api: .v2)
            if isMaker {
                #expect(try await rig.service.findProfilesByCode(own, context: rig.context).profiles.count == 1)
            } else {
                await expectFault(.registrationCodeSpent) { _ = try await rig.service.findProfilesByCode(own, context: rig.context) }
            }
        }
    }
}
