import CatalogueFiles
import CatalogueSamples
import Contracts
import Foundation
import Testing

/// mvpd §3: the rules for the record of an OAuth provider.
struct OAuthRecordTests {
    private static let saml = """
        "saml": {
                "idpEntityId": "https://idp.tiny.example", "ssoUrl": "https://idp.tiny.example/sso", "requestBinding": "post",
                "signingCertificates": [{"file": "idp.crt"}]
              }
        """
    private static let good = """
        "issuer": "https://tiny.example", "authorizeUrl": "https://tiny.example/a", "tokenUrl": "https://tiny.example/t", \
        "jwksUrl": "https://tiny.example/k"
        """
    private static let client = #""clientId": "us", "clientSecretReference": "tiny""#

    private func problems(_ members: String, integration: String = "") throws -> [String] {
        let world = try CatalogueFolder()
        let text = CatalogueFolder.small.replacingOccurrences(of: Self.saml, with: "\"oauth\": {\(members)}")
            .replacingOccurrences(of: #""mvpd": "TinyCable"}"#, with: #""mvpd": "TinyCable"\#(integration)}"#)
        try world.write(text, to: "catalogue.json")
        return world.problems().map { $0.replacing(#/ \(line [0-9]+, column [0-9]+\)/#, with: "") }
    }

    @Test("a whole record is read with all its fields")
    func reads() throws {
        let world = try CatalogueFolder()
        let members = """
            \(Self.good), \(Self.client), "profileUrl": "http://127.0.0.1:9/p", "clientAuthentication": "post", "scopes": ["openid"], \
            "attemptHba": true, "forceAuthnParameter": "prompt", "forceAuthnValue": "none", "accessTokenTtl": 60, "refreshTokenTtl": 3600, \
            "userIdClaim": "account", "attributeMap": [{"source": "zip", "target": "zip", "type": "stringList"}], \
            "trustAnchors": [{"file": "idp.crt"}], "clockSkew": 30, "jwksRefresh": 600, "connectTimeoutMs": 500, "allowMissingCookie": true, \
            "requiresIss": true, "logoutUrl": "https://tiny.example/logout", "logoutReturn": "own"
            """
        try world.write(CatalogueFolder.small.replacingOccurrences(of: Self.saml, with: "\"oauth\": {\(members)}"), to: "catalogue.json")
        let configuration = try world.file.read(now: CatalogueFolder.now).configuration
        guard case .oauth(let oauth) = configuration.mvpds[0].signIn else {
            Issue.record("no OAuth endpoint")
            return
        }
        #expect(oauth.clientAuthentication == .post && oauth.attemptHba && oauth.forceAuthnParameter == "prompt" && oauth.forceAuthnValue == "none")
        #expect(oauth.accessTokenTtlSeconds == 60 && oauth.refreshTokenTtlSeconds == 3600 && oauth.userIDClaim == "account")
        #expect(oauth.attributeMap.map(\.target) == ["zip"] && oauth.trustAnchors.count == 1 && oauth.clockSkewSeconds == 30)
        #expect(oauth.jwksRefreshSeconds == 600 && oauth.connectTimeoutMilliseconds == 500 && oauth.allowMissingCookie)
        #expect(oauth.requiresIssuer && oauth.callback == .own && oauth.returnsFromLogout)
    }

    @Test("where a logout sends browsers: to the app, unless the record says otherwise")
    func logoutReturn() throws {
        let world = try CatalogueFolder()
        for (member, isOwn) in [("", false), (#", "logoutReturn": "app""#, false), (#", "logoutReturn": "own""#, true)] {
            let oauth = "\"oauth\": {\(Self.good), \(Self.client), \"logoutUrl\": \"https://tiny.example/logout\"\(member)}"
            try world.write(CatalogueFolder.small.replacingOccurrences(of: Self.saml, with: oauth), to: "catalogue.json")
            guard case .oauth(let endpoint) = try world.file.read(now: CatalogueFolder.now).configuration.mvpds[0].signIn else {
                Issue.record("no OAuth endpoint")
                return
            }
            #expect(endpoint.returnsFromLogout == isOwn)
        }
        #expect(
            try problems(#""logoutReturn": "own", \#(Self.good), \#(Self.client)"#) == [
                "mvpds[0].oauth.logoutReturn must be 'own' only with a logoutUrl"
            ])
        #expect(try problems(#""logoutReturn": "there", \#(Self.good), \#(Self.client)"#).first?.hasPrefix("mvpds[0].oauth.logoutReturn") == true)
    }

    @Test("a record that shares its callback, as those of before did, is told of")
    func sharedCallback() throws {
        let world = try CatalogueFolder()
        for (members, warnings) in [(#""callback": "shared", "#, 1), (#""callback": "own", "#, 0), ("", 0)] {
            let oauth = "\"oauth\": {\(members)\(Self.good), \(Self.client)}"
            try world.write(CatalogueFolder.small.replacingOccurrences(of: Self.saml, with: oauth), to: "catalogue.json")
            let content = try world.file.read(now: CatalogueFolder.now)
            #expect(content.warnings.filter { $0.path == "mvpds[0].oauth.callback" }.count == warnings)
            #expect(
                content.configuration.mvpds[0].signIn.map {
                    if case .oauth(let oauth) = $0 { oauth.callback == (warnings == 1 ? .shared : .own) } else { false }
                } == true)
        }
        #expect(try problems("\"callback\": \"other\", \(Self.good), \(Self.client)").first?.hasPrefix("mvpds[0].oauth.callback") == true)
    }

    @Test("a wrong record is refused with every reason")
    func refuses() throws {
        let found = try problems(
            """
            "issuer": "tiny", "authorizeUrl": "http://tiny.example/a", "clientId": "us", "scopes": ["a b"], "attemptHba": true, \
            "forceAuthnValue": "none", "refreshTokenTtl": 0, "totalTimeoutMs": 5
            """)
        for place in [
            "mvpds[0].oauth.issuer must be an absolute https URL", "mvpds[0].oauth.authorizeUrl must begin with https://", "mvpds[0].oauth.tokenUrl",
            "mvpds[0].oauth must have profileUrl or jwksUrl", "mvpds[0].oauth must have both or none of clientId and clientSecretReference",
            "mvpds[0].oauth.scopes[0] must be a scope", "mvpds[0].oauth.forceAuthnParameter", "mvpds[0].oauth.refreshTokenTtl",
            "mvpds[0].oauth.totalTimeoutMs",
        ] {
            #expect(found.contains { $0.hasPrefix(place) }, "\(place) in \(found)")
        }
    }

    @Test("what every request has already is not left to a record", arguments: ["state", "nonce", "redirect_uri", "code_challenge"])
    func keepsItsParameters(_ name: String) throws {
        let found = try problems(
            #"\#(Self.good), \#(Self.client), "attemptHba": true, "forceAuthnParameter": "\#(name)", "forceAuthnValue": "x""#)
        #expect(found.count == 1 && found[0].hasPrefix("mvpds[0].oauth.forceAuthnParameter"), "\(found)")
    }

    @Test("each requestor needs a client: the MVPD's, or its own")
    func needsAClient() throws {
        #expect(try problems("\(Self.good), \(Self.client)") == [])
        #expect(try problems(Self.good).first?.hasPrefix("integrations[0] must have an oauthClient") == true)
        #expect(try problems(Self.good, integration: #", "oauthClient": {\#(Self.client)}"#) == [])
        let reference = #", "oauthClient": {"clientId": "us", "clientSecretReference": "../etc/passwd"}"#
        #expect(try problems(Self.good, integration: reference).first?.contains("must be the name of a secret file") == true)
        let world = try CatalogueFolder()
        try world.replace(#""mvpd": "TinyCable"}"#, with: #""mvpd": "TinyCable", "oauthClient": {\#(Self.client)}}"#)
        #expect(world.problems().first?.contains("has a meaning only for an MVPD that signs people in by OAuth") == true)
    }

    @Test("where the secrets lie on this machine, one without a file is told: it may have been written instead")
    func looksForSecrets() throws {
        let world = try CatalogueFolder()
        try world.write(
            CatalogueFolder.small.replacingOccurrences(of: Self.saml, with: "\"oauth\": {\(Self.good), \(Self.client)}"), to: "catalogue.json")
        let file = CatalogueFile(path: world.path + "/catalogue.json", clientSecrets: world.path)
        #expect(try file.read(now: CatalogueFolder.now).warnings.contains { $0.description.contains("names the secret 'tiny'") })
        try world.write("s3cret", to: "tiny.secret")
        #expect(try !file.read(now: CatalogueFolder.now).warnings.contains { $0.description.contains("names the secret") })
    }
}
