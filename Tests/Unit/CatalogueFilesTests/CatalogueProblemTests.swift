import CatalogueSamples
import Clocks
import Foundation
import Testing

@Suite("Problems of a catalogue file")
struct CatalogueProblemTests {
    @Test("a catalogue without problems is read")
    func readsGoodFile() throws {
        let world = try CatalogueFolder()
        let content = try world.file.read(now: CatalogueFolder.now)
        #expect(content.configuration.mvpds.map(\.id) == ["TinyCable"])
        #expect(content.warnings.isEmpty)
    }

    @Test("all problems are listed with their places, in the order of the file")
    func listsAll() throws {
        let world = try CatalogueFolder()
        try world.write(
            """
            {
              "programmers": [{"id": "harbor", "name": "Harbor"}, {"id": "harbor", "name": ""}],
              "requestors": [{"id": "NE WS", "name": "News", "programmer": "nobody", "domains": ["News.example"], "mediaTokenTtl": 9999}],
              "mvpds": [
                {
                  "id": "TinyCable", "displayName": "Tiny Cable",
                  "saml": {
                    "idpEntityId": "https://idp.tiny.example", "ssoUrl": "http://idp.tiny.example/sso", "requestBinding": "soap",
                    "signingCertificates": [{"file": "absent.crt"}], "signaturePolcy": "both"
                  },
                  "authorization": {"protocol": "xacmlJson"}
                }
              ],
              "integrations": [{"requestor": "SPORT", "mvpd": "TinyCable"}],
              "applications": []
            }
            """, to: "catalogue.json")
        let places = world.problems().map { String($0.prefix { $0 != "(" }) }
        #expect(
            places == [
                "programmers[1].id ", "programmers[1].name ", "requestors[0].id ", "requestors[0].programmer ", "requestors[0].domains[0] ",
                "requestors[0].mediaTokenTtl ", "mvpds[0].authzTtl ", "mvpds[0].saml.ssoUrl ", "mvpds[0].saml.requestBinding ",
                "mvpds[0].saml.signingCertificates[0].file ", "mvpds[0].saml.signaturePolcy ", "mvpds[0].authorization.url ",
                "integrations[0].requestor ",
            ])
        #expect(world.problems().contains { $0.hasPrefix("mvpds[0].saml.ssoUrl (line 8, column 62) must begin with https://") })
    }

    @Test("a syntax error has line and column")
    func syntaxError() throws {
        let world = try CatalogueFolder()
        try world.replace(#""requestBinding": "post","#, with: #""requestBinding": "post""#)
        #expect(world.problems() == ["line 9, column 9: ',' or '}' is expected"])
    }

    @Test("a file that is not there is one problem")
    func missingFile() throws {
        let world = try CatalogueFolder()
        try FileManager.default.removeItem(atPath: world.file.path)
        #expect(world.problems().count == 1)
    }

    @Test(
        "one wrong part is one problem at its place",
        arguments: [
            (
                #""requestor": "NEWS", "mvpd": "TinyCable"}"#, #""requestor": "NEWS", "mvpd": "Other"}"#, "integrations[0].mvpd",
                "not in the catalogue"
            ),
            (
                #"{"requestor": "NEWS", "mvpd": "TinyCable"}"#,
                #"{"requestor": "NEWS", "mvpd": "TinyCable"}, {"requestor": "NEWS", "mvpd": "TinyCable"}"#, "integrations[1]", "second integration"
            ),
            (#""mvpd": "TinyCable"}"#, #""mvpd": "TinyCable", "platformSso": true}"#, "integrations[0].platformSso", "on no platform"),
            (#""mvpd": "TinyCable"}"#, #""mvpd": "TinyCable", "metadataKeys": ["zip"]}"#, "integrations[0].metadataKeys[0]", "encrypted"),
            (#""mvpd": "TinyCable"}"#, #""mvpd": "TinyCable", "enabled": "yes"}"#, "integrations[0].enabled", "true or false"),
            (#""authzTtl": 3600"#, #""authzTtl": 3"#, "mvpds[0].authzTtl", "from 60"),
            (#""authzTtl": 3600,"#, "", "mvpds[0].authzTtl", "missing"),
            ("https://idp.tiny.example/sso", "${SANDBOX_MVPD}/sso", "mvpds[0].saml.ssoUrl", "placeholder"),
            ("https://idp.tiny.example/sso", "idp.tiny.example/sso", "mvpds[0].saml.ssoUrl", "absolute https URL"),
            ("https://idp.tiny.example/sso", "https://user:secret@idp.tiny.example/sso", "mvpds[0].saml.ssoUrl", "user or a password"),
            ("https://idp.tiny.example/sso", "http://10.0.0.1/sso", "mvpds[0].saml.ssoUrl", "this machine only"),
            (
                #"{"protocol": "xacmlJson", "url": "https://pdp.tiny.example/"}"#, #"{"protocol": "none", "url": "https://pdp.tiny.example/"}"#,
                "mvpds[0].authorization.url", "no meaning"
            ),
            (#"[{"file": "idp.crt"}]"#, "[]", "mvpds[0].saml.signingCertificates", "1 to 4"),
            (#"[{"file": "idp.crt"}]"#, #"[{"file": "idp.crt"}, {"file": "idp.crt"}]"#, "mvpds[0].saml.signingCertificates", "twice"),
            (#"[{"file": "idp.crt"}]"#, #"["no certificate"]"#, "mvpds[0].saml.signingCertificates[0]", "no PEM certificate"),
            (#""requestors": ["NEWS"]"#, #""requestors": ["SPORT"]"#, "applications[0].requestors[0]", "not in the catalogue"),
            (#""requestors": ["NEWS"]"#, #""requestors": []"#, "applications[0].requestors", "must not be empty"),
            (#""platforms": ["tvos"]"#, #""platforms": ["toaster"]"#, "applications[0].platforms[0]", "must be one of"),
            (#""scopes": ["api:client:v1"]"#, #""scopes": ["root"]"#, "applications[0].scopes[0]", "no known scope"),
            (#""id": "TinyCable","#, #""id": "TinyCable", "proxy": {"mvpd": "Absent"},"#, "mvpds[0].proxy.mvpd", "not in the catalogue"),
            (#""id": "TinyCable","#, #""id": "TinyCable", "proxy": {"mvpd": "TinyCable"},"#, "mvpds[0].proxy.mvpd", "another MVPD"),
            (#""id": "TinyCable","#, #""id": "TinyCable", "tempPass": {"kind": "basic", "ttl": 600},"#, "mvpds[0]", "exactly one of"),
            (#""id": "TinyCable","#, #""id": "TinyCable", "iframeWidth": 300,"#, "mvpds[0]", "both or none"),
            (#""requestBinding": "post","#, #""requestBinding": "post", "legacySha1Until": "soon","#, "mvpds[0].saml.legacySha1Until", "date"),
            (
                #""requestBinding": "post","#, #""requestBinding": "post", "signatureAlgorithms": ["http://www.w3.org/2000/09/xmldsig#rsa-sha1"],"#,
                "mvpds[0].saml.signatureAlgorithms[0]", "no signature algorithm"
            ),
            (
                #""requestBinding": "post","#, #""requestBinding": "post", "attributeMap": [{"target": "user id"}],"#,
                "mvpds[0].saml.attributeMap[0].target", "metadata key"
            ),
            (#""domains": ["news.example"]"#, #""domains": ["news.example"], "customSchemes": ["http"]"#, "requestors[0].customSchemes[0]", "adbe."),
            (#""programmers""#, #""programmer""#, "programmer", "not known here"),
        ])
    func onePart(part: String, other: String, place: String, words: String) throws {
        let world = try CatalogueFolder()
        try world.replace(part, with: other)
        let found = world.problems().filter { $0.hasPrefix(place + " ") }
        #expect(found.count == 1)
        #expect(found.first?.contains(words) == true)
    }

    @Test("the same Apple mapping id at two MVPDs of one platform is a problem")
    func duplicateMappingID() throws {
        let world = try CatalogueFolder()
        let platform = #""platforms": [{"platform": "ios", "boardingStatus": "PICKER", "platformMappingId": "tiny"}],"#
        let other = #"{"id": "Twin", "displayName": "Twin", \#(platform) "tempPass": {"kind": "basic", "ttl": 600}},"#
        try world.replace(#"{\#n      "id": "TinyCable","#, with: #"\#(other) {"id": "TinyCable", \#(platform)"#)
        #expect(world.problems().map { String($0.prefix { $0 != " " }) } == ["mvpds[1].platforms[0].platformMappingId"])
    }

    @Test("mvpd §1.2: an expired pinned certificate is an alarm, not a rejection")
    func expiredCertificateWarns() throws {
        let world = try CatalogueFolder()
        try world.write(
            try CatalogueFolder.certificate(validFrom: CatalogueFolder.now - Duration.seconds(1000), to: CatalogueFolder.now - Duration.seconds(1)),
            to: "idp.crt")
        let content = try world.file.read(now: CatalogueFolder.now)
        #expect(content.warnings.count == 1)
        #expect(content.warnings.first?.description.hasPrefix("mvpds[0].saml.signingCertificates[0]") == true)
        #expect(content.warnings.first?.description.contains("expired") == true)
    }

    @Test("a certificate with an RSA key below 2048 bits is a problem")
    func weakCertificate() throws {
        let world = try CatalogueFolder()
        let maker = Process()
        maker.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        maker.arguments = [
            "req", "-x509", "-newkey", "rsa:1024", "-nodes", "-subj", "/CN=weak", "-keyout", world.path + "/weak.key", "-out",
            world.path + "/idp.crt",
        ]
        maker.standardError = FileHandle.nullDevice
        try maker.run()
        maker.waitUntilExit()
        try #require(maker.terminationStatus == 0)
        let problems = world.problems()
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("mvpds[0].saml.signingCertificates[0] ") == true)
        #expect(problems.first?.contains("2048") == true)
    }
}
