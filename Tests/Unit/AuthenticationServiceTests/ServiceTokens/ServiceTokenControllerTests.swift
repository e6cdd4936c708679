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

struct ServiceTokenControllerTests {
    @Test("rest-v2 §2.14: the token has the reference's claims, for an hour")
    func claims() async throws {
        let rig = try await ServiceTokenRig()
        let request = IssueServiceTokenRequest(call: rig.call(rig.backend), person: "ada")
        let made = try await rig.rig.service.issueServiceToken(request, context: rig.rig.context)
        let claims = try ServiceTokenVerifier(own: rig.rig.serviceTokenKeys).verify(made.token, now: t0)
        #expect(claims.issuer == "ssoservicetoken" && claims.issuedAt == t0 && claims.expiresAt == t0 + .seconds(3600))
        #expect(made.issuedAtMilliseconds == UInt64(t0.milliseconds) && made.expiresAtMilliseconds == UInt64((t0 + .seconds(3600)).milliseconds))
        let again = try ServiceTokenVerifier(own: rig.rig.serviceTokenKeys).verify(await rig.token(device: "dev-2"), now: t0)
        #expect(again.subject == claims.subject && again.tie != claims.tie, "one person, another device")
        #expect(!claims.subject.contains("ada"))
    }

    @Test("rest-v2 D17: only a programmer's own service says who a person is; a person, or a code, and nothing else")
    func issuers() async throws {
        let rig = try await ServiceTokenRig()
        await expectFault(.insufficientScope) { _ = try await rig.issue(rig.call(rig.app), person: "ada") }
        await expectFault(.accessDenied) { _ = try await rig.issue(rig.call("x"), person: "ada") }
        await expectFault(.insufficientScope) { _ = try await rig.issue(rig.call(rig.backend, requestor: "FOREIGN"), person: "ada") }
        await expectFault(.invalidRequest) { _ = try await rig.issue(rig.call(rig.backend)) }
        await expectFault(.invalidRequest) { _ = try await rig.issue(rig.call(rig.backend), person: "ada", link: "123456") }
        await expectFault(.invalidRequest) { _ = try await rig.issue(rig.call(rig.backend), person: String(repeating: "a", count: 513)) }
        _ = try await rig.issue(rig.call(rig.backend), person: String(repeating: "a", count: 512))
        await expectFault(.invalidDeviceID) { _ = try await rig.issue(rig.call(rig.backend, device: ""), person: "ada") }
    }

    @Test("rest-v2 #103: a link code brings one further device to the person", arguments: Backend.allCases)
    func links(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        try await rig.signIn(rig.call(rig.app, token: token))
        let code = try await rig.link(token)
        #expect(code.utf8.count == 6 && code.allSatisfy(\.isNumber))
        await expectFault(.invalidRegistrationCode) {
            _ = try await rig.issue(rig.call(rig.foreign, device: "dev-9", requestor: "FOREIGN"), link: code)
        }
        let second = try await rig.issue(rig.call(rig.second, device: "dev-2"), link: code)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: second)).map(\.kind) == [.serviceToken])
        await expectFault(.invalidRegistrationCode) { _ = try await rig.issue(rig.call(rig.second, device: "dev-3"), link: code) }
        for wrong in ["12345", "1234567", "12345a", "１２３４５６"] {
            await expectFault(.invalidRegistrationCode) { _ = try await rig.issue(rig.call(rig.second, device: "dev-3"), link: wrong) }
        }
        let late = try await rig.link(token)
        rig.rig.clock.advance(by: .seconds(1800))
        await expectFault(.invalidRegistrationCode) { _ = try await rig.issue(rig.call(rig.second, device: "dev-3"), link: late) }
    }

    @Test("a token that is over for less than a week is exchanged for a fresh one of the same person", arguments: Backend.allCases)
    func refreshes(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        rig.rig.clock.advance(by: .seconds(3600))
        await expectFault(.serviceTokenExpired) { _ = try await rig.link(token) }
        rig.rig.clock.advance(by: ServiceTokens.remembrance - .seconds(1))
        let bearer = try await rig.rig.bearer()
        let fresh = try await rig.refresh(token, bearer)
        let verifier = ServiceTokenVerifier(own: rig.rig.serviceTokenKeys)
        let now = rig.rig.clock.now()
        #expect(try verifier.verify(fresh, now: now).subject == verifier.verify(token, now: t0).subject)
        rig.rig.clock.advance(by: .seconds(1))
        await expectFault(.serviceTokenExpired) { _ = try await rig.refresh(token, bearer) }
        _ = try await rig.refresh(fresh, bearer)
        await expectFault(.accessDenied) { _ = try await rig.refresh(fresh, "x") }
        await expectFault(.insufficientScope) { _ = try await rig.refresh(fresh, bearer, requestor: "FOREIGN") }
    }

    @Test("the devices of a person are told; an app learns the id of its own device alone", arguments: Backend.allCases)
    func lists(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        let second = try await rig.token(device: "dev-2")
        try await rig.signIn(rig.call(rig.app, token: token))
        #expect(Set(try await rig.devices(token, rig.backend).map(\.id)) == ["dev-1", "dev-2"])
        let told = try await rig.devices(second, device: "dev-2")
        #expect(told.first { $0.id == "dev-2" }?.hasLogin == false)
        let other = try #require(told.first { $0.id != "dev-2" })
        #expect(told.count == 2 && other.hasLogin && other.id.utf8.count == 64 && other.device?.model == Sample.device.model)
        #expect(other.seenAtMilliseconds == UInt64(t0.milliseconds))
    }

    @Test("the tokens of a device that was taken out are good for nothing from then on", arguments: Backend.allCases)
    func unlinks(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        let (second, third) = (try await rig.token(device: "dev-2"), try await rig.token(device: "dev-3"))
        try await rig.signIn(rig.call(rig.app, token: token))
        let hidden = try #require(try await rig.devices(token).first { $0.id != "dev-1" }?.id)
        #expect(try await rig.unlink(["dev-2", "nobody", hidden], token).contains("dev-2"))
        #expect(try await rig.unlink(["dev-2", "dev-3"], token).count <= 1)
        #expect(try await rig.devices(token).map(\.id) == ["dev-1"])
        for gone in [second, third] {
            await expectFault(.serviceTokenInvalid) { _ = try await rig.refresh(gone) }
            #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: gone)).isEmpty)
        }
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: token)).count == 1)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2", token: rig.token(device: "dev-2"))).count == 1, "it may come back")
        await expectFault(.invalidRequest) { _ = try await rig.unlink(Array(repeating: "d", count: 1001), token) }
        #expect(try await rig.unlink(Array(repeating: "d", count: 1000), token).isEmpty)
    }

    @Test("what was signed in on a device that was taken out is its own from then on", arguments: Backend.allCases)
    func unlinksLogins(_ backend: Backend) async throws {
        let rig = try await ServiceTokenRig(backend)
        let token = try await rig.token()
        let second = try await rig.token(device: "dev-2")
        try await rig.signIn(rig.call(rig.second, device: "dev-2", token: second))
        #expect(try await rig.profiles(rig.call(rig.app, token: token)).map(\.kind) == [.serviceToken])
        #expect(try await rig.unlink(["dev-2"], token) == ["dev-2"])
        #expect(try await rig.profiles(rig.call(rig.app, token: token)).isEmpty)
        #expect(try await rig.logout(rig.call(rig.app, token: token)) == .none)
        #expect(try await rig.profiles(rig.call(rig.second, device: "dev-2")).map(\.kind) == [.regular])
    }

    @Test("another key verifies at once and signs after the lead; what the one before signed is good until it can be exchanged no more")
    func rotatesKeys() async throws {
        let rig = try await ServiceTokenRig()
        let keys = rig.rig.serviceTokenKeys
        let first = try await rig.token()
        let before = keys.signing.identifier
        let next = ServiceTokenKey(try RSAPrivateKey.generate())
        keys.adopt(ServiceTokenKeys.Files(current: next))
        #expect(keys.signing.identifier == before && keys.keySet.keys.count == 2)
        rig.rig.clock.advance(by: .seconds(60))
        #expect(keys.advance() && keys.signing.identifier == next.identifier)
        #expect(try await rig.refresh(rig.refresh(first)).isEmpty == false)
        rig.rig.clock.advance(by: ServiceTokens.remembrance + .seconds(3720))
        #expect(keys.advance() && keys.keySet.keys.map(\.identifier) == [next.identifier])
    }
}
