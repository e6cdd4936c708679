import Clocks
import Contracts
import Foundation
import Identifiers
import SamlProfile
import SamlSigner
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Single logout with genuine messages of both sides (mvpd §2.7).
struct SingleLogoutTests {
    private let provider: SignerIdentity

    init() throws { provider = try SignerIdentity.sharedProvider.get() }

    private func rig(_ backend: Backend = .sqlite, _ change: (inout SamlEndpoint) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig(backend, saml: try EndToEndSamlTests.profile())
        var endpoint = TestCatalogue.endpoint(provider.certificateDER)
        endpoint.logoutURL = "https://idp.harbor.example/slo"
        change(&endpoint)
        rig.catalogue.change { $0.mvpds[0].signIn = .saml(endpoint) }
        return rig
    }

    /// A signed-in device.
    private func signedIn(_ rig: Rig, requestor: String = "CHAN7", assertion id: String = "_assertion-1") async throws -> DeviceCall {
        let tests = EndToEndSamlTests()
        let call = try await rig.call(rig.bearer(), requestor: requestor)
        let (browser, request) = try await tests.start(rig, call)
        let answer = try tests.answer(browser, request, signedBy: provider) {
            $0.assertion?.id = id
            $0.assertion?.nameIDAttributes += " NameQualifier=\"harbor\" SPNameQualifier=\"pass\" SPProvidedID=\"x1\""
        }
        #expect(try await rig.finish(answer).result == .signedIn)
        return call
    }

    private func leave(_ rig: Rig, _ call: DeviceCall, redirect: String = "https://chan7.example/bye") async throws -> String {
        let request = LogoutRequest(call: call, hasBrowser: true, redirectURL: redirect)
        return try await rig.service.logout(request, context: rig.context).visitURL
    }

    /// Opens the address of a visit and reads the request out of the MVPD's.
    private func visit(_ rig: Rig, _ url: String) async throws -> (relay: String, request: String) {
        let handle = String(url.dropFirst(Rig.visitAddress.count))
        let step = try await rig.service.visitLogout(VisitLogoutRequest(handle: handle), context: rig.context)
        #expect(step.result == .goesOn && step.fields.isEmpty && step.url.hasPrefix("https://idp.harbor.example/slo?SAMLRequest="))
        let items = try #require(URLComponents(string: step.url)?.queryItems)
        func value(_ name: String) throws -> String { try #require(items.first { $0.name == name }?.value) }
        return (try value("RelayState"), try Inflater.inflated(try value("SAMLRequest")))
    }

    private func receive(_ rig: Rig, _ query: String) async throws -> LogoutStep {
        try await rig.service.receiveSamlLogout(SamlLogoutMessage(query: query), context: rig.context)
    }

    private func id(of request: String) throws -> String { String(try #require(request.firstMatch(of: /\sID="([^"]+)"/)).1) }

    @Test("mvpd #81: the stored name goes to the MVPD, its answer ends at the redirect URL", arguments: Backend.allCases)
    func roundTrip(_ backend: Backend) async throws {
        let rig = try rig(backend)
        let call = try await signedIn(rig)
        let address = try await leave(rig, call)
        #expect(address.hasPrefix(Rig.visitAddress))
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        let (relay, request) = try await visit(rig, address)
        for qualifier in ["NameQualifier=\"harbor\"", "SPNameQualifier=\"pass\"", "SPProvidedID=\"x1\""] { #expect(request.contains(qualifier)) }
        #expect(request.contains(">k3Yq-0091</saml:NameID>") && request.contains("/on-behalf-of/CHAN7</saml:Issuer>"))
        let answer = LogoutTemplate.response(to: try id(of: request))
        let query = try answer.redirected(by: provider, relayState: relay)
        let step = try await receive(rig, query)
        #expect(step.result == .goesOn && step.url == "https://chan7.example/bye" && !step.traceID.isEmpty)
        #expect(try await receive(rig, query).result == .rejected, "an answer counts once")
    }

    @Test("mvpd #81: PartialLogout goes on, a failure does not")
    func otherAnswers() async throws {
        let status = "urn:oasis:names:tc:SAML:2.0:status:"
        for (codes, result) in [(["Responder", "PartialLogout"], LogoutResult.goesOn), (["Responder"], .rejected)] {
            let rig = try rig()
            let (relay, request) = try await visit(rig, try await leave(rig, try await signedIn(rig)))
            let answer = LogoutTemplate.response(to: try id(of: request), status: codes.map { status + $0 })
            #expect(try await receive(rig, answer.redirected(by: provider, relayState: relay)).result == result)
        }
    }

    @Test("mvpd §2.7: an answer to another request, without or with a foreign RelayState, or of another key counts for nothing")
    func foreignAnswers() async throws {
        let rig = try rig()
        let (relay, request) = try await visit(rig, try await leave(rig, try await signedIn(rig)))
        let answer = LogoutTemplate.response(to: try id(of: request))
        #expect(try await receive(rig, LogoutTemplate.response(to: "_other").redirected(by: provider, relayState: relay)).result == .rejected)
        #expect(try await receive(rig, answer.redirected(by: provider)).result == .rejected)
        #expect(try await receive(rig, answer.redirected(by: provider, relayState: "other")).result == .rejected)
        #expect(try await receive(rig, answer.redirected(by: SignerIdentity(), relayState: relay)).result == .rejected)
        #expect(try await receive(rig, answer.redirected(by: provider, relayState: relay)).result == .goesOn)
    }

    @Test("mvpd §2.7: a visit is over after 15 minutes, and unknown handles lead nowhere")
    func visitsEnd() async throws {
        let rig = try rig()
        let address = try await leave(rig, try await signedIn(rig))
        rig.clock.advance(by: .seconds(15 * 60))
        let handle = String(address.dropFirst(Rig.visitAddress.count))
        for handle in [handle, "unknown", ""] {
            #expect(try await rig.service.visitLogout(VisitLogoutRequest(handle: handle), context: rig.context).result == .rejected)
        }
    }

    @Test("rest-v1 §3.20: without a browser, or without a logout of the MVPD, no MVPD is visited")
    func noVisit() async throws {
        let rig = try rig()
        let call = try await signedIn(rig)
        let answer = try await rig.service.logout(LogoutRequest(call: call), context: rig.context)
        #expect(answer.ended == 1 && answer.visitURL.isEmpty)
        let silent = try self.rig { $0.logoutURL = "" }
        #expect(try await leave(silent, try await signedIn(silent)).isEmpty)
    }

    @Test("mvpd §2.3 step 26: a session without a NameID ends here, and its MVPD is not visited", arguments: Backend.allCases)
    func skipsNamelessSession(_ backend: Backend) async throws {
        let rig = try rig(backend) { $0.guidAttributeName = "householdID" }
        let tests = EndToEndSamlTests()
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await tests.start(rig, call)
        let answer = try tests.answer(browser, request, signedBy: provider) { template in
            let named = try #require(template.assertion).xml
            let bare = named.replacing(/<saml:NameID[^>]*>[^<]*<\/saml:NameID>/, with: "")
            template.content = try Signer.sign(bare, signatureOf: "Assertion", with: provider)
        }
        #expect(try await rig.finish(answer).result == .signedIn)
        #expect(try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context).upstreamUserID == "house-7")
        let left = try await rig.service.logout(
            LogoutRequest(call: call, hasBrowser: true, redirectURL: "https://chan7.example/bye"), context: rig.context)
        #expect(left.ended == 1 && left.visitURL.isEmpty)
    }

    @Test("mvpd §2.7: a plain logout address takes the address to return to")
    func plainAddress() async throws {
        let rig = try rig { endpoint in
            endpoint.logoutURL = ""
            endpoint.plainLogout = PlainLogout(url: "https://harbor.example/bye?lang=en", returnParameter: "back")
        }
        let address = try await leave(rig, try await signedIn(rig))
        let handle = String(address.dropFirst(Rig.visitAddress.count))
        let step = try await rig.service.visitLogout(VisitLogoutRequest(handle: handle), context: rig.context)
        #expect(step.url == "https://harbor.example/bye?lang=en&back=https%3A%2F%2Fchan7.example%2Fbye")
    }

    @Test("mvpd #83: an unsigned request leaves the session, a signed one ends it and is answered once", arguments: Backend.allCases)
    func providerInitiated(_ backend: Backend) async throws {
        let rig = try rig(backend)
        let call = try await signedIn(rig)
        let template = LogoutTemplate.request(name: "k3Yq-0091")
        let signed = try template.redirected(by: provider, relayState: "theirs")
        let unsigned = signed.split(separator: "&").filter { !$0.hasPrefix("Sig") }.joined(separator: "&")
        let strange = try template.redirected(by: SignerIdentity(), relayState: "theirs")
        for query in [unsigned, strange] { #expect(try await receive(rig, query).result == .rejected) }
        #expect(try await rig.session(call).mvpd == "DemoCable")
        let step = try await receive(rig, signed)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
        #expect(step.result == .goesOn && step.url.hasPrefix("https://idp.harbor.example/slo?SAMLResponse="))
        #expect(step.url.contains("&RelayState=theirs&"))
        let message = try #require(URLComponents(string: step.url)?.queryItems?.first { $0.name == "SAMLResponse" }?.value)
        let answer = try Inflater.inflated(message)
        #expect(answer.contains("InResponseTo=\"_logout-1\"") && answer.contains("/on-behalf-of/CHAN7</saml:Issuer>"))
        #expect(try await receive(rig, signed).result == .rejected, "a request counts once")
    }

    @Test("mvpd §2.7: sessions of others, and with other indexes or qualifiers, stay")
    func matching() async throws {
        let rig = try rig()
        let call = try await signedIn(rig)
        var requests = [
            LogoutTemplate.request(name: "somebody-else"), LogoutTemplate.request(name: "k3Yq-0091", sessionIndexes: ["_other"]),
        ]
        var foreign = LogoutTemplate.request(name: "k3Yq-0091")
        foreign.content = "<saml:NameID Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:transient\">k3Yq-0091</saml:NameID>"
        requests.append(foreign)
        for (index, request) in requests.enumerated() {
            var request = request
            request.id = "_logout-\(index)"
            #expect(try await receive(rig, request.redirected(by: provider)).result == .goesOn)
            #expect(try await rig.session(call).mvpd == "DemoCable", "\(index)")
        }
    }

    @Test("mvpd §2.7: the answer to a posted request goes to the address for answers")
    func posted() async throws {
        let rig = try rig { endpoint in
            endpoint.logoutBinding = .post
            endpoint.logoutResponseURL = "https://idp.harbor.example/slo/answers"
        }
        let call = try await signedIn(rig)
        let message = Data(try LogoutTemplate.request(name: "k3Yq-0091").posted(by: provider).utf8).base64EncodedString()
        let step = try await rig.service.receiveSamlLogout(SamlLogoutMessage(samlRequest: message), context: rig.context)
        #expect(step.url == "https://idp.harbor.example/slo/answers" && step.fields.map(\.name) == ["SAMLResponse"])
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("mvpd #19: during a rollover the metadata lists both signing keys, and the logout address")
    func rollover() async throws {
        let (own, next) = (try SignerIdentity(commonName: "sp.pass.example"), try SignerIdentity(commonName: "sp.pass.example"))
        let profile = SamlServiceProvider(
            .init(
                entityID: ResponseTemplate.serviceProvider, assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
                logoutServiceURL: LogoutTemplate.service, signingKey: try SamlSigningKey(pem: own.privateKeyPEM, certificate: own.certificateDER),
                otherSigningCertificate: next.certificateDER, decryptionKey: try DecryptionKey(pem: own.privateKeyPEM),
                encryptionCertificate: own.certificateDER, metadataValidity: .seconds(3600)),
            random: SystemRandom())
        let document = try profile.metadata(requestor: nil, now: t0)
        #expect(try Signer.verifies(document, with: own.certificatePEM))
        #expect(document.contains(Data(next.certificateDER).base64EncodedString()))
        #expect(document.components(separatedBy: "use=\"signing\"").count == 3)
        #expect(document.components(separatedBy: "Location=\"\(LogoutTemplate.service)\"").count == 3)
    }
}
