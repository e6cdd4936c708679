@testable import ClusterCommands
internal import Foundation
internal import Testing

/// Two catalogues of which one becomes the other's upstream (bridge §3).
@Suite struct BridgedCatalogueTests {
    private static var theirs: [String: Any] {
        [
            "requestors": [["id": "NEWS", "domains": ["news.example"]], ["id": "THEIRS", "domains": []]],
            "applications": [
                ["id": "backend", "requestors": ["NEWS"], "scopes": ["api:client:v2"]],
                ["id": "tv", "requestors": ["NEWS", "THEIRS"], "scopes": ["api:client:v1", "api:client:v2"]],
                ["id": "old", "requestors": ["NEWS"], "scopes": ["api:client:v1"]],
            ],
            "integrations": [
                ["requestor": "NEWS", "mvpd": "Cable"], ["requestor": "NEWS", "mvpd": "Parked", "enabled": false],
                ["requestor": "THEIRS", "mvpd": "Cable"],
            ],
        ]
    }
    private static var ours: [String: Any] {
        [
            "requestors": [["id": "NEWS", "name": "News"], ["id": "OURS"]], "upstreams": [["id": "vendor"]],
            "integrations": [
                ["requestor": "NEWS", "mvpd": "Cable", "platformSso": true, "autoSignIn": true, "metadataKeys": ["zip"]] as [String: Any],
                ["requestor": "NEWS", "mvpd": "Parked"], ["requestor": "NEWS", "mvpd": "Own"], ["requestor": "OURS", "mvpd": "Cable"],
            ],
        ]
    }
    private let bridged = BridgedCatalogue(of: theirs)

    @Test("the app of a requestor serves it, before its backend; requestors of one side alone are not served")
    func choosesClients() {
        let statements = ["backend": "b", "tv": "t", "old": "o"]
        let clients = bridged.clients(for: Self.ours, statements: statements)
        #expect(clients == [BridgedCatalogue.Client(application: "tv", statement: "t", requestors: ["NEWS"])])
        #expect(bridged.clients(for: Self.ours, statements: ["backend": "b"]).map(\.application) == ["backend"])
        #expect(bridged.clients(for: Self.ours, statements: ["old": "o"]).isEmpty)
    }

    @Test("what both have is bridged, without what only direct integrations can; again nothing changes")
    func bridges() throws {
        let clients = bridged.clients(for: Self.ours, statements: ["tv": "t"])
        func change(_ catalogue: [String: Any]) -> [String: Any] {
            bridged.bridging(catalogue, upstream: "http://127.0.0.1:18000", gateway: "http://127.0.0.1:8080", clients: clients)
        }
        let changed = change(Self.ours)
        let integrations = try #require(changed["integrations"] as? [[String: Any]])
        #expect(integrations.map { $0["upstream"] as? Bool } == [true, nil, nil, nil])
        #expect(Set(integrations[0].keys) == ["requestor", "mvpd", "metadataKeys", "upstream"])
        let requestors = try #require(changed["requestors"] as? [[String: Any]])
        let expected: [String: Any] = ["upstream": "upstream", "returnOrigin": "http://127.0.0.1:8080", "localMediaTokens": true]
        #expect((requestors[0]["upstream"] as? NSDictionary)?.isEqual(to: expected) == true)
        #expect(requestors[1]["upstream"] == nil)
        #expect((changed["upstreams"] as? [[String: Any]])?.compactMap { $0["id"] as? String } == ["vendor", "upstream"])
        #expect((change(changed) as NSDictionary).isEqual(to: changed))
    }

    @Test("the upstream lets sign-ins end on this machine, at the requestors that are served, once")
    func accepts() throws {
        let clients = bridged.clients(for: Self.ours, statements: ["tv": "t"])
        let changed = bridged.accepting(host: "127.0.0.1", at: clients)
        let requestors = try #require(changed["requestors"] as? [[String: Any]])
        #expect((requestors[0]["domains"] as? [Any])?.count == 2 && (requestors[1]["domains"] as? [Any])?.isEmpty == true)
        #expect((BridgedCatalogue(of: changed).accepting(host: "127.0.0.1", at: clients) as NSDictionary).isEqual(to: changed))
    }

    @Test("a statement of another software id is another secret; a newer one of the same id is not")
    func namesSecrets() {
        func reference(_ claims: String) -> String {
            let payload = Data(claims.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
            return BridgedCatalogue.Client(application: "tv", statement: "e30.\(payload).e30", requestors: []).reference
        }
        #expect(reference(#"{"software_id":"a","iat":1}"#) == reference(#"{"software_id":"a","iat":2}"#))
        #expect(reference(#"{"software_id":"a","iat":1}"#) != reference(#"{"software_id":"b","iat":1}"#))
        #expect(reference(#"{"software_id":"a"}"#).wholeMatch(of: /upstream-tv-[0-9a-f]{12}/) != nil)
    }
}
