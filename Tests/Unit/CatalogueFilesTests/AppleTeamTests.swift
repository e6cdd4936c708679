import CatalogueSamples
import Contracts
import Foundation
import Testing

/// apple §2.8: the rules for a programmer's team at Apple.
struct AppleTeamTests {
    private static let group = #"{"id": "tv.harbor.news", "bundleIds": ["tv.harbor.news", "tv.harbor.sport"], "servicesIds": ["tv.harbor.web"]}"#
    private static let signIn = #""signInKeyId": "SIGNKEY001", "signInKeyReference": "harbor-sign-in.key""#
    private static let purchase = """
        "issuerId": "7D1f6d6e-0d1b-4c39-9e29-7d6a4f1f0c11", "purchaseKeyId": "PURCHKEY01", "purchaseKeyReference": "harbor_purchase"
        """

    private static func team(_ id: String = "HARBORTEAM", keys: String = signIn, groups: String = group) -> String {
        #"{"teamId": "\#(id)", \#(keys.isEmpty ? "" : keys + ",") "groups": [\#(groups)]}"#
    }

    /// A catalogue whose first programmer has these teams; the second one's are empty unless given.
    private static func world(_ teams: String, other: String = "") throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        let twin = other.isEmpty ? "" : #", {"id": "isle", "name": "Isle", "appleTeams": [\#(other)]}"#
        try world.replace(#""name": "Harbor"}"#, with: #""name": "Harbor", "appleTeams": [\#(teams)]}\#(twin)"#)
        return world
    }

    private static func problems(_ teams: String, other: String = "") throws -> [String] {
        try world(teams, other: other).problems().map { $0.replacing(#/ \(line [0-9]+, column [0-9]+\)/#, with: "") }
    }

    @Test("a whole team is read with all its fields")
    func reads() throws {
        let radio = #"{"id": "tv.harbor.radio", "bundleIds": ["tv.harbor.radio"]}"#
        let world = try Self.world(Self.team(keys: "\(Self.signIn), \(Self.purchase)", groups: "\(Self.group), \(radio)"))
        let content = try world.file.read(now: CatalogueFolder.now)
        let groups = [
            AppleAppGroup(id: "tv.harbor.news", bundleIDs: ["tv.harbor.news", "tv.harbor.sport"], servicesIDs: ["tv.harbor.web"]),
            AppleAppGroup(id: "tv.harbor.radio", bundleIDs: ["tv.harbor.radio"]),
        ]
        let team = AppleTeam(
            teamID: "HARBORTEAM", signInKeyID: "SIGNKEY001", signInKeyReference: "harbor-sign-in.key",
            issuerID: "7D1f6d6e-0d1b-4c39-9e29-7d6a4f1f0c11", purchaseKeyID: "PURCHKEY01", purchaseKeyReference: "harbor_purchase", groups: groups)
        #expect(content.configuration.programmers[0].appleTeams == [team])
        #expect(content.warnings.isEmpty)
    }

    @Test("a team may serve Automatic Sign-In alone, or Sign in with Apple alone", arguments: [signIn, purchase])
    func oneKey(_ keys: String) throws {
        #expect(try Self.problems(Self.team(keys: keys)) == [])
    }

    @Test(
        "a wrong part is one problem at its place",
        arguments: [
            ("HARBORTEAM", "HARBORTEA", "teamId", "10 upper-case letters and digits"),
            ("HARBORTEAM", "harborteam", "teamId", "10 upper-case letters and digits"),
            ("SIGNKEY001", "SIGN-KEY01", "signInKeyId", "10 upper-case letters and digits"),
            (
                #""7D1f6d6e-0d1b-4c39-9e29-7d6a4f1f0c11", "purchaseKeyId": "PURCHKEY01", "purchaseKeyReference": "harbor_purchase""#, #""""#,
                "issuerId", "must be a UUID"
            ),
            ("PURCHKEY01", "PURCHKEY012", "purchaseKeyId", "10 upper-case letters and digits"),
            ("7D1f6d6e-0d1b", "7D1f6d6e0-d1b", "issuerId", "must be a UUID"),
            ("7D1f6d6e-0d1b", "7G1f6d6e-0d1b", "issuerId", "must be a UUID"),
            ("harbor-sign-in.key", "../harbor.key", "signInKeyReference", "name of a key file"),
            ("harbor-sign-in.key", "/etc/shadow", "signInKeyReference", "name of a key file"),
            ("harbor_purchase", ".hidden", "purchaseKeyReference", "name of a key file"),
            (#""signInKeyId": "SIGNKEY001", "#, "", "", "both or none of signInKeyId"),
            (#", "signInKeyReference": "harbor-sign-in.key""#, "", "", "both or none of signInKeyId"),
            (#", "purchaseKeyId": "PURCHKEY01""#, "", "", "all or none of issuerId"),
            (#""id": "tv.harbor.news""#, #""id": "tv.harbor.web""#, "groups[0].id", "not among the bundleIds"),
            (#""tv.harbor.sport""#, #""harbor""#, "groups[0].bundleIds[1]", "reverse domain name"),
            (#""tv.harbor.sport""#, #""tv..sport""#, "groups[0].bundleIds[1]", "reverse domain name"),
            (#""tv.harbor.sport""#, #""tv.harbor.sp rt""#, "groups[0].bundleIds[1]", "reverse domain name"),
            (#""tv.harbor.sport""#, #""tv.harbor.news""#, "groups[0].bundleIds[1]", "stands at programmers[0].appleTeams[0].groups[0].bundleIds[0]"),
            (#""tv.harbor.web""#, #""tv.harbor.sport""#, "groups[0].servicesIds[0]", "stands at programmers[0].appleTeams[0].groups[0].bundleIds[1]"),
            (#", "groups": [\#(group)]"#, "", "groups", "is missing"),
            (#""groups": [\#(group)]"#, #""groups": []"#, "groups", "a group at least"),
            (#""servicesIds""#, #""serviceIds""#, "groups[0].serviceIds", "not known here"),
        ])
    func onePart(part: String, other: String, place: String, words: String) throws {
        let whole = Self.team(keys: "\(Self.signIn), \(Self.purchase)")
        try #require(whole.contains(part))
        let found = try Self.problems(whole.replacingOccurrences(of: part, with: other))
        #expect(found.count == 1, "\(found)")
        let subject = "programmers[0].appleTeams[0]" + (place.isEmpty ? "" : ".\(place)") + " "
        #expect(found.first?.hasPrefix(subject) == true && found.first?.contains(words) == true, "\(found)")
    }

    @Test("a team without a key, or with a group without an app, is of no use")
    func serves() throws {
        #expect(try Self.problems(Self.team(keys: "")).first?.contains("must have a sign-in key or a purchase key") == true)
        let empty = try Self.problems(Self.team(groups: #"{"id": "tv.harbor.news", "bundleIds": []}"#))
        #expect(empty.contains { $0.hasPrefix("programmers[0].appleTeams[0].groups[0].bundleIds must not be empty") })
    }

    @Test("a client id belongs to one group, and a team to one programmer, in the whole catalogue")
    func unique() throws {
        let other = #"{"id": "tv.isle.app", "bundleIds": ["tv.isle.app"], "servicesIds": ["tv.harbor.news"]}"#
        let found = try Self.problems(Self.team(), other: Self.team(groups: other))
        #expect(found.count == 2)
        #expect(found.first == "programmers[1].appleTeams[0].teamId is 'HARBORTEAM', which another one has")
        #expect(
            found.last?.hasPrefix("programmers[1].appleTeams[0].groups[0].servicesIds[0] is 'tv.harbor.news', which stands at programmers[0]") == true
        )
        let differing = other.replacingOccurrences(of: "tv.harbor.news", with: "tv.Harbor.news")
        #expect(try Self.problems(Self.team(), other: Self.team("ISLETEAM01", groups: differing)) == [])
    }

    @Test("an application may be a programmer's own backend")
    func backend() throws {
        let world = try CatalogueFolder()
        try world.replace(#""scopes": ["api:client:v1"]"#, with: #""scopes": ["autosignin:owner"]"#)
        #expect(world.problems() == [])
    }
}
