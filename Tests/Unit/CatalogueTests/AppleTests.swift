import Catalogue
import Contracts
import Testing

@Suite("Apps at Apple")
struct AppleTests {
    private static let group = AppleAppGroup(id: "tv.acme.app", bundleIDs: ["tv.acme.app", "tv.acme.sport"], servicesIDs: ["tv.acme.web"])
    private static let radio = AppleAppGroup(id: "tv.acme.radio", bundleIDs: ["tv.acme.radio"])
    private static let acme = AppleTeam(teamID: "ACMETEAM01", groups: [group, radio])
    private static let bravo = AppleTeam(teamID: "BRAVOTEAM1", groups: [AppleAppGroup(id: "tv.bravo.app", bundleIDs: ["tv.bravo.app"])])
    private let catalogue = Catalogue(
        Configuration(
            programmers: [
                Programmer(id: "acme", appleTeams: [acme]), Programmer(id: "bravo", appleTeams: [bravo]), Programmer(id: "plain"),
            ],
            requestors: [Requestor(id: "ACME1", programmerID: "acme"), Requestor(id: "BRAVO", programmerID: "bravo"), Requestor(id: "LOOSE")]))

    @Test("a client id leads to its group, team and programmer; letter case counts", arguments: ["tv.acme.app", "tv.acme.sport", "tv.acme.web"])
    func byClientID(_ id: String) throws {
        let app = try #require(catalogue.appleApp(id))
        #expect(app.programmer == "acme" && app.team == Self.acme && app.group == Self.group)
        #expect(app.clientID == id && app.isNative == (id != "tv.acme.web"))
        #expect(app.group.clientIDs == ["tv.acme.app", "tv.acme.sport", "tv.acme.web"])
        #expect(catalogue.appleApp(id.uppercased()) == nil)
    }

    @Test("an app serves the requestors of its programmer only")
    func ofRequestor() throws {
        let (acme, bravo) = (try #require(catalogue.requestor("ACME1")), try #require(catalogue.requestor("BRAVO")))
        #expect(catalogue.appleApp("tv.acme.radio", for: acme)?.group == Self.radio)
        #expect(catalogue.appleApp("tv.acme.radio", for: bravo) == nil)
        #expect(catalogue.appleApp("tv.bravo.app", for: bravo)?.team == Self.bravo)
        #expect(catalogue.appleApp("tv.nobody.app", for: acme) == nil)
    }

    @Test("teams are found by their id, programmers by a requestor's")
    func byTeam() {
        #expect(catalogue.appleTeam("BRAVOTEAM1")?.programmer == "bravo" && catalogue.appleTeam("BRAVOTEAM1")?.team == Self.bravo)
        #expect(catalogue.appleTeam("NOTEAM0000") == nil)
        #expect(catalogue.programmer(ofRequestor: "ACME1")?.id == "acme")
        #expect(catalogue.programmer(ofRequestor: "LOOSE") == nil && catalogue.programmer(ofRequestor: "NOBODY") == nil)
    }
}
