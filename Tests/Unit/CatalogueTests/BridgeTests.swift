import Catalogue
import Clocks
import Contracts
import Faults
import Testing

/// Which way serves a requestor's MVPDs (bridge §3.2).
@Suite("Upstreams")
struct BridgeTests {
    private func catalogue(_ change: (inout Configuration) -> Void = { _ in }) -> Catalogue {
        var configuration = Configuration(
            requestors: [
                Requestor(
                    id: "NEWS",
                    bridge: RequestorBridge(
                        upstreamID: "vendor", everyMvpd: true, serviceProvider: "NEWSUP", mvpdNames: [BridgeName(ours: "TownTel", theirs: "TT")],
                        preflightMaxResources: 7)),
                Requestor(id: "PLAIN"),
            ],
            mvpds: [Mvpd(id: "Direct"), Mvpd(id: "Shut"), Mvpd(id: "Own", upstreamOnly: true)],
            integrations: [
                Integration(requestorID: "NEWS", mvpdID: "Direct", enabled: true), Integration(requestorID: "NEWS", mvpdID: "Shut"),
                Integration(requestorID: "NEWS", mvpdID: "Own", enabled: true, bridge: IntegrationBridge(mvpdName: "Theirs")),
            ], upstreams: [BridgeUpstream(id: "vendor", baseURL: "https://up.example")])
        change(&configuration)
        return Catalogue(configuration)
    }

    @Test("bridge B29: what the catalogue does not name is upstream's where the requestor is upstream as a whole; its list has the last word")
    func whole() throws {
        let catalogue = catalogue()
        let (integration, mvpd) = try catalogue.requireIntegration(requestor: "NEWS", mvpd: "Anybody")
        #expect(integration.bridge != nil && integration.preflightMaxResources == 7 && mvpd.upstreamOnly)
        #expect(catalogue.isListedOnly(requestor: "NEWS", mvpd: "Anybody"))
        #expect(catalogue.bridgeWay(requestor: "NEWS", mvpd: "TownTel")?.theirMvpd == "TT")
        #expect(catalogue.bridgeWay(requestor: "NEWS", mvpd: "Own")?.theirMvpd == "Theirs")
        #expect(!catalogue.isListedOnly(requestor: "NEWS", mvpd: "Own"))
        #expect(catalogue.bridgeWay(requestor: "NEWS", mvpd: "Direct") == nil)
        // Each has one name here; a name is no path.
        for id in ["Shut", "TT", "Theirs", "../x", "a b", "", String(repeating: "a", count: 129)] {
            #expect(throws: Fault.self, "\(id)") { try catalogue.requireIntegration(requestor: "NEWS", mvpd: id) }
        }
        #expect(throws: Fault.self) { try catalogue.requireIntegration(requestor: "PLAIN", mvpd: "Anybody") }
        let listed = self.catalogue { $0.requestors[0].bridge?.everyMvpd = false }
        #expect(throws: Fault.self) { try listed.requireIntegration(requestor: "NEWS", mvpd: "Anybody") }
    }

    @Test("bridge §8.1: what upstream calls an MVPD leads to our name for it, and to none that we serve ourselves")
    func names() {
        let catalogue = catalogue()
        #expect(catalogue.ourMvpd(requestor: "NEWS", theirs: "TT") == "TownTel")
        #expect(catalogue.ourMvpd(requestor: "NEWS", theirs: "Theirs") == "Own")
        #expect(catalogue.ourMvpd(requestor: "NEWS", theirs: "Anybody") == "Anybody")
        #expect(catalogue.ourMvpd(requestor: "NEWS", theirs: "Direct") == nil && catalogue.ourMvpd(requestor: "NEWS", theirs: "Shut") == nil)
        #expect(catalogue.ourMvpd(requestor: "PLAIN", theirs: "Anybody") == nil)
    }

    @Test("bridge §10.3: rules that let in count at an upstream's MVPD only where verifiers trust us; one that refuses counts always")
    func rules() {
        func rule(_ kind: DegradationKind, _ mvpd: String, trusted: Bool = false) -> DegradationRule? {
            catalogue {
                $0.requestors[0].bridge?.localMediaTokens = trusted
                $0.degradationRules = [
                    DegradationRule(id: "r", kind: kind, requestorID: "NEWS", mvpdID: mvpd, startsAtMilliseconds: 0, endsAtMilliseconds: 1000)
                ]
            }.degradation(requestor: "NEWS", mvpd: mvpd, platform: nil, resource: "X", now: Timestamp(milliseconds: 500))
        }
        for kind in [DegradationKind.authnAll, .authzAll] {
            #expect(rule(kind, "Own") == nil && rule(kind, "Anybody") == nil)
            #expect(rule(kind, "Own", trusted: true) != nil && rule(kind, "Direct") != nil)
        }
        #expect(rule(.authzNone, "Own") != nil && rule(.authzNone, "Anybody") != nil)
    }
}
