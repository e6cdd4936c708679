import Clocks
import Contracts
import Cryptography
import Foundation
import Identifiers
import SamlProfile
import SamlSigner
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A sign-in with genuine messages: signed by `xmlsec1`, checked by the real profile.
struct EndToEndSamlTests {
    @Test("mvpd #8, #71: a genuine signed assertion signs in once", arguments: Backend.allCases)
    func signsIn(_ backend: Backend) async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(backend, saml: try Self.profile(), idpCertificate: provider.certificateDER)
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await start(rig, call)
        let answer = try self.answer(browser, request, signedBy: provider)
        #expect(try await rig.finish(answer).result == .signedIn)
        #expect(try await rig.finish(answer).result == .rejected)
        #expect(try await rig.session(call).mvpd == "DemoCable")
        let subject = try await rig.sessions.findSession(SessionRequest(call: call), context: rig.context)
        #expect(subject.upstreamUserID == "k3Yq-0091")
        #expect(
            subject.attributes == [
                UserAttribute(key: "householdID", values: ["house-7"]), UserAttribute(key: "maxRating.VCHIP", values: ["TV-PG"]),
            ])
    }

    @Test("rest-v1 #45, mvpd #70, #74: the message of one sign-in is no answer to another")
    func refusesForeignAnswer() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(saml: try Self.profile(), idpCertificate: provider.certificateDER)
        let call = try await rig.call(rig.bearer())
        let (first, firstRequest) = try await start(rig, call)
        let answer = try self.answer(first, firstRequest, signedBy: provider)
        let (second, _) = try await start(rig, rig.call(call.accessToken, device: "dev-2"))
        var moved = answer
        (moved.relayState, moved.browserSecret) = (second.relayState, second.browserSecret)
        #expect(try await rig.finish(moved).result == .rejected)
        #expect(try await rig.finish(answer).result == .signedIn)
    }

    @Test("mvpd #11: an MVPD that has to sign its responses and to encrypt its assertions")
    func signsInByEncryptedAssertion() async throws {
        let (provider, ourselves) = (try SignerIdentity(), try SignerIdentity(commonName: "sp.pass.example"))
        let rig = try Rig(saml: try Self.profile(ourselves))
        rig.catalogue.change { configuration in
            var endpoint = TestCatalogue.endpoint(provider.certificateDER)
            endpoint.signaturePolicy = .response
            endpoint.encryption = .required
            configuration.mvpds[0].signIn = .saml(endpoint)
        }
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await start(rig, call)
        #expect(try await rig.finish(answer(browser, request, signedBy: provider)).result == .rejected)
        let encrypted = try answer(browser, request, signedBy: provider) { template in
            let assertion = try Signer.sign(try #require(template.assertion).xml, signatureOf: "Assertion", with: provider)
            template.content = try Encrypter().encrypt(assertion, for: ourselves)
            template.signature = SignatureTemplate()
        }
        #expect(try await rig.finish(encrypted).result == .signedIn)
        #expect(try await rig.session(call).mvpd == "DemoCable")
    }

    @Test("mvpd #18: the MVPD's own refusal")
    func returnsDeclined() async throws {
        let provider = try SignerIdentity.sharedProvider.get()
        let rig = try Rig(saml: try Self.profile(), idpCertificate: provider.certificateDER)
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await start(rig, call)
        let refusal = try answer(browser, request, signedBy: provider) { template in
            template.assertion = nil
            template.signature = SignatureTemplate()
            template.status = ["Responder", "AuthnFailed"].map { "urn:oasis:names:tc:SAML:2.0:status:\($0)" }
        }
        let outcome = try await rig.finish(refusal)
        #expect(outcome.result == .declined && outcome.redirectURL == "https://chan7.example/done")
    }

    @Test("mvpd #40: another MVPD's key")
    func refusesForeignKey() async throws {
        let rig = try Rig(saml: try Self.profile(), idpCertificate: try SignerIdentity().certificateDER)
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await start(rig, call)
        let answer = try self.answer(browser, request, signedBy: try SignerIdentity())
        #expect(try await rig.finish(answer).result == .rejected)
        await expectFault(.authenticationSessionMissing) { _ = try await rig.session(call) }
    }

    @Test("The POST binding gives a form")
    func postsRequest() async throws {
        let rig = try Rig(saml: try Self.profile())
        rig.catalogue.change { configuration in
            var endpoint = TestCatalogue.endpoint([])
            endpoint.requestBinding = .post
            configuration.mvpds[0].signIn = .saml(endpoint)
        }
        let code = try await rig.code(rig.call(rig.bearer()))
        let start = try await rig.service.startSignIn(Rig.startRequest(code.code), context: rig.context)
        #expect(start.url == "https://idp.harbor.example/sso")
        #expect(start.fields.map(\.name) == ["SAMLRequest", "RelayState"])
        let encoded = try #require(Data(base64Encoded: start.fields[0].value))
        #expect(String(decoding: encoded, as: UTF8.self).contains("https://saml.sp.pass.example/on-behalf-of/CHAN7"))
    }

    @Test("mvpd #19: the metadata document is signed and names the requestor's entity")
    func servesMetadata() async throws {
        let identity = try SignerIdentity()
        let rig = try Rig(saml: try Self.profile(identity))
        let document = try await rig.service.getServiceProviderMetadata(.init(requestor: "CHAN7"), context: rig.context).document
        #expect(document.contains("entityID=\"https://saml.sp.pass.example/on-behalf-of/CHAN7\""))
        #expect(try Signer.verifies(document, with: identity.certificatePEM))
    }

    // MARK: Parties

    struct Pending {
        let relayState: String
        let browserSecret: String
    }

    static func profile(_ identity: SignerIdentity? = nil) throws -> SamlServiceProvider {
        let identity = try identity ?? SignerIdentity.sharedServiceProvider.get()
        return SamlServiceProvider(
            .init(
                entityID: ResponseTemplate.serviceProvider, assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService,
                logoutServiceURL: LogoutTemplate.service,
                signingKey: try SamlSigningKey(pem: identity.privateKeyPEM, certificate: identity.certificateDER),
                otherSigningCertificate: nil, decryptionKey: try DecryptionKey(pem: identity.privateKeyPEM),
                encryptionCertificate: identity.certificateDER,
                metadataValidity: .seconds(3600)),
            random: SystemRandom())
    }

    /// Starts a sign-in and reads the request's id out of the address, as the MVPD does.
    func start(_ rig: Rig, _ call: DeviceCall) async throws -> (Pending, requestID: String) {
        let code = try await rig.code(call)
        let start = try await rig.service.startSignIn(Rig.startRequest(code.code), context: rig.context)
        let items = try #require(URLComponents(string: start.url)?.queryItems)
        let message = try #require(items.first { $0.name == "SAMLRequest" }?.value)
        let request = try Inflater.inflated(message)
        let id = try #require(request.firstMatch(of: /ID="([^"]+)"/)?.1)
        let relay = try #require(items.first { $0.name == "RelayState" }?.value)
        return (Pending(relayState: relay, browserSecret: start.browserSecret), String(id))
    }

    /// A started sign-in and the MVPD's genuine answer to it.
    func pendingAnswer(
        _ rig: Rig, signedBy provider: SignerIdentity
    ) async throws -> (answer: CompleteSamlSignInRequest, call: DeviceCall) {
        let call = try await rig.call(rig.bearer())
        let (browser, request) = try await start(rig, call)
        return (try answer(browser, request, signedBy: provider), call)
    }

    func answer(
        _ pending: Pending, _ request: String, signedBy provider: SignerIdentity, _ change: (inout ResponseTemplate) throws -> Void = { _ in }
    ) throws -> CompleteSamlSignInRequest {
        var template = ResponseTemplate()
        template.inResponseTo = request
        var assertion = AssertionTemplate()
        assertion.confirmations[0].inResponseTo = request
        assertion.attributes += AssertionTemplate.attribute("MaxTVRating", ["TV-PG"]) + AssertionTemplate.attribute("unknown", ["x"])
        template.assertion = assertion
        try change(&template)
        return CompleteSamlSignInRequest(
            samlResponse: Data(try template.signed(by: provider).utf8).base64EncodedString(), relayState: pending.relayState,
            relayStatePresent: true, browserSecret: pending.browserSecret)
    }
}
