import Clocks
import Contracts
import Faults
import OutboundHttp
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct ProviderTokenTests {
    @Test("mvpd §3: a decision gets the sign-in's access token, later fresh ones from the same refresh token", arguments: Backend.allCases)
    func refreshes(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-1")
        #expect(rig.provider.count("token") == 1)
        rig.clock.advance(by: .seconds(595))
        let fresh = try await rig.providerToken(visitor.call)
        #expect(fresh.accessToken == "access-2" && fresh.expiresAtMilliseconds == UInt64((rig.clock.now() + .seconds(600)).milliseconds))
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-2")
        rig.clock.advance(by: .seconds(600))
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-3")
        #expect(rig.provider.calls.compactMap { $0.parameters["refresh_token"] } == ["refresh-1", "refresh-1"])
    }

    @Test("Many decisions at once share one call at the provider")
    func sharesOneCall() async throws {
        let rig = try Rig()
        let visitor = try await rig.signInByOAuth()
        rig.clock.advance(by: .seconds(3000))
        let id = try await rig.subject(visitor.call).upstreamSessionID
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await rig.sessions.getUpstreamToken(UpstreamTokenRequest(upstreamSessionID: id), context: rig.context).accessToken
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens == ["access-2"] && rig.provider.count("token") == 2)
    }

    @Test(
        "mvpd #92, clients §4.20: a refresh token that changes with each use is normal, the newest one is kept, the user keeps working",
        arguments: Backend.allCases)
    func survivesRotation(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        rig.provider.script.withLock { $0.rotatesRefreshTokens = true }
        let visitor = try await rig.signInByOAuth()
        for number in 2...5 {
            rig.clock.advance(by: .seconds(600))
            #expect(try await rig.providerToken(visitor.call).accessToken == "access-\(number)")
        }
        #expect(rig.provider.calls.compactMap { $0.parameters["refresh_token"] } == ["refresh-1", "refresh-2", "refresh-3", "refresh-4"])
        #expect(!rig.log.lines.contains { $0.level >= .warning })
    }

    @Test("clients #97: of two copies one asks the provider, and both give what it said", arguments: [true, false])
    func twoCopies(rotates: Bool) async throws {
        let rig = try Rig(.sqlite)
        rig.provider.script.withLock { $0.rotatesRefreshTokens = rotates }
        let visitor = try await rig.signInByOAuth()
        let id = SessionID(try await rig.subject(visitor.call).upstreamSessionID)
        let copies = [rig.providerTokens(), rig.providerTokens()]
        for round in 2...6 {
            rig.clock.advance(by: .seconds(600))
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<10 { group.addTask { try await copies[number % 2].token(id).accessToken } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens == ["access-\(round)"])
        }
        #expect(rig.provider.count("token") == 6)
    }

    @Test("clients #97: a copy that dies in its turn keeps the others waiting for no longer than its lease")
    func deadCopy() async throws {
        let rig = try Rig(.sqlite)
        let visitor = try await rig.signInByOAuth()
        let id = SessionID(try await rig.subject(visitor.call).upstreamSessionID)
        rig.clock.advance(by: .seconds(600))
        let now = rig.clock.now()
        #expect(try await rig.store.claimRefresh(of: id, until: now + .seconds(10), now: now))
        #expect(try await !rig.store.claimRefresh(of: id, until: now + .seconds(10), now: now + .seconds(9)))
        rig.clock.advance(by: .seconds(10))
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-2")
    }

    @Test("clients #97: a thousand decisions by two copies, one of which dies in its turn: the user stays signed in, and nobody is alarmed")
    func thousandDecisions() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.rotatesRefreshTokens = true }
        let visitor = try await rig.signInByOAuth()
        let id = SessionID(try await rig.subject(visitor.call).upstreamSessionID)
        var (copies, call) = ([rig.providerTokens(), rig.providerTokens()], visitor.call)
        for round in 2...501 {
            // An access token lasts for six hours.
            if round.isMultiple(of: 30) { call = rig.call(try await rig.bearer(), device: call.deviceID) }
            rig.clock.advance(by: .seconds(600))
            if round == 250 {
                let now = rig.clock.now()
                #expect(try await rig.store.claimRefresh(of: id, until: now + .seconds(10), now: now))
                copies[0] = rig.providerTokens()
                rig.clock.advance(by: .seconds(10))
            }
            let pair = copies
            async let first = pair[0].token(id).accessToken
            async let second = pair[1].token(id).accessToken
            let tokens = try await [first, second]
            #expect(tokens == ["access-\(round)", "access-\(round)"])
            #expect(try await rig.subject(call).upstreamSessionID == id.text, "signed in all the time")
        }
        #expect(rig.provider.count("token") == 501 && !rig.log.lines.contains { $0.level >= .warning })
    }

    @Test("mvpd §3: a refused refresh token means that the user must sign in again; the provider is not asked twice")
    func refusal() async throws {
        let rig = try Rig()
        let visitor = try await rig.signInByOAuth()
        rig.clock.advance(by: .seconds(600))
        rig.provider.script.withLock { $0.refusesRefresh = true }
        for _ in 0..<3 {
            await expectFault(.authorizationDeniedBySessionInvalidated) { _ = try await rig.providerToken(visitor.call) }
        }
        #expect(rig.provider.count("token") == 2)
        #expect(rig.log.reasons.last == "norefreshtoken")
        rig.provider.script.withLock { $0.refusesRefresh = false }
        try await rig.signInByOAuth()
        _ = try await rig.providerToken(visitor.call)
    }

    @Test("Without a refresh token the access token serves until its end")
    func noRefreshToken() async throws {
        let rig = try Rig()
        rig.provider.script.withLock { $0.refreshToken = nil }
        let visitor = try await rig.signInByOAuth()
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-1")
        rig.clock.advance(by: .seconds(600))
        await expectFault(.authorizationDeniedBySessionInvalidated) { _ = try await rig.providerToken(visitor.call) }
    }

    @Test("A provider that is away or refuses the client says nothing of the session")
    func trouble() async throws {
        let rig = try Rig()
        let visitor = try await rig.signInByOAuth()
        rig.clock.advance(by: .seconds(600))
        rig.provider.script.withLock { $0.hanging = ["token"] }
        await expectFault(.networkConnectionTimeout) { _ = try await rig.providerToken(visitor.call) }
        rig.provider.script.withLock {
            $0.hanging = []
            $0.broken["token"] = OutboundAnswer(status: 400, body: Array(#"{"error":"invalid_client"}"#.utf8))
        }
        await expectFault(.networkReceivedError) { _ = try await rig.providerToken(visitor.call) }
        rig.provider.script.withLock { $0.broken = [:] }
        #expect(try await rig.providerToken(visitor.call).accessToken == "access-2")
    }

    @Test("Tokens go with their session", arguments: Backend.allCases)
    func endWithTheSession(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let visitor = try await rig.signInByOAuth()
        let id = try await rig.subject(visitor.call).upstreamSessionID
        _ = try await rig.providerToken(visitor.call)
        #expect(try await rig.logout(visitor.call) == 1)
        await expectFault(.notFound) {
            _ = try await rig.sessions.getUpstreamToken(UpstreamTokenRequest(upstreamSessionID: id), context: rig.context)
        }
        #expect(try await rig.store.providerTokens(of: SessionID(id)) == nil)
    }

    @Test("The store holds no token in clear", arguments: Backend.allCases)
    func isSealed(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let visitor = try await rig.signInByOAuth()
        let id = SessionID(try await rig.subject(visitor.call).upstreamSessionID)
        let record = try #require(try await rig.store.providerTokens(of: id))
        let refresh = try #require(record.refreshToken)
        for sealed in [refresh, record.accessToken] {
            let text = String(decoding: sealed, as: UTF8.self)
            #expect(!text.contains("refresh-1") && !text.contains("access-1"))
        }
        let seal = rig.modules.signIn.oauth.finisher.seal
        #expect(seal.open(refresh, of: id, as: ProviderRefreshToken.self)?.text == "refresh-1")
        #expect(seal.open(refresh, of: SessionID("another"), as: ProviderRefreshToken.self) == nil)
        #expect("\(try #require(seal.open(refresh, of: id, as: ProviderRefreshToken.self)))" == "[hidden]")
    }

    @Test("mvpd #93: a SAML-born session stays as it is when its MVPD moves to OAuth; new sign-ins are by OAuth", arguments: Backend.allCases)
    func migration(_ backend: Backend) async throws {
        let rig = try Rig(backend)
        let call = rig.call(try await rig.bearer())
        try await rig.signIn(call)
        let before = try await rig.subject(call)
        #expect(before.upstreamSessionID.isEmpty)
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "DemoCable" {
                configuration.mvpds[index].signIn = .oauth(ScriptedProvider.endpoint)
            }
        }
        #expect(try await rig.subject(call) == before)
        #expect(rig.provider.calls.isEmpty)

        let other = rig.call(call.accessToken, device: "dev-2")
        let start = try await rig.service.startSignIn(Rig.startRequest(rig.code(other).code), context: rig.context)
        let visitor = Rig.Visitor(call: other, code: RegistrationCode(), start: start)
        #expect(try await rig.finish(rig.answer(visitor)).result == .signedIn)
        #expect(try await rig.providerToken(other).accessToken == "access-1")
        // And the reverse: a session made by OAuth cannot be continued by SAML.
        rig.clock.advance(by: .seconds(600))
        rig.catalogue.change { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "DemoCable" {
                configuration.mvpds[index].signIn = .saml(TestCatalogue.endpoint([]))
            }
        }
        await expectFault(.authorizationDeniedBySessionInvalidated) { _ = try await rig.providerToken(other) }
        #expect(try await rig.subject(call) == before)
    }
}
