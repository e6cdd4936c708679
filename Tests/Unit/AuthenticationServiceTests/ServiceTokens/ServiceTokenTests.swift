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

struct ServiceTokenTests {
    @Test("rest-v2 #100: a person's login on one device is taken over on another, and both end together", arguments: Backend.allCases)
    func takesOver(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        let own = try #require(try await rig.profiles(rig.call(rig.app, token: token)).first)
        #expect(own.kind == .regular)
        rig.rig.clock.advance(by: .seconds(60))
        // Another lifetime of the integration is for logins there.
        rig.rig.catalogue.change { configuration in
            for index in configuration.integrations.indices { configuration.integrations[index].authnTtlSeconds = 120 }
        }
        for (device, requestor) in [("dev-2", "CHAN7"), ("dev-2", "CHAN8"), ("dev-1", "CHAN7")] {
            let taken = try await rig.profiles(rig.call(rig.second, device: device, requestor: requestor, token: token))
            #expect(taken.map(\.kind) == [.serviceToken] && taken.first?.mvpd == "DemoCable", "\(device) \(requestor)")
            #expect(taken.first?.expiresAtMilliseconds == own.expiresAtMilliseconds && taken.first?.userID == own.userID)
            #expect(try await rig.profiles(rig.call(rig.second, device: device, requestor: requestor)).isEmpty)
        }
        let subject = SessionRequest(call: rig.call(rig.second, device: "dev-2", token: token), mvpd: "DemoCable")
        #expect(try await rig.rig.sessions.findSession(subject, context: rig.rig.context).upstreamUserID == "user-42")
        let begin = BeginSignInRequest(call: rig.call(rig.second, device: "dev-2", token: token), mvpd: "DemoCable")
        let plan = try await rig.rig.service.beginSignIn(begin, context: rig.rig.context)
        #expect(plan.step == .authorize && plan.reason == .shared && plan.code == nil, "rest-v2 #26")
    }

    @Test("rest-v2 #87: whoever logs out with the token ends the login, wherever it was made", arguments: Backend.allCases)
    func singleLogout(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        // Without the token an app ends its own profile alone.
        #expect(try await rig.logout(rig.call(rig.second, device: "dev-2")) == .none)
        #expect(try await rig.profiles(rig.call(rig.app)).count == 1)
        #expect(try await rig.logout(rig.call(rig.second, device: "dev-3", token: token)) != .none)
        #expect(try await rig.profiles(rig.call(rig.app)).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).isEmpty)
    }

    @Test("a device that has logged out by itself takes no login from before over")
    func logoutShutsOut() async throws {
        let rig = try await ServiceTokenRig()
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        rig.rig.clock.advance(by: .seconds(1))
        #expect(try await rig.logout(rig.call(rig.second, device: "dev-2")) == .none)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-3", token: token)).count == 1)
    }

    @Test("rest-v2 #119: what two programmers call a person is two persons, and one's token is nothing to the other", arguments: Backend.allCases)
    func programmers(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token("42")
        let foreign = try await rig.issue(rig.call(rig.foreignBackend, device: "dev-9", requestor: "FOREIGN"), person: "42")
        try await rig.signIn(rig.call(rig.app, token: token))
        #expect(try await rig.profiles(rig.call(rig.foreign, device: "dev-9", requestor: "FOREIGN", token: foreign)).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.foreign, device: "dev-9", requestor: "FOREIGN", token: token)).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: foreign)).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).count == 1)
        await expectFault(.serviceTokenInvalid) { _ = try await rig.refresh(foreign) }
        await expectFault(.serviceTokenInvalid) { _ = try await rig.link(foreign) }
        #expect(try await rig.token("43") != token)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: rig.token("43"))).isEmpty)
    }

    @Test("rest-v2 §1.3: a token that does not hold is as good as none, and refuses no call")
    func hostile() async throws {
        let rig = try await ServiceTokenRig()
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        let stranger = try RSAPrivateKey.generate()
        let elliptic = try P256PrivateKey.generate()
        let (own, kid) = (ServiceTokens.issuer, rig.rig.serviceTokenKeys.signing.identifier)
        let cases = [
            "x", "a.b.c", String(repeating: "a", count: 20_000), token + "A", token.split(separator: ".").prefix(2).joined(separator: ".") + ".",
            try rig.foreignToken(header: #"{"alg":"none","kid":"r1"}"#) { _ in [] }, try rig.foreignToken(header: #"{"alg":"HS256","kid":"r1"}"#),
            try rig.foreignToken(header: #"{"alg":"ES256","kid":"r1"}"#) { try elliptic.sign($0) },
            try rig.foreignToken(header: #"{"alg":"PS256","kid":"r1"}"#), try rig.foreignToken { try stranger.sign($0) },
            try rig.foreignToken(issuer: "https://else.example"), try rig.foreignToken(audience: "adobes"), try rig.foreignToken(expiry: t0.seconds),
            try rig.foreignToken("\\ud800"), try rig.foreignToken(""),
            // An identity service's key signs for that service alone.
            try rig.foreignToken(issuer: own), try rig.foreignToken(header: #"{"alg":"RS256","kid":"\#(kid)"}"#, issuer: own),
        ]
        for text in cases {
            #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: text)).isEmpty, "\(text.prefix(60))")
            #expect(try await rig.profiles(rig.call(rig.app, token: text)).map(\.kind) == [.regular])
            await expectFault(.serviceTokenInvalid) { _ = try await rig.refresh(text) }
        }
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: rig.foreignToken("\\u0000"))).isEmpty)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).count == 1)
    }

    @Test("rest-v2 §1.3: an identity service's token names a person to the programmers that it is registered for, and to no other")
    func identityService() async throws {
        let rig = try await ServiceTokenRig()
        for audience in ["Adobe", "adobe", "ADOBE"] {
            let subject = "u-\(audience)"
            let token = try rig.foreignToken(subject, audience: audience)
            try await rig.signIn(rig.call(rig.app, device: "dev-\(audience)", token: token), assertion: "_assertion-\(audience)")
            #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).map(\.kind) == [.serviceToken])
        }
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: rig.foreignToken("u-adob\\u0065"))).count == 1)
        let token = try rig.foreignToken("u-adobe")
        await expectFault(.serviceTokenInvalid) { _ = try await rig.refresh(token) }
        #expect(try await rig.profiles(rig.call(rig.foreign, device: "dev-2", requestor: "FOREIGN", token: token)).isEmpty)
        rig.rig.catalogue.change { configuration in
            configuration.serviceTokenIssuers[0].programmerIDs = ["other"]
            configuration.version += 1
        }
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).isEmpty)
    }

    @Test("what an identity service calls a person and what we call one never meet")
    func registrationsNeverMeet() async throws {
        let rig = try await ServiceTokenRig()
        let token = try await rig.token()
        let verifier = ServiceTokenVerifier(own: rig.rig.serviceTokenKeys)
        let person = try verifier.verify(token, now: t0).subject
        try await rig.signIn(rig.call(rig.app, token: token))
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: rig.foreignToken(person))).isEmpty)
    }

    @Test("an MVPD that keeps each channel to itself is shared among a channel's devices alone")
    func perAggregator() async throws {
        let rig = try await ServiceTokenRig()
        rig.rig.catalogue.change { $0.mvpds[0].authPerAggregator = true }
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).count == 1)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", requestor: "CHAN8", token: token)).isEmpty)
    }
}
