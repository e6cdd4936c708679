import CatalogueFiles
import CatalogueSamples
import Contracts
import Foundation
import Testing

/// bridge §3: what a catalogue says of upstreams.
@Suite("Upstreams in the catalogue")
struct UpstreamRecordTests {
    private static let clients = #""clients": [{"id": "news-tv", "statementReference": "news-v2", "requestors": "all", "platforms": "all"}]"#
    private static let bridge = #""upstream": {"upstream": "vendor", "returnOrigin": "https://login.news.example"}"#

    /// - Parameters:
    ///   - upstream: Members of the record beside its id.
    ///   - requestor: Members of the requestor `NEWS`.
    ///   - integration: Members of its integration.
    private func folder(
        _ upstream: String = #""baseUrl": "https://api.upstream.example", \#(clients)"#, requestor: String = bridge,
        integration: String = #""upstream": true"#, more: String = ""
    ) throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        func members(_ text: String) -> String { text.isEmpty ? "" : ", " + text }
        var text = CatalogueFolder.small
        for (part, other) in [
            (#""applications""#, #""upstreams": [{"id": "vendor", \#(upstream)}], "applications""#),
            (#""domains": ["news.example"]}"#, #""domains": ["news.example"]\#(members(requestor))}\#(more)"#),
            (#""mvpd": "TinyCable"}"#, #""mvpd": "TinyCable"\#(members(integration))}"#),
        ] { text = text.replacingOccurrences(of: part, with: other) }
        try world.write(text, to: "catalogue.json")
        return world
    }

    /// The folder goes with its last reference.
    private func read(_ folder: CatalogueFolder) throws -> CatalogueFile.Content { try folder.file.read(now: CatalogueFolder.now) }

    private func problems(_ folder: CatalogueFolder) -> [String] {
        folder.problems().map { $0.replacing(#/ \(line [0-9]+, column [0-9]+\)/#, with: "") }
    }

    private func expect(_ folder: CatalogueFolder, _ problem: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let found = problems(folder)
        #expect(found.count == 1 && found.first?.hasPrefix(problem) == true, "\(found)", sourceLocation: sourceLocation)
    }

    @Test("a record has the defaults of the specification, and a requestor its own name upstream")
    func defaults() throws {
        let read = try self.read(folder()).configuration
        let upstream = try #require(read.upstreams.first)
        #expect(upstream.id == "vendor" && upstream.kind == .vendor && upstream.clientScope == .device && upstream.shards == 64)
        #expect(upstream.clients == [BridgeClientEntry(id: "news-tv", statementReference: "news-v2", scope: "api:client:v2")])
        #expect(!upstream.leavesDeviceInformation && !upstream.synthesizesPartnerStatus && upstream.userIDSource == .hmac)
        #expect(
            upstream.timeouts
                == BridgeTimeouts(
                    connectMilliseconds: 1000, listMilliseconds: 3000, sessionMilliseconds: 3000, decisionMilliseconds: 8000, totalMilliseconds: 9000)
        )
        #expect(
            upstream.limits
                == BridgeLimits(
                    connections: 64, inFlight: 256, perSecond: 500, devicePerSecond: 1, deviceBurst: 8, answerBytes: 262_144, listBytes: 2_097_152))
        #expect(
            upstream.times
                == BridgeTimes(
                    listSeconds: 120, listStaleSeconds: 604_800, profileFreshSeconds: 300, profileStaleSeconds: 86_400, negativeSeconds: 600,
                    pollSeconds: 5, holdMediaTokenSeconds: 60, decisionFreshSeconds: 60, connectionAgeSeconds: 60))
        #expect(
            read.requestors[0].bridge
                == RequestorBridge(
                    upstreamID: "vendor", serviceProvider: "NEWS", returnOrigin: "https://login.news.example", preflightMaxResources: 5))
        #expect(read.integrations[0].bridge == IntegrationBridge())
    }

    @Test("a whole record is read with all its fields; zeros that are said stay zeros")
    func reads() throws {
        let world = try folder(
            """
            "kind": "boxoffice", "baseUrl": "http://127.0.0.1:8092", "userAgentBaseUrl": "https://sp.upstream.example", "browserHosts": ["b.upstream.example"], \
            "management": {"baseUrl": "https://mgmt.upstream.example", "client": "tv"}, "clients": [{"id": "tv", "statementReference": "tv", \
            "requestors": ["NEWS"], "platforms": ["tvos"], "scope": "other"}], "clientScope": "shared", "shards": 2, "deviceIdForm": "sha256", \
            "fillDeviceInfo": false, "synthesizePartnerStatus": true, "userIdSource": "attribute", "protocol": "http2", \
            "timeoutsMs": {"decision": 100, "total": 200}, "limits": {"inFlight": 7}, "seconds": {"holdMediaToken": 0, "poll": 30}
            """,
            requestor: #"""
                "upstream": {"upstream": "vendor", "scope": "all", "serviceProvider": "NEWSUP", "mvpdIds": {"TinyCable": "Tiny_US"}, \#
                "domainNames": {"news.example": "up.example"}, "returnOrigin": "http://localhost:8080", "mvpdOrder": "displayName", \#
                "preflightMaxResources": 50, "localMediaTokens": true}
                """#, integration: #""upstream": {"mvpd": "Tiny2"}"#)
        let read = try world.file.read(now: CatalogueFolder.now).configuration
        let upstream = try #require(read.upstreams.first)
        #expect(
            upstream.kind == .boxoffice && upstream.browserHosts == ["b.upstream.example"] && upstream.shards == 2 && upstream.httpVersion == .http2)
        #expect(upstream.management == BridgeManagement(baseURL: "https://mgmt.upstream.example", clientID: "tv"))
        #expect(upstream.clients[0].requestorIDs == ["NEWS"] && upstream.clients[0].platforms == [.tvos] && upstream.clients[0].scope == "other")
        #expect(upstream.leavesDeviceInformation && upstream.synthesizesPartnerStatus && upstream.deviceIDForm == .sha256)
        #expect(upstream.timeouts?.decisionMilliseconds == 100 && upstream.limits?.inFlight == 7)
        #expect(upstream.times?.holdMediaTokenSeconds == 0 && upstream.times?.pollSeconds == 30)
        let bridge = try #require(read.requestors[0].bridge)
        #expect(bridge.everyMvpd && bridge.serviceProvider == "NEWSUP" && bridge.listOrder == .displayName && bridge.localMediaTokens)
        #expect(bridge.mvpdNames == [BridgeName(ours: "TinyCable", theirs: "Tiny_US")])
        #expect(bridge.domainNames == [BridgeName(ours: "news.example", theirs: "up.example")])
        #expect(read.integrations[0].bridge?.mvpdName == "Tiny2")
    }

    @Test("B1: plain HTTP is for this machine; an origin is one, and names a host")
    func origins() throws {
        func base(_ text: String) throws -> CatalogueFolder { try folder(#""baseUrl": "\#(text)", \#(Self.clients)"#) }
        #expect(problems(try base("http://localhost:8092")) == [])
        expect(try base("http://api.upstream.example"), "upstreams[0].baseUrl must begin with https://")
        expect(try base("https://api.upstream.example/api"), "upstreams[0].baseUrl must end after the host or the port")
        expect(try base("https://api.upstream.example?x=1"), "upstreams[0].baseUrl must end after the host or the port")
        expect(try base("https://192.0.2.7"), "upstreams[0].baseUrl must name a host")
        expect(try base("https://[2001:db8::7]"), "upstreams[0].baseUrl must name a host")
        expect(try base("https://user@api.upstream.example"), "upstreams[0].baseUrl must not hold a user")
    }

    @Test("B2: two requestors are not one service provider; one client serves on a platform")
    func providers() throws {
        let other = #", {"id": "SPORT", "name": "Sport", "programmer": "harbor", "domains": ["sport.example"], "upstream": {"upstream": "vendor", "#
        func second(_ members: String) throws -> CatalogueFolder {
            try folder(more: other + members + #", "returnOrigin": "https://sport.example"}}"#)
        }
        #expect(problems(try second(#""serviceProvider": "SPORT2""#)) == [])
        expect(
            try second(#""serviceProvider": "NEWS""#), "requestors[1].upstream is the service provider 'NEWS' of 'vendor', which 'NEWS' is already")
        let twice = #"{"id": "a", "statementReference": "a", "requestors": ["NEWS"], "platforms": ["roku"]}"#
        let all = #"{"id": "b", "statementReference": "b", "requestors": "all", "platforms": "all"}"#
        expect(
            try folder(#""baseUrl": "https://api.upstream.example", "clients": [\#(twice), \#(all)]"#),
            "requestors[0].upstream has the clients 'a' and 'b' of 'vendor' on roku")
        // One that resets trials serves no device.
        let resets = #"{"id": "r", "statementReference": "r", "requestors": "all", "platforms": "all", "scope": "temporary:passes:owner"}"#
        #expect(try problems(folder(#""baseUrl": "https://api.upstream.example", "clients": [\#(all), \#(resets)]"#)).isEmpty)
        let warnings = try read(folder(#""baseUrl": "https://api.upstream.example", "clients": [\#(twice)]"#)).warnings
        #expect(warnings.map(\.description).contains { $0.contains("no client of 'vendor' on tvos") })
    }

    @Test("B3: a return address lies at a domain of the requestor; without one there is a warning")
    func returns() throws {
        func bridge(_ members: String) throws -> CatalogueFolder { try folder(requestor: #""upstream": {"upstream": "vendor"\#(members)}"#) }
        #expect(problems(try bridge(#", "returnOrigin": "https://news.example""#)) == [])
        expect(try bridge(#", "returnOrigin": "https://evilnews.example""#), "requestors[0].upstream.returnOrigin must lie at or below a domain")
        expect(try bridge(#", "returnOrigin": "http://localhost:8080""#), "requestors[0].upstream.returnOrigin must lie at or below a domain")
        let warnings = try read(bridge("")).warnings.map(\.description)
        #expect(warnings.contains { $0.contains("returnOrigin") }, "\(warnings)")
    }

    @Test("B4: what a bridged integration cannot have is refused, and what has no effect is said")
    func integrations() throws {
        expect(try folder(integration: #""upstream": true, "autoSignIn": true"#), "integrations[0].autoSignIn must not be there")
        expect(try folder(integration: #""upstream": true, "preflightMaxResources": 51"#), "integrations[0].preflightMaxResources must be at most 50")
        expect(try folder(integration: #""upstream": false"#), "integrations[0].upstream must be true, an object, or left out")
        expect(try folder(requestor: ""), "integrations[0].upstream needs an 'upstream' of the requestor 'NEWS'")
        let warnings = try read(folder(integration: #""upstream": true, "authnTtl": 600"#)).warnings.map(\.description)
        #expect(warnings.contains { $0.contains("integrations[0].authnTtl") && $0.contains("without effect") }, "\(warnings)")
    }

    @Test("references lead somewhere, times and limits keep their order, names map one to one")
    func refuses() throws {
        func upstream(_ members: String) throws -> CatalogueFolder {
            try folder(#""baseUrl": "https://api.upstream.example", \#(Self.clients), \#(members)"#)
        }
        expect(
            try upstream(#""seconds": {"profileFresh": 100, "profileStale": 50}"#),
            "upstreams[0].seconds must have 'profileFresh' below 'profileStale'")
        expect(try upstream(#""timeoutsMs": {"decision": 9000}"#), "upstreams[0].timeoutsMs must have a 'decision' below 'total'")
        expect(try upstream(#""limits": {"connections": 1025}"#), "upstreams[0].limits.connections must be from 1 to 1024")
        expect(try upstream(#""management": {"baseUrl": "https://m.upstream.example", "client": "x"}"#), "upstreams[0].management.client names 'x'")
        expect(
            try folder(#""baseUrl": "https://api.upstream.example", "clients": []"#, requestor: "", integration: ""),
            "upstreams[0].clients must have 1 to 64 elements")
        expect(
            try folder(
                #""baseUrl": "https://api.upstream.example", "clients": [{"id": "a", "statementReference": "../a", "requestors": "all", "platforms": "all"}]"#,
                requestor: "", integration: ""
            ), "upstreams[0].clients[0].statementReference must be the name of a statement file")
        expect(
            try folder(
                #""baseUrl": "https://api.upstream.example", "clients": [{"id": "a", "statementReference": "a", "requestors": ["NOBODY"], "platforms": "all"}]"#,
                requestor: "", integration: ""
            ), "upstreams[0].clients[0].requestors[0] names the requestor 'NOBODY'")
        expect(
            try folder(requestor: #""upstream": {"upstream": "nobody", "returnOrigin": "https://news.example"}"#, integration: ""),
            "requestors[0].upstream.upstream names the upstream 'nobody'")
        expect(
            try folder(
                requestor: #""upstream": {"upstream": "vendor", "returnOrigin": "https://news.example", "mvpdIds": {"A": "X", "B": "X"}}"#,
                integration: ""),
            "requestors[0].upstream.mvpdIds must map no two names to one")
    }
}
