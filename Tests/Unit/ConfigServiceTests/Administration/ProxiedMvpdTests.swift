import Clocks
import ConfigService
import ContractRuntime
import Contracts
import Faults
import Foundation
import Testing

@Suite("MVPDs that a proxy lists", .eachEngine)
struct ProxiedMvpdTests {
    typealias Who = AdministrationWorld.Who

    private static let proxy = """
        {
          "id": "BigProxy", "displayName": "Big Proxy", "authzTtl": 3600, "authnTtl": 86400,
          "saml": {
            "idpEntityId": "https://idp.big.example", "ssoUrl": "https://idp.big.example/sso", "requestBinding": "post",
            "signingCertificates": [{"file": "idp.crt"}]
          },
          "platformOverrides": [{"scope": "roku", "authnTtl": 3600, "displayName": "Big on Roku"}],
          "authorization": {"protocol": "xacmlJson", "url": "https://pdp.big.example/", "proxiedMvpdHeader": "X-Provider"}
        },
        """

    /// With a proxy that both channels are integrated with.
    private static let catalogue = AdministrationWorld.catalogue
        .replacingOccurrences(of: #""mvpds": ["#, with: #""mvpds": [\#(proxy)"#)
        .replacingOccurrences(
            of: #""integrations": ["#,
            with: #"""
                "integrations": [
                    {"requestor": "NEWS", "mvpd": "BigProxy", "authnTtl": 7200, "metadataKeys": ["userID"]}, {"requestor": "SPORT", "mvpd": "BigProxy"},
                """#)

    private func world() async throws -> AdministrationWorld { try await AdministrationWorld(catalogue: Self.catalogue) }

    private static func list(_ records: String) -> String {
        #"<?xml version="1.0" encoding="UTF-8"?><proxiedMvpds xmlns="http://tve.adobe.com/data/proxiedmvpd">\#(records)</proxiedMvpds>"#
    }

    private static func record(_ id: String, _ more: String = "", provider: String = "") -> String {
        "<proxiedMvpd><id\(provider)>\(id)</id><displayName>\(id) TV</displayName><logoURL></logoURL>\(more)</proxiedMvpd>"
    }

    private static let town = record("TownCable", provider: #" ProviderID="town-01""#)
    private static let hill = record("HillTel", "<requestorIds><requestorId>NEWS</requestorId></requestorIds>")

    private func replace(
        _ admin: AdministrationWorld, _ document: String, behind proxy: String = "BigProxy", as who: Who = .watcher
    ) async throws -> ProxiedMvpdsOutcome.Outcome {
        let request = ReplaceProxiedMvpdsRequest(token: who.token, proxyMvpdID: proxy, document: document)
        return try #require(try await admin.service.replaceProxiedMvpds(request, context: CallContext()).outcome)
    }

    private func listed(_ admin: AdministrationWorld, as who: Who = .watcher) async throws -> [ProxiedMvpd] {
        let request = ListProxiedMvpdsRequest(token: who.token, proxyMvpdID: "BigProxy")
        return try await admin.service.listProxiedMvpds(request, context: CallContext()).mvpds
    }

    private func pairs(_ admin: AdministrationWorld, with mvpd: String) -> [String] {
        admin.published.configuration.integrations.filter { $0.mvpdID == mvpd }.map(\.requestorID)
    }

    @Test("dashboard §5: a proxied MVPD is integrated with any channel, whoever else its proxy names, and whatever the channel names")
    func integratesProxied() async throws {
        let test = #""testSignIn": {"requestor": "NEWS", "user": "ada", "passwordReference": "test-viewer"}"#
        let admin = try await AdministrationWorld(
            catalogue: Self.catalogue.replacingOccurrences(of: #""id": "BigProxy","#, with: #""id": "BigProxy", \#(test),"#))
        let upstream =
            #"{"id": "vendor", "baseUrl": "https://api.upstream.example", "clients": [{"id": "tv", "statementReference": "v", "requestors": ["NEWS", "SPORT"], "platforms": "all"}]}"#
        try await admin.create(.upstream, upstream).changed()
        for id in ["NEWS", "SPORT"] {
            let small = #""authzTtl": 3600, "authorization": {"protocol": "xacmlJson", "url": "https://pdp.big.example/"}"#
            try await admin.create(
                .mvpd, #"{"id": "By\#(id)", "displayName": "x", "proxy": {"mvpd": "BigProxy", "providerId": "\#(id)"}, \#(small)}"#
            ).changed()
            try await admin.create(.integration, #"{"requestor": "\#(id)", "mvpd": "By\#(id)"}"#).changed()
        }
        // A channel with an upstream, too.
        try await admin.edit(.requestor, "NEWS") { $0["upstream"] = ["upstream": "vendor", "returnOrigin": "https://news.example"] }.changed()
        try await admin.create(.integration, #"{"requestor": "NEWS", "mvpd": "BySPORT"}"#).changed()
        try await admin.push().version()
        #expect(pairs(admin, with: "BySPORT") == ["SPORT", "NEWS"])
    }

    @Test("dashboard §4: a list is with services when the call returns; what it does not say is the proxy's")
    func takesList() async throws {
        let admin = try await world()
        let before = admin.published.configuration.version
        guard case .version(let version) = try await replace(admin, Self.list(Self.town + Self.hill)) else { Issue.record("refused"); return }
        let configuration = admin.published.configuration
        #expect(configuration.version == version.version && version.version > before && version.author == "watcher")
        let town = try #require(configuration.mvpds.first { $0.id == "TownCable" })
        #expect(town.isProxied && town.proxyMvpdID == "BigProxy" && town.providerID == "town-01" && town.displayName == "TownCable TV")
        #expect(town.signIn == nil && town.authnTtlSeconds == 86_400 && town.authzTtlSeconds == 3600 && town.logoURL == "")
        #expect(town.authorization?.url == "https://pdp.big.example/" && town.authorization?.proxiedMvpdHeader == "X-Provider")
        #expect(town.platformOverrides.map(\.authnTtlSeconds) == [3600] && town.platformOverrides.map(\.displayName) == [""])
        #expect(pairs(admin, with: "TownCable") == ["NEWS", "SPORT"])
        #expect(pairs(admin, with: "HillTel") == ["NEWS"])
        let integration = try #require(configuration.integrations.first { $0.mvpdID == "HillTel" })
        #expect(integration.enabled && integration.authnTtlSeconds == 7200 && integration.metadataKeys.map(\.key) == ["userID"])
        let expected = [
            ProxiedMvpd(id: "TownCable", displayName: "TownCable TV", providerID: "town-01"),
            ProxiedMvpd(id: "HillTel", displayName: "HillTel TV", requestorIDs: ["NEWS"]),
        ]
        #expect(try await listed(admin) == expected)
        #expect(try await listed(admin, as: .olga) == expected)
        #expect(try await admin.audit().first?.text == "MVPDs behind BigProxy: 2 listed, 2 added, 0 removed")
        #expect(try await admin.verdict().isIntact)
    }

    @Test("dashboard #31: an empty list removes all, and is an alarm; an unknown requestor changes nothing")
    func empties() async throws {
        let admin = try await world()
        _ = try await replace(admin, Self.list(Self.town + Self.hill))
        let before = admin.published.configuration.version
        let foreign = Self.record("NewTel", "<requestorIds><requestorId>NOBODY</requestorId></requestorIds>")
        guard case .refusal(let refusal) = try await replace(admin, Self.list(foreign)) else { Issue.record("taken"); return }
        #expect(refusal.reason == .invalid && refusal.problems.first?.message.contains("'NOBODY', which is not in the catalogue") == true)
        #expect(admin.published.configuration.version == before)
        #expect(try await listed(admin).count == 2)
        guard case .version = try await replace(admin, Self.list("")) else { Issue.record("refused"); return }
        #expect(try await listed(admin).isEmpty)
        #expect(admin.published.configuration.integrations.allSatisfy { !["TownCable", "HillTel"].contains($0.mvpdID) })
        let records = try await admin.audit().prefix(2)
        #expect(records.map(\.action) == ["proxied_mvpds_dropped", "proxied_mvpds_replaced"])
        #expect(records.first?.text == "More than half of the MVPDs behind BigProxy are gone: 2 of 2")
    }

    @Test("half of a list may go without an alarm; the same list again is no version")
    func halves() async throws {
        let admin = try await world()
        _ = try await replace(admin, Self.list(Self.town + Self.hill))
        guard case .version(let first) = try await replace(admin, Self.list(Self.town)) else { Issue.record("refused"); return }
        guard case .version(let second) = try await replace(admin, Self.list(Self.town)) else { Issue.record("refused"); return }
        #expect(first.version == second.version)
        #expect(try await admin.audit().allSatisfy { $0.action != "proxied_mvpds_dropped" })
    }

    @Test("what the catalogue says of a channel and a listed MVPD holds, and goes with the MVPD")
    func integratesByHand() async throws {
        let admin = try await world()
        _ = try await replace(admin, Self.list(Self.town + Self.hill))
        try await admin.create(.integration, #"{"requestor": "NEWS", "mvpd": "TownCable", "enabled": false}"#).changed()
        try await admin.push().version()
        let pair = admin.published.configuration.integrations.filter { $0.mvpdID == "TownCable" && $0.requestorID == "NEWS" }
        #expect(pair.map(\.enabled) == [false])
        _ = try await replace(admin, Self.list(Self.hill))
        #expect(pairs(admin, with: "TownCable").isEmpty)
        #expect(try await admin.list(.integration, "TownCable").total == 0)
    }

    @Test("a channel that the proxy is integrated with later has its MVPDs too")
    func follows() async throws {
        let admin = try await world()
        _ = try await replace(admin, Self.list(Self.town))
        try await admin.delete(.integration, "SPORT/BigProxy").changed()
        try await admin.push().version()
        #expect(pairs(admin, with: "TownCable") == ["NEWS"])
        try await admin.create(.integration, #"{"requestor": "SPORT", "mvpd": "BigProxy"}"#).changed()
        try await admin.push().version()
        #expect(pairs(admin, with: "TownCable") == ["NEWS", "SPORT"])
    }

    @Test(
        "what is wrong with a list is said, and nothing changes",
        arguments: [
            ("no xml", "cannot be read"), ("<!DOCTYPE x [<!ENTITY a \"b\">]><proxiedMvpds>&a;</proxiedMvpds>", "document type"),
            ("<other/>", "another root"), ("<proxiedMvpds><mvpd/></proxiedMvpds>", "'mvpd' that the list does not know"),
            (list(record("A") + record("A")), "there twice"), (list(record("TinyCable")), "which another MVPD has"),
            (list(record("BigProxy")), "which another MVPD has"), (list(record("a b")), "letters, digits"),
            (list("<proxiedMvpd><id>A</id><displayName>A</displayName></proxiedMvpd>"), "is missing"),
            (list(record("A", "<requestorIds></requestorIds>")), "at least one requestorId"),
            (list(record("A", "<iframeSize><iframeHeight>400</iframeHeight></iframeSize>")), "is missing"),
            (list(record("A", "<iframeSize><iframeHeight>9</iframeHeight><iframeWidth>340</iframeWidth></iframeSize>")), "from 100 to 2000"),
            (list(record("A", provider: #" ProviderID="""#)), "1 to 128 bytes"),
            (list("<proxiedMvpd><id>A</id><displayName>A</displayName><logoURL>http://a.example/</logoURL></proxiedMvpd>"), "https"),
        ])
    func refuses(document: String, problem: String) async throws {
        let admin = try await world()
        let before = admin.published.configuration
        guard case .refusal(let refusal) = try await replace(admin, document) else { Issue.record("taken: \(document)"); return }
        let text = refusal.problems.map { "\($0.field) \($0.message)" }.joined(separator: "; ")
        #expect(text.contains(problem), "\(text)")
        #expect(admin.published.configuration == before)
    }

    @Test("a list is bounded: octets, MVPDs, depth")
    func bounds() async throws {
        let admin = try await world()
        let deep = String(repeating: "<a>", count: 70) + String(repeating: "</a>", count: 70)
        let many = Self.list((0...2000).map { Self.record("A\($0)") }.joined())
        let long = Self.list(Self.record("A", String(repeating: " ", count: 1024 * 1024)))
        for (document, problem) in [(Self.list(deep), "too deep"), (many, "more than 2000"), (long, "more than 1048576")] {
            guard case .refusal(let refusal) = try await replace(admin, document) else { Issue.record("taken"); return }
            #expect(refusal.problems.first?.message.contains(problem) == true, "\(refusal.problems)")
        }
    }

    @Test("published samples, without a namespace and with a window, are taken")
    func takesSamples() async throws {
        let admin = try await world()
        let sample = """
            <proxiedMvpds>
                <proxiedMvpd>
                    <id>anotherMvpdId</id>
                    <displayName>Another MVPD</displayName>
                    <logoURL></logoURL>
                    <iframeSize><iframeHeight>400</iframeHeight><iframeWidth>340</iframeWidth></iframeSize>
                    <requestorIds><requestorId>NEWS</requestorId><requestorId>SPORT</requestorId></requestorIds>
                </proxiedMvpd>
            </proxiedMvpds>
            """
        guard case .version = try await replace(admin, sample) else { Issue.record("refused"); return }
        let mvpd = try #require(admin.published.configuration.mvpds.first { $0.id == "anotherMvpdId" })
        #expect(mvpd.iframeRequired && mvpd.iframeWidth == 340 && mvpd.iframeHeight == 400)
        #expect(try await listed(admin).first?.iframeWidth == 340)
    }

    @Test("a proxy keeps its own list; others, and what is no proxy, are refused")
    func rights() async throws {
        let admin = try await world()
        for who in [Who.ed, .vic, .proxy] {
            #expect(try await code { try await replace(admin, Self.list(""), as: who) } == .insufficientRole)
            #expect(try await code { try await listed(admin, as: who) } == .insufficientRole)
        }
        #expect(try await code { try await replace(admin, Self.list(""), as: .stranger) } == .accessDenied)
        #expect(try await code { try await replace(admin, Self.list(""), behind: "TinyCable") } == .insufficientRole)
        #expect(try await code { try await replace(admin, Self.list(""), behind: "TinyCable", as: .olga) } == .notFound)
        #expect(try await code { try await replace(admin, Self.list(""), behind: "Nobody", as: .olga) } == .notFound)
        #expect(try await code { try await admin.list(.mvpd, as: .watcher) } == .insufficientRole)
        guard case .version = try await replace(admin, Self.list(Self.town), as: .olga) else { Issue.record("refused"); return }
    }

    @Test("an editor's draft goes on over a list that came meanwhile")
    func rebases() async throws {
        let admin = try await world()
        try await admin.edit(.requestor, "NEWS", as: .ed) { $0["name"] = "Late News" }.changed()
        _ = try await replace(admin, Self.list(Self.town))
        try await admin.push(as: .ed).version()
        #expect(admin.requestorName("NEWS") == "Late News" && pairs(admin, with: "TownCable").count == 2)
    }
}
