import Clocks
import Foundation
import SamlSigner
import Testing

@testable import SamlProfile

/// Requests for a sign-in (mvpd §2.2).
struct AuthnRequestTests {
    private let world: World
    private let key: SamlSigningKey
    private let relayState = RelayState(rawValue: "handle 1&2")

    init() throws {
        world = try World.shared.get()
        key = try SamlSigningKey(pem: world.serviceProvider.privateKeyPEM, certificate: world.serviceProvider.certificateDER)
    }

    private func request(_ change: (inout AuthnRequest) -> Void = { _ in }) -> AuthnRequest {
        var request = AuthnRequest(
            id: RequestID(rawValue: "_6f1c"), issuedAt: Timestamp(milliseconds: 1_930_384_800_007), destination: "https://idp.harbor.example/sso",
            assertionConsumerServiceURL: ResponseTemplate.assertionConsumerService, serviceProviderEntityID: ResponseTemplate.serviceProvider,
            onBehalfOf: "NEWSBRAND")
        change(&request)
        return request
    }

    @Test("mvpd #1: the POST form carries a request whose enveloped signature verifies with the service provider's key")
    func postsSignedRequest() throws {
        let form = try request().postForm(signedWith: key, relayState: relayState)
        #expect(form.action == "https://idp.harbor.example/sso")
        #expect(form.fields.map(\.name) == ["SAMLRequest", "RelayState"])
        #expect(form.fields[1].value == relayState.rawValue)
        let xml = String(decoding: try #require(Data(base64Encoded: form.fields[0].value)), as: UTF8.self)
        #expect(try Signer.verifies(xml, with: world.serviceProvider.certificatePEM))
        #expect(try !Signer.verifies(xml, with: world.stranger.certificatePEM))
        #expect(try !Signer.verifies(xml.replacingFirst("NEWSBRAND", with: "OTHER"), with: world.serviceProvider.certificatePEM))
        #expect(try request().postForm(signedWith: key, relayState: nil).fields.map(\.name) == ["SAMLRequest"])
    }

    @Test("mvpd #1: the children stand in the order of the schema")
    func ordersChildren() throws {
        let full = request {
            $0.isPassive = true
            $0.scopingMode = .both
            $0.proxiedProvider = .init(providerID: "tinycable", name: "Tiny Cable")
        }
        let root = try ParsedDocument.parse(Array(full.document(signatureFor: key.certificate).utf8)).root
        let order: [(StaticString, StaticString)] = [
            ("Issuer", Namespaces.assertion), ("Signature", Namespaces.signature), ("Extensions", Namespaces.protocol),
            ("NameIDPolicy", Namespaces.protocol), ("Scoping", Namespaces.protocol),
        ]
        let children = Array(root.children)
        #expect(children.count == order.count)
        for (child, (name, namespace)) in zip(children, order) { #expect(child.isNamed(name, in: namespace)) }
    }

    @Test("mvpd #2: a redirect carries no XML signature, and signs the literal query")
    func redirects() throws {
        let url = try request().redirectURL(signedWith: key, relayState: relayState)
        let query = try #require(url.components(separatedBy: "https://idp.harbor.example/sso?").last)
        let parts = query.components(separatedBy: "&Signature=")
        #expect(parts[0].components(separatedBy: "&").map { $0.components(separatedBy: "=")[0] } == ["SAMLRequest", "RelayState", "SigAlg"])
        #expect(parts[0].contains("&RelayState=handle%201%262&"))
        let signature = try #require(parts[1].removingPercentEncoding.flatMap { Data(base64Encoded: $0) })
        #expect(try Signer.verifies(Array(signature), over: parts[0], with: world.serviceProvider.certificatePEM))
        #expect(try !Signer.verifies(Array(signature), over: parts[0] + "x", with: world.serviceProvider.certificatePEM))
        let encoded = try #require(parts[0].components(separatedBy: "&")[0].dropFirst("SAMLRequest=".count).removingPercentEncoding)
        #expect(try Inflater.inflated(encoded) == request().document())
        #expect(!request().document().contains("Signature"))
    }

    @Test("mvpd #3: without a RelayState the signed string has none")
    func redirectsWithoutRelayState() throws {
        let url = try request { $0.destination += "?tenant=1" }.redirectURL(signedWith: key, relayState: nil)
        let query = try #require(url.components(separatedBy: "https://idp.harbor.example/sso?tenant=1&").last)
        let parts = query.components(separatedBy: "&Signature=")
        #expect(!parts[0].contains("RelayState"))
        let signature = try #require(parts[1].removingPercentEncoding.flatMap { Data(base64Encoded: $0) })
        #expect(try Signer.verifies(Array(signature), over: parts[0], with: world.serviceProvider.certificatePEM))
    }

    @Test(
        "mvpd #4: issuer and scoping follow the mode",
        arguments: [
            (ScopingMode.issuerSuffix, true, false), (.requesterID, false, true), (.both, true, true), (.none, false, false),
        ])
    func scopes(mode: ScopingMode, suffix: Bool, requesterID: Bool) {
        let request = request { $0.scopingMode = mode }
        let issuer = ResponseTemplate.serviceProvider + (suffix ? "/on-behalf-of/NEWSBRAND" : "")
        #expect(request.issuer == issuer)
        let xml = request.document()
        #expect(xml.contains("<saml:Issuer>\(issuer)</saml:Issuer>"))
        #expect(xml.contains("<samlp:Scoping><samlp:RequesterID>NEWSBRAND</samlp:RequesterID></samlp:Scoping>") == requesterID)
        #expect(xml.contains("Scoping") == requesterID)
    }

    @Test("mvpd #5: a proxied MVPD is named once in the list")
    func namesProxiedProvider() {
        let xml = request { $0.proxiedProvider = .init(providerID: "tinycable", name: "Tiny & Cable") }.document()
        let entry = "<samlp:IDPList><samlp:IDPEntry ProviderID=\"tinycable\" Name=\"Tiny &amp; Cable\"/></samlp:IDPList>"
        #expect(xml.contains("<samlp:Scoping>\(entry)</samlp:Scoping>"))
        #expect(!request().document().contains("IDPList"))
    }

    @Test("mvpd #6: attributes follow the configuration")
    func followsConfiguration() {
        let plain = request().document()
        #expect(plain.contains("ForceAuthn=\"false\"") && plain.contains("IsPassive=\"false\"") && !plain.contains("Extensions"))
        #expect(plain.contains("IssueInstant=\"2031-03-04T10:00:00.007Z\""))
        #expect(plain.contains("Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:persistent\"") && plain.contains("AllowCreate=\"true\""))
        #expect(!plain.contains("SPNameQualifier"))
        let changed = request {
            $0.forceAuthn = true
            $0.isPassive = true
            $0.allowCreate = false
            $0.nameIDFormat = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
            $0.spNameQualifier = "https://q.example"
        }.document()
        #expect(changed.contains("ForceAuthn=\"true\"") && changed.contains("IsPassive=\"true\"") && changed.contains("AllowCreate=\"false\""))
        #expect(changed.contains("nameid-format:transient") && changed.contains("SPNameQualifier=\"https://q.example\""))
        let respondTo =
            "<thrpty:RespondTo xmlns:thrpty=\"urn:oasis:names:tc:SAML:protocol:ext:third-party\">https://saml.sp.pass.example</thrpty:RespondTo>"
        #expect(changed.contains("<samlp:Extensions>\(respondTo)</samlp:Extensions>"))
    }

    @Test("mvpd #7: 100 000 ids are all different and NCNames")
    func makesUniqueIDs() {
        var generator = SystemRandomNumberGenerator()
        var ids: Set<String> = []
        for _ in 0..<100_000 { ids.insert(RequestID(using: &generator).rawValue) }
        #expect(ids.count == 100_000)
        #expect(ids.allSatisfy { NCName.matches($0) && $0.hasPrefix("_") && $0.utf8.count >= 33 })
    }

    @Test("a RelayState is a handle of at most 80 octets, and is not printed")
    func makesRelayStates() {
        var generator = SystemRandomNumberGenerator()
        let handles = (0..<1000).map { _ in RelayState(using: &generator) }
        #expect(Set(handles).count == 1000)
        #expect(handles.allSatisfy { $0.rawValue.utf8.count <= 80 && $0.rawValue.utf8.count >= 32 })
        #expect("\(handles[0])" == "[hidden]")
    }

    @Test("values cannot break out of the markup")
    func escapesValues() throws {
        let hostile = "\"/><x a='&\n\u{1}"
        let xml = request {
            $0.scopingMode = .both
            $0.onBehalfOf = hostile
            $0.spNameQualifier = hostile
        }.document()
        let root = try ParsedDocument.parse(Array(xml.utf8)).root
        let policy = try #require(root.firstChild("NameIDPolicy", in: Namespaces.protocol))
        #expect(policy.attribute("SPNameQualifier") == "\"/><x a='&\n\u{FFFD}")
        #expect(Array(root.children).count == 3)
    }

    @Test("a key that is weak, of another kind or of another certificate is refused when it is read")
    func refusesUnusableKeys() throws {
        let weak = world.weakProvider
        let elliptic = world.ellipticProvider
        let own = world.serviceProvider
        #expect(throws: SamlConfigurationError.self) { try SamlSigningKey(pem: weak.privateKeyPEM, certificate: weak.certificateDER) }
        #expect(throws: SamlConfigurationError.self) { try SamlSigningKey(pem: elliptic.privateKeyPEM, certificate: elliptic.certificateDER) }
        #expect(throws: SamlConfigurationError.self) { try SamlSigningKey(pem: own.privateKeyPEM, certificate: weak.certificateDER) }
        #expect(throws: SamlConfigurationError.self) { try SamlSigningKey(pem: "x", certificate: own.certificateDER) }
        #expect(throws: SamlConfigurationError.self) { try DecryptionKey(pem: weak.privateKeyPEM) }
        #expect(throws: SamlConfigurationError.self) { try DecryptionKey(pem: "") }
        #expect(throws: SamlConfigurationError.self) { try PinnedCertificate(der: own.certificateDER + [0]) }
        #expect(throws: SamlConfigurationError.self) { try PinnedCertificate(der: []) }
        #expect(throws: SamlConfigurationError.self) { try PinnedCertificate(der: Array(own.certificateDER.dropLast())) }
    }

    @Test("a certificate tells when it ends")
    func readsCertificateEnd() throws {
        let end = try PinnedCertificate(der: world.serviceProvider.certificateDER).notAfter
        let left = end - SystemClock().now()
        #expect(left > .seconds(29 * 86_400) && left <= .seconds(30 * 86_400 + 60))
    }
}
