import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

struct ClientRegistrationTests {
    @Test("rest-v1 #1: a valid statement registers a client")
    func registers() async throws {
        let rig = try Rig()
        let client = try await rig.register(redirect: "https://app.chan7.example/back")
        #expect(!client.clientID.isEmpty && !client.clientSecret.isEmpty)
        #expect(client.issuedAtSeconds == UInt64(t0.seconds))
        #expect(client.redirectUris == ["https://app.chan7.example/back"])
        #expect(client.grantTypes == ["client_credentials"])
        #expect(client.scopes == ["api:client:v1"])
        #expect(client.requestorIDs == ["CHAN7", "CHAN8"], "rest-v1 #116: whose pages may read it")
    }

    @Test("Two registrations of one statement are two clients")
    func registersAnew() async throws {
        let rig = try Rig()
        let first = try await rig.register()
        let second = try await rig.register()
        #expect(first.clientID != second.clientID && first.clientSecret != second.clientSecret)
    }

    @Test("rest-v1 #2: no statement")
    func refusesAbsentStatement() async throws {
        let rig = try Rig()
        await expectFault(.invalidRequest) { _ = try await rig.service.registerClient(RegisterClientRequest(), context: rig.context) }
    }

    @Test("rest-v1 #3: a statement with a broken signature, or of another issuer")
    func refusesBrokenStatement() async throws {
        let rig = try Rig()
        let good = try rig.statement()
        let foreign = try Rig().statement()
        let unsigned = good.split(separator: ".").dropLast().joined(separator: ".") + "."
        for statement in [foreign, unsigned, "no.jws.here", "x", String(good.dropLast(8)) + "AAAAAAAA"] {
            await expectFault(.invalidSoftwareStatement) {
                _ = try await rig.service.registerClient(RegisterClientRequest(softwareStatement: statement), context: rig.context)
            }
        }
    }

    @Test("rest-v1 #4: a revoked or unknown statement")
    func refusesRevokedStatement() async throws {
        let rig = try Rig()
        await expectFault(.unapprovedSoftwareStatement) { _ = try await rig.register("never-listed") }
        rig.catalogue.change { $0.applications.removeAll { $0.id == "tv" } }
        await expectFault(.unapprovedSoftwareStatement) { _ = try await rig.register("tv") }
    }

    @Test(
        "rest-v1 #5: a foreign redirect_uri",
        arguments: [
            "https://evil.example/", "https://chan7.example.evil.example/", "https://chan7.example@evil.example/", "javascript:alert(1)",
            "adobepass://ios.app", "adobepass://example.evil", "adbe.unknown://x", "https:chan7.example", "//chan7.example/", "chan7.example",
            "http://chan7.example/",
        ])
    func refusesForeignRedirect(_ redirect: String) async throws {
        let rig = try Rig()
        await expectFault(.invalidRedirectURI) { _ = try await rig.register(redirect: redirect) }
    }

    @Test(
        "Accepted forms of redirect_uri",
        arguments: [
            ("tv", "https://chan7.example"), ("tv", "https://deep.under.chan7.example:8443/x?y=z#f"), ("tv", "adobepass://example.chan7"),
            ("tv", "adbe.channelseven://signed-in"), ("phone", "adobepass://ios.app"), ("amazon", "adobepass://android.app"),
        ])
    func acceptsRedirect(_ application: String, _ redirect: String) async throws {
        let rig = try Rig()
        #expect(try await rig.register(application, redirect: redirect).redirectUris == [redirect])
    }

    @Test("plain HTTP is accepted where the catalogue marks the domain for development")
    func acceptsPlainHTTPForDevelopment() async throws {
        let rig = try Rig()
        rig.catalogue.change { $0.requestors[0].domains[0].development = true }
        let redirect = "http://deep.under.chan7.example:8443/x"
        #expect(try await rig.register("tv", redirect: redirect).redirectUris == [redirect])
        let code = try await rig.code(rig.call(rig.bearer()))
        #expect(try await rig.start(code.code, redirect: "http://www.chan7.example:8080").start.url == "https://idp.example/sso")
    }

    @Test("A catalogue without usable statement keys is not the client's fault")
    func reportsBrokenKeys() async throws {
        let rig = try Rig()
        rig.catalogue.change { $0.statementKeys = "no json" }
        await expectFault(.unavailable) { _ = try await rig.register() }
    }

    @Test("The store never sees the secret")
    func storesDigest() async throws {
        let rig = try Rig(.sqlite)
        let client = try await rig.register()
        let stored = try #require(await rig.store.client(ClientID(client.clientID)))
        #expect(stored.secretDigest.matches(ClientSecret(client.clientSecret)))
        #expect(!"\(stored)".contains(client.clientSecret))
    }
}
