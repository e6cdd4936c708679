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

struct SharedSessionTests {
    @Test("rest-v1 #59: a login at a sibling requestor counts for the same platform identity", arguments: Backend.allCases)
    func sharesLogin(_ backend: Backend) async throws {
        let rig = try await IdentityRig(backend)
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        let shared = try await rig.session(device: "dev-2", requestor: "CHAN8")
        #expect(shared.kind == .shared && shared.mvpd == "DemoCable" && shared.requestor == "CHAN8")
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN8").id == shared.id)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8", appID: "app") }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8", subject: "other") }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8", token: "") }
    }

    @Test("rest-v1 #58: a token that does not hold counts as none, and never refuses a call")
    func ignoresBadTokens() async throws {
        let rig = try await IdentityRig()
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        for token in ["x", "a.b.c", try rig.token("ada") + "x"] {
            await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8", token: token) }
            #expect(try await rig.session(device: "dev-1", requestor: "CHAN7", token: token).kind == .regular)
        }
    }

    @Test("A token that is not valid yet holds from its time on, also when it was tried before")
    func holdsLater() async throws {
        let rig = try await IdentityRig()
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        let token = try rig.token("ada", notBefore: t0.seconds + 300)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8", token: token) }
        rig.rig.clock.advance(by: .seconds(300))
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN8", token: token).kind == .shared)
    }

    @Test("rest-v1 §4.9: the catalogue decides", arguments: Blocked.allCases)
    func respectsCatalogue(_ blocked: Blocked) async throws {
        let rig = try await IdentityRig()
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        rig.rig.catalogue.change { configuration in
            blocked.apply(&configuration)
            configuration.version += 1
        }
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8") }
    }

    enum Blocked: CaseIterable {
        case ssoOff, disabledHere, disabledThere, perAggregator, overrideForRoku, issuerGone, issuerReplaced

        func apply(_ configuration: inout Configuration) {
            let here = IdentityRig.sibling(configuration)
            switch self {
            case .ssoOff: configuration.integrations[here].platformSsoEnabled = false
            case .disabledHere: configuration.integrations[here].enabled = false
            case .disabledThere: configuration.integrations[0].enabled = false
            case .perAggregator: configuration.mvpds[0].authPerAggregator = true
            case .overrideForRoku: configuration.integrations[here].platformOverrides = [PlatformOverride(scope: .roku, authPerAggregator: .on)]
            case .issuerGone: configuration.platformIdentityIssuers = []
            case .issuerReplaced: configuration.platformIdentityIssuers[0].issuer = "https://elsewhere.example"
            }
        }
    }

    @Test("rest-v1 #109: every hop ends with the first login, and not later than the own lifetime after it", arguments: Backend.allCases)
    func endsWithLogin(_ backend: Backend) async throws {
        let rig = try await IdentityRig(backend)
        rig.rig.catalogue.change { configuration in
            configuration.integrations[0].authnTtlSeconds = 3600
            configuration.integrations[IdentityRig.sibling(configuration)].authnTtlSeconds = 1800
        }
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        rig.rig.clock.advance(by: .seconds(600))
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN8").expiresAtMilliseconds == rig.milliseconds(1800))
        #expect(try await rig.session(device: "dev-3", requestor: "CHAN7").expiresAtMilliseconds == rig.milliseconds(3600))
        rig.rig.clock.advance(by: .seconds(1200))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8") }
        _ = try await rig.session(device: "dev-3", requestor: "CHAN7")
        _ = try await rig.rig.logout(rig.call(device: "dev-1", requestor: "CHAN7"))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-3", requestor: "CHAN7") }
    }

    @Test("rest-v1 #110: after a logout only a new login counts", arguments: Backend.allCases)
    func logoutShutsOut(_ backend: Backend) async throws {
        let rig = try await IdentityRig(backend)
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        _ = try await rig.session(device: "dev-2", requestor: "CHAN8")
        rig.rig.clock.advance(by: .seconds(1))
        #expect(try await rig.rig.logout(rig.call(device: "dev-2", requestor: "CHAN8")) == 0)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8") }
        #expect(try await rig.session(device: "dev-4", requestor: "CHAN8").kind == .shared)
        rig.rig.clock.advance(by: .seconds(1))
        try await rig.signIn(device: "dev-1", requestor: "CHAN7", assertion: "_assertion-2")
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN8").kind == .shared)
    }

    @Test("Of several logins the one that lasts longest is taken over; the own session comes first")
    func prefersOwnThenLongest() async throws {
        let rig = try await IdentityRig()
        rig.rig.catalogue.change { $0.integrations[1].authnTtlSeconds = 60 }
        try await rig.signIn(device: "dev-1", requestor: "CHAN7", mvpd: "OtherCable")
        try await rig.signIn(device: "dev-3", requestor: "CHAN7", assertion: "_assertion-2")
        #expect(try await rig.session(device: "dev-2", requestor: "CHAN8").mvpd == "DemoCable")
        try await rig.signIn(device: "dev-2", requestor: "CHAN8", mvpd: "OtherCable", assertion: "_assertion-3")
        let own = try await rig.session(device: "dev-2", requestor: "CHAN8")
        #expect(own.kind == .regular && own.mvpd == "OtherCable")
    }

    @Test("A login without the platform's token, or by an app that opted out, cannot be taken over")
    func sharesOnlyNamedLogins() async throws {
        let rig = try await IdentityRig()
        try await rig.rig.signIn(rig.rig.call(rig.bearer, device: "dev-1"))
        try await rig.rig.signIn(rig.call(device: "dev-3", requestor: "CHAN7", appID: "app"), assertion: "_assertion-2")
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(device: "dev-2", requestor: "CHAN8") }
    }

    @Test("Services that decide learn the person behind a shared session")
    func tellsSubject() async throws {
        let rig = try await IdentityRig()
        try await rig.signIn(device: "dev-1", requestor: "CHAN7")
        let request = SessionRequest(call: try rig.call(device: "dev-2", requestor: "CHAN8"))
        let subject = try await rig.rig.sessions.findSession(request, context: rig.rig.context)
        #expect(subject.upstreamUserID == "user-42" && subject.session?.kind == .shared && subject.deviceID == "dev-2")
    }
}

/// A rig with a platform that issues trusted identity tokens.
struct IdentityRig {
    static let issuer = "https://platform.example"

    let rig: Rig
    let bearer: String
    private let key: P256PrivateKey

    init(_ backend: Backend = .sqlite) async throws {
        rig = try Rig(backend)
        key = try P256PrivateKey.generate()
        let keys = JSONWebKeySet(keys: [JSONWebKey(.p256(key.publicKey))]).json
        rig.catalogue.change { configuration in
            configuration.platformIdentityIssuers = [PlatformIdentityIssuer(issuer: Self.issuer, jwks: keys)]
            for index in configuration.integrations.indices { configuration.integrations[index].platformSsoEnabled = true }
        }
        bearer = try await rig.bearer()
    }

    /// The index of CHAN8's integration with DemoCable.
    static func sibling(_ configuration: Configuration) -> Int {
        configuration.integrations.firstIndex { $0.requestorID == "CHAN8" && $0.mvpdID == "DemoCable" } ?? -1
    }

    /// The platform's identity token for its user, valid for a day.
    func token(_ subject: String, notBefore: Int64 = 0) throws -> String {
        try IdentityToken(issuer: Self.issuer, subject: subject, expiry: t0.seconds + 86_400, notBefore: notBefore).signed(by: key)
    }

    func call(
        device: String, requestor: String, appID: String = "", subject: String = "ada", token: String? = nil
    ) throws -> DeviceCall {
        var call = rig.call(bearer, requestor: requestor, device: device, appID: appID)
        call.subjectToken = try token ?? self.token(subject)
        return call
    }

    func session(
        device: String, requestor: String, appID: String = "", subject: String = "ada", token: String? = nil
    ) async throws -> Session {
        try await rig.session(call(device: device, requestor: requestor, appID: appID, subject: subject, token: token))
    }

    func signIn(device: String, requestor: String, mvpd: String = "DemoCable", assertion: String = "_assertion-1") async throws {
        try await rig.signIn(call(device: device, requestor: requestor), mvpd: mvpd, assertion: assertion)
    }

    func milliseconds(_ seconds: Int64) -> UInt64 { UInt64((t0 + .seconds(seconds)).milliseconds) }
}

/// A platform's identity token with every claim open to change.
struct IdentityToken {
    var issuer: String
    var subject: String
    var audience = #""adobe""#
    var expiry: Int64
    var notBefore: Int64 = 0

    func signed(by key: P256PrivateKey) throws -> String {
        let header = Base64.url.encode(Array(#"{"alg":"ES256"}"#.utf8))
        let claims = #"{"iss":"\#(issuer)","sub":"\#(subject)","aud":\#(audience),"exp":\#(expiry),"nbf":\#(notBefore),"did":"d1"}"#
        let input = header + "." + Base64.url.encode(Array(claims.utf8))
        return input + "." + Base64.url.encode(try key.sign(Array(input.utf8)))
    }
}
