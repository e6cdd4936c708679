import CatalogueSamples
import Contracts
import Foundation
import Testing

/// Records of decision points (mvpd §1.2, §4).
@Suite("Decision points in a catalogue file")
struct DecisionPointRecordTests {
    private static let plain = #"{"protocol": "xacmlJson", "url": "https://pdp.tiny.example/"}"#

    private func endpoint(_ members: String) throws -> AuthorizationEndpoint {
        let world = try CatalogueFolder()
        try world.replace(Self.plain, with: "{\(members)}")
        return try #require(try world.file.read(now: CatalogueFolder.now).configuration.mvpds.first?.authorization)
    }

    private func problems(_ members: String) throws -> [String] {
        let world = try CatalogueFolder()
        try world.replace(Self.plain, with: "{\(members)}")
        return world.problems()
    }

    @Test("a record in full")
    func readsEverything() throws {
        let endpoint = try endpoint(
            #"""
            "protocol": "xacmlSoap", "url": "https://pdp.tiny.example/authz", "answerSignature": "both", "signingCertificates": [{"file": "idp.crt"}],
            "issuer": "urn:pdp", "requireInResponseTo": true, "clockSkew": 30, "maxResponseAge": 120, "clientCertificate": "tiny",
            "signatureAlgorithms": ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"], "proxiedMvpdHeader": "X-Provider", "maxCallsInFlight": 40,
            "names": {"resourceId": "urn:x:what", "maxVCHIP": "urn:x:limit"}, "denialReasons": [{"reason": "E-17", "code": "identity_not_recognized_by_mvpd"}],
            "ipDataType": "urn:oasis:names:tc:xacml:2.0:data-type:ipAddress", "resourceForm": "mediaRss", "subjectAsToken": true,
            "preflightStrategy": "multiChannel", "preflightFallback": true
            """#)
        #expect(endpoint.protocol == .xacmlSoap && endpoint.answerSignature == .both && endpoint.signingCertificates.count == 1)
        #expect(endpoint.issuer == "urn:pdp" && endpoint.requireInResponseTo && endpoint.clockSkewSeconds == 30)
        #expect(endpoint.maxResponseAgeSeconds == 120 && endpoint.clientCertificate == "tiny" && endpoint.signatureAlgorithms.count == 1)
        #expect(endpoint.proxiedMvpdHeader == "X-Provider" && endpoint.maxCallsInFlight == 40 && endpoint.preflightFallback)
        #expect(endpoint.names == DecisionNames(resourceID: "urn:x:what", maxVchip: "urn:x:limit"))
        #expect(endpoint.denialReasons == [DenialReason(reason: "E-17", code: "identity_not_recognized_by_mvpd")])
        #expect(endpoint.ipDataType.hasSuffix(":ipAddress") && endpoint.resourceForm == .mediaRss && endpoint.subjectAsToken)
    }

    @Test("REST asks about one resource at a time")
    func restForksAndJoins() throws {
        #expect(try endpoint(#""protocol": "restMrss", "url": "https://pdp.tiny.example/""#).preflightStrategy == .forkJoin)
        #expect(try endpoint(#""protocol": "xacmlXml", "url": "http://127.0.0.1:8090/""#).preflightStrategy == .multiChannel)
    }

    @Test(
        "each part of a record that is wrong",
        arguments: [
            (#""protocol": "xacmlSoap""#, "authorization.url", "missing"),
            (#""protocol": "xacmlXml", "url": "http://pdp.tiny.example/""#, "authorization.url", "this machine only"),
            (#""protocol": "xacmlXml", "url": "http://127.pdp.example/""#, "authorization.url", "this machine only"),
            (#""protocol": "xacmlXml", "url": "http://127.0.0.1/", "clientCertificate": "x""#, "authorization.clientCertificate", "without TLS"),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "answerSignature": "both""#, "authorization.answerSignature", "xacmlSoap"),
            (#""protocol": "xacmlXml", "url": "https://p.example/", "issuer": "urn:x""#, "authorization.issuer", "xacmlSoap"),
            (
                #""protocol": "xacmlSoap", "url": "https://p.example/", "scopingMode": "none""#, "authorization.scopingMode",
                "the SAML sign-in has one"
            ),
            (#""protocol": "xacmlSoap", "url": "https://p.example/", "signingCertificates": []"#, "authorization.signingCertificates", "1 to 4"),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "queryAuthentication": "bearer""#, "authorization.queryAuthentication", "OAuth"),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "omitSubject": true"#, "authorization.omitSubject", "bearer"),
            (
                #""protocol": "xacmlJson", "url": "https://p.example/", "omitIp": true, "ipAttributeId": "urn:x""#, "authorization.ipAttributeId",
                "omitIp"
            ),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "proxiedMvpdHeader": "X Y""#, "authorization.proxiedMvpdHeader", "HTTP header"),
            (
                #""protocol": "xacmlJson", "url": "https://p.example/", "proxiedMvpdHeader": "Host""#, "authorization.proxiedMvpdHeader",
                "does not use"
            ),
            (
                #""protocol": "restMrss", "url": "https://p.example/", "preflightStrategy": "multiChannel""#, "authorization.preflightStrategy",
                "one resource"
            ),
            (#""protocol": "restMrss", "url": "https://p.example/", "names": {}"#, "authorization.names", "fixed"),
            (
                #""protocol": "xacmlJson", "url": "https://p.example/", "preflightStrategy": "lineup", "preflightFallback": true"#,
                "authorization.preflightFallback", "multiChannel"
            ),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "names": {"title": "no uri"}"#, "authorization.names.title", "URI"),
            (
                #""protocol": "xacmlJson", "url": "https://p.example/", "names": {"message": "urn:x", "maxMPAA": "urn:x"}"#, "authorization.names",
                "different"
            ),
            (
                #""protocol": "xacmlJson", "url": "https://p.example/", "denialReasons": [{"reason": "x", "code": "nonsense"}]"#,
                "authorization.denialReasons[0].code", "must be one of"
            ),
            (#""protocol": "xacmlJson", "url": "https://p.example/", "maxCallsInFlight": 0"#, "authorization.maxCallsInFlight", "from 1"),
        ])
    func refuses(members: String, place: String, words: String) throws {
        let problems = try problems(members)
        #expect(problems.contains { $0.hasPrefix("mvpds[0].\(place)") && $0.contains(words) }, "\(problems)")
    }

    @Test("every reason is listed")
    func listsEveryReason() throws {
        let problems = try problems(
            #""protocol": "xacmlJson", "url": "ftp://x", "issuer": "urn:x", "maxCallsInFlight": 0, "denialReasons": [{"reason": "", "code": "x"}]"#)
        #expect(problems.count == 5, "\(problems)")
    }
}
