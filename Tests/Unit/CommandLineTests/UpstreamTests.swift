@testable import AdministrationCommands
@testable import CommandKit
import Foundation
import Testing

/// The output of `boxoffice upstream` for the cluster's answers.
struct UpstreamTests {
    private func offers(_ answers: [(platform: String, json: String)]) throws -> UpstreamOffers {
        var offers = UpstreamOffers()
        for (platform, json) in answers {
            offers.take(try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]), platform)
        }
        return offers
    }

    private static let roku = """
        {"offers": [{"id": "Coast", "displayName": "Coast Cable", "logoUrl": "https://img.example/c.png"}, {"id": "Trial", "displayName": "Trial", "tempPass": true}],
         "leftOut": ["a b"]}
        """
    private static let tvos = """
        {"offers": [{"id": "Coast", "displayName": "Coast Cable", "boardingStatus": "PICKER", "platformMappingId": "coast", "displayInPlatformPicker": true},
         {"id": "Hill", "displayName": "Hill Tel", "boardingStatus": "SUPPORTED", "platformMappingId": "hill"}], "leftOut": []}
        """

    @Test("bridge B105: what the draft lacks becomes entries, by our own names")
    func compares() throws {
        let offers = try offers([("roku", Self.roku), ("tvos", Self.tvos)])
        #expect(offers.ids == ["Coast", "Trial", "Hill"] && offers.leftOut == ["a b"])
        var own = OwnEntries()
        own.add(names: ["Coast": "CoastCable"])
        own.add(mvpd: ["id": "Trial", "displayName": "Free week"])
        let comparison = UpstreamComparison(offers, own, requestor: "ACME1")
        let expected: [NSDictionary] = [
            [
                "id": "CoastCable", "displayName": "Coast Cable", "upstreamOnly": true, "logoUrl": "https://img.example/c.png",
                "platforms": [["platform": "tvos", "boardingStatus": "PICKER", "platformMappingId": "coast", "displayInPlatformPicker": true]],
            ], ["id": "Hill", "displayName": "Hill Tel", "upstreamOnly": true],
        ]
        #expect(comparison.mvpds.map { $0 as NSDictionary } == expected)
        #expect(comparison.integrations.compactMap { $0["mvpd"] as? String } == ["CoastCable", "Trial", "Hill"])
        let told = Dictionary(uniqueKeysWithValues: comparison.differences.map { ($0.mvpd, $0.text) })
        #expect(told["CoastCable"] == "is new: 'Coast Cable', for roku, tvos")
        #expect(told["Trial"] == "is not integrated with ACME1")
        #expect(comparison.notes == [.init(mvpd: "Trial", text: "is 'Free week' here, 'Trial' upstream; yours stays")])
        #expect(told["Hill"]?.contains("requiredMetadataFields") == true)
    }

    @Test("bridge B105: with all of it there nothing is left; what upstream lists no more is told, and nothing is taken away")
    func isDone() throws {
        let offers = try offers([("roku", Self.roku)])
        var own = OwnEntries()
        for (id, name) in [("Coast", "Coast Cable"), ("Trial", "Trial")] {
            own.add(mvpd: ["id": id, "displayName": name, "upstreamOnly": true])
            own.add(integration: ["requestor": "ACME1", "mvpd": id, "upstream": true])
        }
        own.add(integration: ["requestor": "ACME1", "mvpd": "Direct"])
        own.add(integration: ["requestor": "ACME1", "mvpd": "Off", "upstream": true, "enabled": false])
        let same = UpstreamComparison(offers, own, requestor: "ACME1")
        #expect(same.isComplete && same.differences.isEmpty)
        own.add(integration: ["requestor": "ACME1", "mvpd": "Gone", "upstream": true])
        let less = UpstreamComparison(offers, own, requestor: "ACME1")
        #expect(less.isComplete && less.differences == [.init(mvpd: "Gone", text: "is not listed upstream; nobody is offered it")])
    }

    @Test("bridge B104: a walk has failed with one of its steps, and says which came before")
    func walks() throws {
        var walk = UpstreamWalk(upstream: "vendor", requestor: nil)
        let quiet = Console(isQuiet: true)
        walk.take(["requestor": "ACME1", "steps": [["step": 1, "outcome": "passed"], ["step": 4, "outcome": "failed"]]], quiet)
        #expect(walk.hasFailed && !walk.hasFailed(before: 4) && walk.hasFailed(before: 5) && !walk.isUnreachable)
        #expect(walk.report["requestor"] as? String == "ACME1" && walk.report["passed"] as? Bool == false)
        walk.take(["unreachable": true], quiet)
        walk.take(["unreachable": false], quiet)
        #expect(walk.isUnreachable)
    }

    @Test("bridge §14.1: the state of an upstream fits a few lines")
    func tellsStates() {
        let console = Console(isQuiet: true, isStyled: false)
        let now = Date(timeIntervalSince1970: 10_000)
        let lines = UpstreamText.lines(
            [
                "id": "vendor", "baseUrl": "https://api.upstream.example",
                "state": [
                    "clients": 3, "deviceClients": 2, "openBreakers": ["session"], "callsUnderWay": 1, "oldestListAt": 9_940_000, "openLogouts": 4,
                    "clockOffsetMs": 301_000, "alarms": [["event": "bridge.clock_skew", "at": 2_800_000, "count": 2, "details": "ahead"]],
                ] as [String: Any],
            ], now: now, console)
        #expect(lines[0] == "vendor  https://api.upstream.example  failing: session")
        #expect(lines[2].contains("60 s old") && lines[2].contains("301 s ahead"))
        #expect(lines[3] == "  bridge.clock_skew 2 h ago, 2 times: ahead")
        #expect(UpstreamText.lines(["id": "new", "baseUrl": "b"], now: now, console).count == 2)
    }
}
