import Clocks
import Foundation
import SamlSigner
import Testing

@testable import SamlProfile

/// Single logout messages of both sides (mvpd §2.7).
struct LogoutTests {
    private let world: World
    private let key: SamlSigningKey

    init() throws {
        world = try World.shared.get()
        key = try SamlSigningKey(pem: world.serviceProvider.privateKeyPEM, certificate: world.serviceProvider.certificateDER)
    }

    // MARK: Our messages

    private var request: SamlLogoutRequest {
        SamlLogoutRequest(
            id: RequestID(rawValue: "_our-request"), issuedAt: World.now, destination: "https://idp.harbor.example/slo",
            issuer: "https://saml.sp.pass.example/on-behalf-of/NEWSBRAND",
            nameID: NameID(
                value: ProviderUserID("k3Yq-0091"), format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
                nameQualifier: "https://idp.harbor.example/metadata", spNameQualifier: "https://saml.sp.pass.example"),
            sessionIndex: "_session-7")
    }

    private func expectContent(_ xml: String) throws {
        let root = try ParsedDocument.parse(Array(xml.utf8)).root
        #expect(root.isNamed("LogoutRequest", in: Namespaces.protocol))
        #expect(root.attribute("Destination") == "https://idp.harbor.example/slo")
        #expect(root.attribute("Reason") == "urn:oasis:names:tc:SAML:2.0:logout:user")
        #expect(root.firstChild("Issuer", in: Namespaces.assertion)?.text == "https://saml.sp.pass.example/on-behalf-of/NEWSBRAND")
        let name = try #require(root.firstChild("NameID", in: Namespaces.assertion))
        #expect(name.text == "k3Yq-0091" && name.attribute("Format")?.hasSuffix(":persistent") == true)
        #expect(name.attribute("NameQualifier") == "https://idp.harbor.example/metadata")
        #expect(name.attribute("SPNameQualifier") == "https://saml.sp.pass.example")
        #expect(root.firstChild("SessionIndex", in: Namespaces.protocol)?.text == "_session-7")
    }

    @Test("mvpd #81: a redirected LogoutRequest holds the stored name and is signed over its query, RelayState included")
    func redirectsRequest() throws {
        let url = try request.redirectURL(signedWith: key, relayState: RelayState(rawValue: "handle-1"))
        let query = try #require(url.split(separator: "?", maxSplits: 1).last.map(String.init))
        let signed = try #require(query.range(of: "&Signature=")).lowerBound
        #expect(query.contains("&RelayState=handle-1&SigAlg="))
        let items = try #require(URLComponents(string: url)?.queryItems)
        func value(_ name: String) throws -> String { try #require(items.first { $0.name == name }?.value) }
        let signature = Array(try #require(Data(base64Encoded: try value("Signature"))))
        #expect(try Signer.verifies(signature, over: String(query[..<signed]), with: world.serviceProvider.certificatePEM))
        try expectContent(try Inflater.inflated(try value("SAMLRequest")))
    }

    @Test("mvpd #81: a posted LogoutRequest carries an enveloped signature")
    func postsRequest() throws {
        let form = try request.postForm(signedWith: key, relayState: RelayState(rawValue: "handle-1"))
        #expect(form.action == "https://idp.harbor.example/slo" && form.fields.map(\.name) == ["SAMLRequest", "RelayState"])
        let xml = String(decoding: try #require(Data(base64Encoded: form.fields[0].value)), as: UTF8.self)
        #expect(try Signer.verifies(xml, with: world.serviceProvider.certificatePEM))
        try expectContent(xml)
    }

    // MARK: The MVPD's messages

    private var expected: ExpectedLogout {
        get throws {
            ExpectedLogout(
                logoutServiceURL: LogoutTemplate.service, issuer: .direct(entityID: ResponseTemplate.identityProvider),
                pinnedCertificates: [try PinnedCertificate(der: world.identityProvider.certificateDER)])
        }
    }

    private func redirected(_ template: LogoutTemplate, _ change: (String) -> String = { $0 }) throws -> UnverifiedLogout {
        try UnverifiedLogout(query: change(try template.redirected(by: world.identityProvider, relayState: "handle-1")))
    }

    private func posted(_ xml: String, request: Bool = false) throws -> UnverifiedLogout {
        let encoded = Data(xml.utf8).base64EncodedString()
        return try UnverifiedLogout(request: request ? encoded : "", response: request ? "" : encoded, relayState: nil)
    }

    private func answer(_ message: UnverifiedLogout) throws -> LogoutAnswer {
        try LogoutVerifier().answer(message, to: "_our-request", expecting: try expected, at: World.now)
    }

    private func request(_ message: UnverifiedLogout) throws -> VerifiedLogoutRequest {
        try LogoutVerifier().request(message, expecting: try expected, at: World.now)
    }

    private func expectRejection(_ reason: RejectionReason, _ comment: String = "", _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("accepted: \(comment)")
        } catch {
            #expect((error as? SamlRejection)?.reason == reason, "\(comment): \(error)")
        }
    }

    private static let status = "urn:oasis:names:tc:SAML:2.0:status:"

    @Test("mvpd #81: Success and PartialLogout count as logged out, by either binding")
    func acceptsAnswers() throws {
        let success = LogoutTemplate.response(to: "_our-request")
        #expect(try answer(redirected(success)) == .complete)
        #expect(try answer(posted(success.posted(by: world.identityProvider))) == .complete)
        let partial = LogoutTemplate.response(to: "_our-request", status: ["Responder", "PartialLogout"].map { Self.status + $0 })
        #expect(try answer(redirected(partial)) == .partial)
        let failure = LogoutTemplate.response(to: "_our-request", status: [Self.status + "Responder"])
        #expect(try answer(redirected(failure)) == .failed(codes: ["Responder"]))
    }

    @Test("mvpd §2.7: destination, request, issuer, age and signature of an answer")
    func refusesAnswers() throws {
        func refuse(_ reason: RejectionReason, _ change: (inout LogoutTemplate) -> Void) {
            var template = LogoutTemplate.response(to: "_our-request")
            change(&template)
            expectRejection(reason, "redirected") { _ = try answer(redirected(template)) }
            expectRejection(reason, "posted") { _ = try answer(posted(template.posted(by: world.identityProvider))) }
        }
        refuse(.destination) { $0.destination = "https://sp.pass.example/other" }
        refuse(.destination) { $0.destination = nil }
        refuse(.request) { $0.inResponseTo = "_another" }
        refuse(.unsolicited) { $0.inResponseTo = nil }
        refuse(.issuer) { $0.issuer = "https://evil.example" }
        refuse(.issuer) { $0.issuer = nil }
        refuse(.stale) { $0.issueInstant = "2031-03-04T09:00:00Z" }
        let genuine = LogoutTemplate.response(to: "_our-request")
        expectRejection(.signatureInvalid) { _ = try answer(posted(genuine.posted(by: world.stranger))) }
        expectRejection(.signatureMissing) { _ = try answer(posted(genuine.xml)) }
        expectRejection(.signatureInvalid) { _ = try answer(UnverifiedLogout(query: genuine.redirected(by: world.stranger))) }
        expectRejection(.root) { _ = try answer(posted(LogoutTemplate.request(name: "x").posted(by: world.identityProvider))) }
    }

    @Test("mvpd #82: duplicate parameters, both messages, other spellings, re-encoded queries and SHA-1 are refused")
    func refusesConfusedQueries() throws {
        let genuine = LogoutTemplate.response(to: "_our-request")
        let other = try genuine.redirected(by: world.identityProvider)
        let message = String(other.prefix { $0 != "&" })
        for extra in [message, "RelayState=x", "SigAlg=x", "Signature=x", message.replacing("SAMLResponse", with: "SAMLRequest")] {
            expectRejection(.parameters, "behind: \(extra.prefix(20))") { _ = try redirected(genuine) { "\($0)&\(extra)" } }
            expectRejection(.parameters, "in front: \(extra.prefix(20))") { _ = try redirected(genuine) { "\(extra)&\($0)" } }
        }
        expectRejection(.parameters, "encoded name") { _ = try redirected(genuine) { "\($0)&%53AMLResponse=x" } }
        expectRejection(.parameters, "no message") { _ = try UnverifiedLogout(query: "RelayState=x") }
        expectRejection(.signatureMissing) { _ = try UnverifiedLogout(query: message) }
        // The same values in another encoding are not what was signed.
        expectRejection(.signatureInvalid, "re-encoded") {
            _ = try answer(redirected(genuine) { $0.replacing("%2f", with: "%2F").replacing("%2b", with: "%2B").replacing("%3d", with: "%3D") })
        }
        expectRejection(.signatureInvalid, "RelayState changed") {
            _ = try answer(redirected(genuine) { $0.replacing("handle-1", with: "handle-2") })
        }
        expectRejection(.signatureInvalid, "RelayState removed") {
            _ = try answer(redirected(genuine) { $0.replacing("&RelayState=handle-1", with: "") })
        }
        let sha1 = try genuine.redirected(
            by: world.identityProvider, algorithm: "http://www.w3.org/2000/09/xmldsig#rsa-sha1", digest: "sha1")
        expectRejection(.signatureAlgorithm, "SHA-1") { _ = try answer(UnverifiedLogout(query: sha1)) }
        var legacy = try expected
        legacy.legacySHA1Until = World.now + .seconds(3600)
        expectRejection(.signatureAlgorithm, "SHA-1 of an MVPD with old messages") {
            _ = try LogoutVerifier().answer(UnverifiedLogout(query: sha1), to: "_our-request", expecting: legacy, at: World.now)
        }
        let sha512 = try genuine.redirected(
            by: world.identityProvider, algorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", digest: "sha512")
        #expect(try answer(UnverifiedLogout(query: sha512)) == .complete)
    }

    @Test("mvpd #82: what is compressed must be one stream of a bounded size, and unsigned XML inside it")
    func refusesConfusedMessages() throws {
        expectRejection(.form, "no DEFLATE") { _ = try UnverifiedLogout(query: "SAMLResponse=AAAA&SigAlg=x&Signature=AAAA") }
        let bomb = try Inflater.deflated("<a>" + String(repeating: " ", count: 90_000) + "</a>")
        expectRejection(.root, "large, but within bounds") {
            let message = try UnverifiedLogout(
                query:
                    "SAMLResponse=\(bomb.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D"))&SigAlg=x&Signature=AAAA"
            )
            _ = try answer(message)
        }
        var both = LogoutTemplate.response(to: "_our-request")
        both.signature = SignatureTemplate()
        expectRejection(.signaturePosition, "signed inside") { _ = try answer(redirected(both)) }
    }

    @Test("mvpd §2.7: an MVPD's request says who and which sessions")
    func acceptsRequests() throws {
        let template = LogoutTemplate.request(name: "k3Yq-0091", sessionIndexes: ["_session-7", "_session-8"])
        for message in [try redirected(template), try posted(template.posted(by: world.identityProvider), request: true)] {
            let issuer = try message.claimedIssuer()
            #expect(message.isRequest && issuer == ResponseTemplate.identityProvider)
            let verified = try request(message)
            #expect(verified.id == "_logout-1" && verified.issuer == ResponseTemplate.identityProvider)
            #expect(verified.nameID.value.rawValue == "k3Yq-0091" && verified.sessionIndexes == ["_session-7", "_session-8"])
            #expect(verified.expiresAt == World.now + .seconds(300 + 60 + 60), "so long it may come again: its age, and clocks that differ both ways")
        }
    }

    @Test("mvpd #83: a request must be signed, be for us, and not be over")
    func refusesRequests() throws {
        let genuine = LogoutTemplate.request(name: "k3Yq-0091")
        expectRejection(.signatureMissing, "unsigned form") { _ = try request(posted(genuine.xml, request: true)) }
        expectRejection(.signatureMissing, "unsigned query") {
            _ = try redirected(genuine) { query in query.split(separator: "&").filter { !$0.hasPrefix("Sig") }.joined(separator: "&") }
        }
        expectRejection(.signatureInvalid, "foreign key") { _ = try request(UnverifiedLogout(query: genuine.redirected(by: world.stranger))) }
        var over = genuine
        over.notOnOrAfter = "2031-03-04T09:58:00Z"
        expectRejection(.time, "over") { _ = try request(redirected(over)) }
        over.notOnOrAfter = "2031-03-04T09:59:05Z"
        expectRejection(.time, "over at this moment, as far as clocks differ") { _ = try request(redirected(over)) }
        over.notOnOrAfter = "2031-03-04T09:59:06Z"
        #expect(try request(redirected(over)).sessionIndexes == [])
        var nameless = genuine
        nameless.content = ""
        expectRejection(.subjectFormat, "nobody") { _ = try request(redirected(nameless)) }
        let split = LogoutTemplate.request(name: "ann<!-- -->.evil")
        expectRejection(.form, "a comment in the name") { _ = try request(redirected(split)) }
        var moved = genuine
        moved.signature = SignatureTemplate()
        let signed = try moved.posted(by: world.identityProvider)
        let wrapped =
            "<samlp:LogoutRequest xmlns:samlp=\"urn:oasis:names:tc:SAML:2.0:protocol\" Version=\"2.0\" ID=\"_evil\">\(signed)</samlp:LogoutRequest>"
        expectRejection(.signaturePosition, "wrapped") { _ = try request(posted(wrapped, request: true)) }
    }

    @Test("mvpd §2.7: a message with two names, two issuers, an ID twice or an assertion inside is refused, however it is signed")
    func refusesOddContent() throws {
        func refuse(_ reason: RejectionReason, isSignable: Bool = true, _ change: (inout LogoutTemplate) -> Void) {
            var template = LogoutTemplate.request(name: "k3Yq-0091")
            change(&template)
            expectRejection(reason, template.content) { _ = try request(redirected(template)) }
            guard isSignable else { return }
            expectRejection(reason, template.content) { _ = try request(posted(template.posted(by: world.identityProvider), request: true)) }
        }
        refuse(.subjectFormat) { $0.content += "<saml:NameID>another</saml:NameID>" }
        refuse(.issuer) { $0.content += "<saml:Issuer>\(ResponseTemplate.identityProvider)</saml:Issuer>" }
        refuse(.duplicateID, isSignable: false) { $0.content += "<samlp:Extensions><x ID=\"_logout-1\"/></samlp:Extensions>" }
        refuse(.duplicateID, isSignable: false) { $0.id = "1-is-no-name" }
        refuse(.assertionPosition) { template in
            var assertion = AssertionTemplate()
            assertion.signature = nil
            template.content += "<samlp:Extensions>\(assertion.xml)</samlp:Extensions>"
        }
    }

    @Test("mvpd #82: an algorithm that the endpoint's record does not list is refused in a query, though the signature is good")
    func demandsListedAlgorithms() throws {
        var strict = try expected
        strict.signatureAlgorithms = [.rsaSHA512]
        let answer = LogoutTemplate.response(to: "_our-request")
        expectRejection(.signatureAlgorithm) {
            _ = try LogoutVerifier().answer(redirected(answer), to: "_our-request", expecting: strict, at: World.now)
        }
        strict.signatureAlgorithms.insert(.rsaSHA256)
        #expect(try LogoutVerifier().answer(redirected(answer), to: "_our-request", expecting: strict, at: World.now) == .complete)
    }

    @Test("mvpd §2.7: a request with an empty NameID ends nothing: sessions without one are nobody's to name")
    func refusesEmptyName() throws {
        let empty = LogoutTemplate.request(name: "")
        expectRejection(.subjectFormat, "redirected") { _ = try request(redirected(empty)) }
        expectRejection(.subjectFormat, "posted") { _ = try request(posted(empty.posted(by: world.identityProvider), request: true)) }
    }

    @Test("SAML bindings §3.4.4.1: the Redirect binding takes no line ends in base64, and a posted message does")
    func keepsRedirectStrict() throws {
        let template = LogoutTemplate.response(to: "_our-request")
        expectRejection(.base64) {
            _ = try redirected(template) { query in query.replacing("SAMLResponse=", with: "SAMLResponse=%0D%0A") }
        }
        let encoded = Data(try template.posted(by: world.identityProvider).utf8).base64EncodedString(options: .lineLength76Characters)
        #expect(try answer(UnverifiedLogout(request: "", response: encoded, relayState: nil)) == .complete)
    }
}
