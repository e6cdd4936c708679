import Catalogue
import Clocks
import Contracts
import Testing

@Suite("Degradation rules")
struct DegradationTests {
    private static let now = Timestamp(seconds: 1_000)

    private static func rule(
        _ id: String, _ kind: DegradationKind, mvpd: String = "NorthCable", resources: [String] = [], platforms: [Platform] = [],
        from start: Int64 = 900, to end: Int64 = 1_100
    ) -> DegradationRule {
        DegradationRule(
            id: id, kind: kind, requestorID: "ACME1", mvpdID: mvpd, resources: resources, platforms: platforms,
            startsAtMilliseconds: UInt64(start * 1000), endsAtMilliseconds: UInt64(end * 1000))
    }

    private static func found(
        _ rules: [DegradationRule], platform: Platform? = .tvos, resource: String? = "NEWS", at now: Timestamp = now
    ) -> String? {
        Catalogue(Configuration(degradationRules: rules))
            .degradation(requestor: "ACME1", mvpd: "NorthCable", platform: platform, resource: resource, now: now)?.id
    }

    @Test("rest-v1 §6.1: AuthZ-None comes before AuthN-All, that before AuthZ-All, whatever their order")
    func precedence() {
        let (none, authn, authz) = (Self.rule("none", .authzNone), Self.rule("authn", .authnAll), Self.rule("authz", .authzAll))
        for rules in [[none, authn, authz], [authz, authn, none], [authn, none, authz]] { #expect(Self.found(rules) == "none") }
        #expect(Self.found([authz, authn]) == "authn")
        #expect(Self.found([authz]) == "authz")
        #expect(Self.found([]) == nil)
    }

    @Test("a sign-in is a matter of AuthN-All alone, also where the rule names resources")
    func signIn() {
        #expect(Self.found([Self.rule("none", .authzNone), Self.rule("authz", .authzAll)], resource: nil) == nil)
        #expect(Self.found([Self.rule("none", .authzNone), Self.rule("authn", .authnAll, resources: ["KIDS"])], resource: nil) == "authn")
    }

    @Test("a rule for some resources leaves the others alone")
    func resources() {
        let rules = [Self.rule("none", .authzNone, resources: ["KIDS"]), Self.rule("authz", .authzAll)]
        #expect(Self.found(rules, resource: "KIDS") == "none")
        #expect(Self.found(rules, resource: "NEWS") == "authz")
    }

    @Test("a rule for some platforms leaves the others alone, and devices of which nothing is known")
    func platforms() {
        let rules = [Self.rule("authz", .authzAll, platforms: [.tvos, .unknown])]
        #expect(Self.found(rules) == "authz")
        #expect(Self.found(rules, platform: .unknown) == "authz")
        #expect(Self.found(rules, platform: .roku) == nil)
        #expect(Self.found(rules, platform: nil) == nil)
    }

    @Test("a rule holds from its start up to its end, at its own pair only; of two the longer counts")
    func time() {
        let rules = [Self.rule("short", .authzAll), Self.rule("long", .authzAll, to: 1_200), Self.rule("other", .authzNone, mvpd: "LakeTel")]
        #expect(Self.found(rules, at: Timestamp(seconds: 899)) == nil)
        #expect(Self.found(rules, at: Timestamp(seconds: 900)) == "long")
        #expect(Self.found(rules, at: Timestamp(milliseconds: 1_199_999)) == "long")
        #expect(Self.found(rules, at: Timestamp(seconds: 1_200)) == nil)
    }

    @Test("a kind from a newer version is no rule")
    func unknownKind() { #expect(Self.found([Self.rule("new", .unrecognized(9))]) == nil) }
}
