import CatalogueFiles
import CatalogueSamples
import Contracts
import Testing

/// The rules for the record of a test user.
struct TestUserRecordTests {
    private func world(_ members: String) throws -> CatalogueFolder {
        let world = try CatalogueFolder()
        try world.replace(#""id": "TinyCable","#, with: #""id": "TinyCable", "testSignIn": {\#(members)},"#)
        return world
    }

    private func problems(_ members: String) throws -> [String] {
        try world(members).problems().map { $0.replacing(#/ \(line [0-9]+, column [0-9]+\)/#, with: "") }
    }

    /// The test user of the first MVPD.
    private func test(_ world: CatalogueFolder) throws -> ScheduledSignIn? {
        try withExtendedLifetime(world) { try world.file.read(now: CatalogueFolder.now).configuration.mvpds[0].scheduledSignIn }
    }

    private static let good = #""requestor": "NEWS", "user": "tess", "passwordReference": "tess-password""#

    @Test("a whole record is read with all its fields, a short one with what is usual")
    func reads() throws {
        let whole = try world(
            Self.good + #", "every": 300, "userField": "u", "passwordField": "p", "origins": ["https://login.tiny.example"], "enabled": false"#)
        let read = try #require(try test(whole))
        #expect(
            read
                == ScheduledSignIn(
                    requestorID: "NEWS", user: "tess", passwordReference: "tess-password", everySeconds: 300, userField: "u", passwordField: "p",
                    origins: ["https://login.tiny.example"], paused: true))
        let short = try #require(try test(world(Self.good)))
        #expect(short.everySeconds == 60 && !short.paused && short.origins.isEmpty)
        #expect(try test(CatalogueFolder()) == nil)
    }

    @Test("a wrong record is refused with every reason")
    func refuses() throws {
        let found = try problems(
            #""requestor": "NOBODY", "passwordReference": "../secret", "every": 59, "origins": ["http://tiny.example", "https://tiny.example/login"], "x": 1"#
        )
        for place in [
            "mvpds[0].testSignIn.requestor names the requestor 'NOBODY', which is not in the catalogue", "mvpds[0].testSignIn.user is missing",
            "mvpds[0].testSignIn.passwordReference must be the name of a secret file", "mvpds[0].testSignIn.every must be",
            "mvpds[0].testSignIn.origins[0] must begin with https://", "mvpds[0].testSignIn.origins[1] must end after the host",
            "mvpds[0].testSignIn.x",
        ] {
            #expect(found.contains { $0.contains(place) }, "\(place) is not in \(found)")
        }
    }

    @Test("a test user without an integration is not tried, and that is said")
    func needsIntegration() throws {
        let alone = try CatalogueFolder()
        let text = CatalogueFolder.small
            .replacing(#""id": "TinyCable","#, with: #""id": "TinyCable", "testSignIn": {\#(Self.good)},"#)
            .replacing(#""integrations": [{"requestor": "NEWS", "mvpd": "TinyCable"}]"#, with: #""integrations": []"#)
        try alone.write(text, to: "catalogue.json")
        let warnings = try withExtendedLifetime(alone) { try alone.file.read(now: CatalogueFolder.now).warnings }
        #expect(
            warnings.contains { $0.description.contains("is not tried: the requestor 'NEWS' has no integration with 'TinyCable'") }, "\(warnings)")
    }
}
