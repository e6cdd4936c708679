import CatalogueSamples
import Clocks
import Contracts
import Foundation
import Testing

/// The rules of dashboard §2 and §3, on the small catalogue with one part replaced.
@Suite("Rules of the catalogue")
struct CatalogueRuleTests {
    private static let requestor = #""domains": ["news.example"]"#
    private static let pair = #"{"requestor": "NEWS", "mvpd": "TinyCable"}"#
    private static let mvpd = #""id": "TinyCable", "displayName": "Tiny Cable","#
    private static let application = #""scopes": ["api:client:v1"]}"#
    private static let longPage = "https://news.example/" + String(repeating: "x", count: 2048 - 21)
    private static let longName = String(repeating: "x", count: 81)

    @Test(
        "one broken rule is one problem at its place",
        arguments: [
            (#""name": "Harbor""#, #""name": "\#(longName)""#, "programmers[0].name", "at most 80"),
            (#""name": "Harbor""#, #""name": "Har\u0007bor""#, "programmers[0].name", "control characters"),
            (requestor, #""domains": ["http://news.example/"]"#, "requestors[0].domains[0]", "domain name"),
            (requestor, #""domains": ["*.news.example"]"#, "requestors[0].domains[0]", "domain name"),
            (requestor, #""domains": ["news.example:443"]"#, "requestors[0].domains[0]", "domain name"),
            (requestor, #""domains": ["10.0.0.1"]"#, "requestors[0].domains[0]", "domain name"),
            (requestor, #""domains": ["co.uk"]"#, "requestors[0].domains[0]", "everybody"),
            (requestor, #""domains": ["news.example", "news.example"]"#, "requestors[0].domains[1]", "twice"),
            (requestor, requestor + #", "customSchemes": ["adbe.short"]"#, "requestors[0].customSchemes[0]", "22 characters"),
            (requestor, requestor + #", "accentColor": "red""#, "requestors[0].accentColor", "six hex digits"),
            (requestor, requestor + ##", "headerColor": "#12345;""##, "requestors[0].headerColor", "six hex digits"),
            (requestor, requestor + #", "logoUrl": "javascript:alert(1)""#, "requestors[0].logoUrl", "absolute https URL"),
            (requestor, requestor + #", "privacyUrl": "http://localhost/privacy""#, "requestors[0].privacyUrl", "begins with https://"),
            (requestor, requestor + #", "termsUrl": "javascript:alert(1)""#, "requestors[0].termsUrl", "begins with https://"),
            (requestor, requestor + #", "termsUrl": "https:///terms""#, "requestors[0].termsUrl", "begins with https://"),
            (requestor, requestor + #", "supportUrl": "https://me@news.example/help""#, "requestors[0].supportUrl", "a user or a password"),
            (requestor, requestor + #", "supportUrl": "https://news.example/hilfe für alle""#, "requestors[0].supportUrl", "percent-encoded"),
            (requestor, requestor + #", "supportUrl": "\#(longPage)y""#, "requestors[0].supportUrl", "at most 2048 octets; it has 2049"),
            (requestor, requestor + #", "favouriteMvpds": ["A B"]"#, "requestors[0].favouriteMvpds[0]", "id of an MVPD"),
            (requestor, requestor + #", "favouriteMvpds": ["A", "A"]"#, "requestors[0].favouriteMvpds[1]", "is there twice"),
            (
                requestor, requestor + #", "favouriteMvpds": [\#((0...24).map { "\"M\($0)\"" }.joined(separator: ","))]"#,
                "requestors[0].favouriteMvpds", "at most 24"
            ),
            (
                #""name": "Harbor""#, #""name": "Harbor", "customSchemes": ["adbe.0123456789abcdefghij!k"]"#,
                "programmers[0].customSchemes[0]", "base64url"
            ),
            (#""authzTtl": 3600"#, #""authzTtl": 31536001"#, "mvpds[0].authzTtl", "31536000"),
            (#""authzTtl": 3600"#, #""authzTtl": 3600, "iframeWidth": 2001, "iframeHeight": 100"#, "mvpds[0].iframeWidth", "from 100 to 2000"),
            (pair, #"{"requestor": "NEWS", "mvpd": "TinyCable", "preflightMaxResources": 0}"#, "integrations[0].preflightMaxResources", "from 1"),
            (pair, overriding(#"{"scope": "toaster"}"#), "integrations[0].platformOverrides[0].scope", "must be one of"),
            (pair, overriding(#"{"authnTtl": 60}"#), "integrations[0].platformOverrides[0].scope", "missing"),
            (
                pair, overriding(#"{"scope": "tv", "authnTtl": 60}, {"scope": "tv", "authzTtl": 60}"#),
                "integrations[0].platformOverrides[1]", "a second one for 'tv'"
            ),
            (pair, overriding(#"{"scope": "roku", "authnTtl": 59}"#), "integrations[0].platformOverrides[0].authnTtl", "from 60"),
            (pair, overriding(#"{"scope": "tv", "iframeWidth": 300}"#), "integrations[0].platformOverrides[0]", "both or none"),
            (
                pair, overriding(#"{"scope": "tvos", "platformSso": "on"}"#), "integrations[0].platformOverrides[0].platformSso",
                "does not support it there"
            ),
            (
                mvpd, mvpd + #" "platformOverrides": [{"scope": "tv", "platformSso": "off"}],"#, "mvpds[0].platformOverrides[0].platformSso",
                "not known"
            ),
            (
                mvpd, mvpd + #" "platforms": [{"platform": "ios", "boardingStatus": "SUPPORTED", "platformMappingId": "tiny"}],"#,
                "mvpds[0].platforms[0]", "requiredMetadataFields"
            ),
            (
                mvpd, mvpd + #" "platforms": [{"platform": "ios", "boardingStatus": "SUPPORTED", "requiredMetadataFields": ["userID"]}],"#,
                "mvpds[0].platforms[0].platformMappingId", "missing"
            ),
            (
                pair, #"{"requestor": "NEWS", "mvpd": "TinyCable", "metadataKeys": [{"key": "zip", "encrypted": true}]}"#,
                "integrations[0].metadataKeys[0]", "has a certificate"
            ),
            (
                application, #""scopes": ["api:client:v1"], "redirectDomains": ["other.example"]}"#, "applications[0].redirectDomains[0]",
                "no domain of"
            ),
            (
                application, #""scopes": ["api:client:v1"], "redirectHosts": ["https://console.example"]}"#, "applications[0].redirectHosts[0]",
                "must be a domain name"
            ),
            (
                #""requestBinding": "post","#, #""requestBinding": "post", "profileExchange": {"inResponseToMode": "device", "maxAge": 301},"#,
                "mvpds[0].saml.profileExchange.maxAge", "from 1 to 300"
            ),
            (
                #""requestBinding": "post","#, #""requestBinding": "post", "profileExchange": {"requestKind": "query"},"#,
                "mvpds[0].saml.profileExchange.requestKind", "'attributeQuery'"
            ),
        ])
    func oneRule(part: String, other: String, place: String, words: String) throws {
        let world = try CatalogueFolder()
        try world.replace(part, with: other)
        let found = world.problems().filter { $0.hasPrefix(place + " ") }
        #expect(found.count == 1)
        #expect(found.first?.contains(words) == true)
    }

    @Test("dashboard #6: a domain below another one of the list is pointed out, and used")
    func subdomain() throws {
        let world = try CatalogueFolder()
        try world.replace(Self.requestor, with: #""domains": ["live.news.example", "news.example"]"#)
        let content = try world.file.read(now: CatalogueFolder.now)
        #expect(content.configuration.requestors[0].domains.map(\.name) == ["live.news.example", "news.example"])
        #expect(content.warnings.map(\.path) == ["requestors[0].domains[0]"])
    }

    @Test("a page on this machine is at home in a domain for development, and in no other", arguments: ["127.0.0.1", "localhost"])
    func loopbackDomain(name: String) throws {
        let world = try CatalogueFolder()
        try world.replace(Self.requestor, with: #""domains": ["news.example", {"name": "\#(name)", "development": true}]"#)
        #expect(try world.file.read(now: CatalogueFolder.now).configuration.requestors[0].domains.map(\.name) == ["news.example", name])
        let other = try CatalogueFolder()
        try other.replace(Self.requestor, with: #""domains": ["news.example", {"name": "\#(name)"}]"#)
        #expect(other.problems().contains { $0.hasPrefix("requestors[0].domains[1].name ") })
    }

    @Test("a session of a home that outlives an ordinary one is pointed out")
    func longHomeSession() throws {
        let world = try CatalogueFolder()
        try world.replace(#""authzTtl": 3600"#, with: #""authzTtl": 3600, "authnTtl": 600, "hbaAuthnTtl": 601"#)
        #expect(try world.file.read(now: CatalogueFolder.now).warnings.map(\.path) == ["mvpds[0].hbaAuthnTtl"])
    }

    @Test("dashboard #12: two applications of a programmer with one name and version are a problem, two versions are not")
    func sameApplicationTwice() throws {
        let world = try CatalogueFolder()
        func another(_ version: String) -> String {
            #"\#(Self.application), {"id": "second", "name": "News TV"\#(version), "programmer": "harbor", "requestors": ["NEWS"], "#
                + #""platforms": "all", "scopes": ["api:client:v1"]}"#
        }
        try world.replace(Self.application, with: another(""))
        #expect(world.problems().count == 1)
        #expect(world.problems().first?.hasPrefix("applications[1] ") == true)
        try world.replace(Self.application, with: another(#", "version": "2""#))
        #expect(world.problems().isEmpty)
    }

    @Test("dashboard #19: single sign-on is refused on platforms that have none")
    func ssoOnDesktop() throws {
        for scope in ["desktop", "android", "unidentified"] {
            let world = try CatalogueFolder()
            try world.replace(Self.pair, with: Self.overriding(#"{"scope": "\#(scope)", "platformSso": "on"}"#))
            #expect(world.problems().count == 1)
            #expect(world.problems().first?.contains("'\(scope)' has none") == true)
        }
    }

    @Test("values by platform, a requestor's issuer and the way of an exchange are read")
    func readsAll() throws {
        let world = try CatalogueFolder()
        let platform = #""platforms": [{"platform": "tvos", "enablePlatformServices": true, "boardingStatus": "PICKER", "platformMappingId": "t"}],"#
        let values =
            #"{"scope": "tv", "authnTtl": 60, "platformSso": "on", "passiveAuthn": "off", "displayName": "Tiny", "preflightMaxResources": 9}"#
        let text = CatalogueFolder.small
            .replacingOccurrences(of: Self.mvpd, with: Self.mvpd + platform + #" "platformOverrides": [{"scope": "all", "hbaAuthnTtl": 61}],"#)
            .replacingOccurrences(of: Self.pair, with: Self.overriding(values, #", "preflightMaxResources": 7"#))
            .replacingOccurrences(
                of: #""requestBinding": "post","#,
                with: #""requestBinding": "post", "profileExchange": {"requestKind": "attributeQuery", "inResponseToMode": "device"},"#
            )
            .replacingOccurrences(
                of: Self.requestor,
                with: Self.requestor
                    + ##", "customSchemes": ["adbe.0123456789abcdefg-hi_j"], "favouriteMvpds": ["TinyCable"], "accentColor": "#0B5fad""##
                    + #", "privacyUrl": "https://news.example/privacy#tv", "termsUrl": "https://news.example/t?a=1", "supportUrl": "\#(Self.longPage)""#
            )
        try world.write(text, to: "catalogue.json")
        let read = try world.file.read(now: CatalogueFolder.now).configuration
        #expect(read.mvpds[0].platformOverrides == [PlatformOverride(scope: .all, hbaAuthnTtlSeconds: 61)])
        #expect(read.integrations[0].preflightMaxResources == 7)
        #expect(
            read.integrations[0].platformOverrides == [
                PlatformOverride(
                    scope: .tv, authnTtlSeconds: 60, platformSso: .on, passiveAuthn: .off, preflightMaxResources: 9, displayName: "Tiny")
            ])
        #expect(read.requestors[0].customSchemes == ["adbe.0123456789abcdefg-hi_j"])
        #expect(read.requestors[0].favouriteMvpds == ["TinyCable"] && read.requestors[0].accentColor == "#0B5fad")
        #expect(read.requestors[0].privacyURL == "https://news.example/privacy#tv" && read.requestors[0].termsURL == "https://news.example/t?a=1")
        #expect(read.requestors[0].supportURL == Self.longPage)
        guard case .saml(let saml) = read.mvpds[0].signIn else { throw NotSaml() }
        #expect(saml.platformExchange == PlatformExchange(inResponseToMode: .device, requestKind: .attributeQuery))
    }

    private static func overriding(_ values: String, _ more: String = "") -> String {
        #"{"requestor": "NEWS", "mvpd": "TinyCable", "platformOverrides": [\#(values)]\#(more)}"#
    }

    private struct NotSaml: Error {}
}
