import Foundation
import Logging
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

@Suite struct SettingsTests {
    private func fault(_ json: String) async -> SettingsFault? {
        do {
            _ = try await Sandbox(settings: try Fixture.read(json), logger: Logger(label: "test"))
            return nil
        } catch {
            return error as? SettingsFault
        }
    }

    private func changed(_ old: String, _ new: String) throws -> String {
        let settings = Fixture.settings()
        try #require(settings.contains(old))
        return settings.replacingOccurrences(of: old, with: new)
    }

    @Test func readsWhatMayBeLeftOut() throws {
        let settings = try Fixture.read(Fixture.settings())
        #expect(settings.providers.people == Person.standard)
        #expect(settings.providers.channels == Person.standardChannels)
        #expect(settings.providers.mvpds[0].signAssertion)
        #expect(!settings.providers.mvpds[0].signResponse)
        #expect(settings.providers.mvpds[0].validateRequests)
        #expect(settings.providers.mvpds[1].entityID == "\(Fixture.publicURL)/saml/LakeTel/metadata")
        #expect(settings.providers.serviceURL == Fixture.publicURL)
        #expect(settings.providers.serviceProvider.signingCertificate == Keys.shared.path("sp-signing.crt"))
    }

    @Test func readsPeople() throws {
        let people = #", "people": [{"name": "finn", "password": "secret", "channels": ["X"], "maxVCHIP": "TV-G", "headOfHousehold": false}]"#
        let settings = try Fixture.read(Fixture.settings(extra: people))
        var finn = Person(name: "finn", subscription: .channels(["X"]), maximumTelevisionRating: "TV-G", isHeadOfHousehold: false)
        finn.password = "secret"
        #expect(settings.providers.people == [finn])
    }

    @Test func namesTheKeyThatIsWrong() async throws {
        #expect(await fault(try changed(#""acsURL""#, #""acsUrl""#))?.key == "serviceProvider.acsURL")
        #expect(await fault(Fixture.settings(extra: #", "colour": 1"#))?.key == "colour")
        #expect(await fault(Fixture.settings(northcable: #", "signassertion": true"#))?.key == "mvpds[0].signassertion")
        #expect(await fault(try changed(#""port": 0"#, #""port": 70000"#))?.key == "listen.port")
        #expect(await fault(try changed("LakeTel", "NorthCable"))?.key == "mvpds[1].id")
        #expect(await fault(try changed("LakeTel", "Lake/Tel"))?.key == "mvpds[1].id")
        #expect(await fault(try changed(#""encryptionCertificate": "sp-encryption.crt","#, ""))?.key == "serviceProvider.encryptionCertificate")
        #expect(await fault(Fixture.settings(extra: #", "people": [{"name": "x", "maxVCHIP": "TV-99"}]"#))?.key == "people[0].maxVCHIP")
        #expect(await fault(Fixture.settings(extra: #", "serviceURL": "http://inside/""#))?.key == "serviceURL")
        #expect(await fault(Fixture.settings(extra: #", "log": {"level": "loud"}"#))?.key == "log.level")
    }

    @Test("HTTPS beside plain HTTP needs a certificate and its key")
    func tls() async throws {
        func settings(_ certificate: String, _ key: String) -> String {
            Fixture.settings(extra: #", "tls": {"certificate": "\#(certificate)", "key": "\#(key)"}"#)
        }
        #expect(await fault(settings("north.crt", "north.key")) == nil)
        #expect(await fault(settings("absent.crt", "north.key"))?.key == "tls.certificate")
        #expect(await fault(settings("north.crt", "absent.key"))?.key == "tls.key")
        #expect(await fault(settings("north.key", "north.crt"))?.key == "tls")
    }

    @Test func namesTheFileThatCannotBeUsed() async throws {
        #expect(await fault(try changed("north.key", "missing.key"))?.key == "mvpds[0].key")
        #expect(await fault(try changed("north.key", "north.crt"))?.key == "mvpds[0].key")
        #expect(await fault(try changed("north.key", "lake.key"))?.key == "mvpds[0].key")
        #expect(await fault(try changed("sp-signing.crt", "short.crt"))?.problem.contains("2048") == true)
        #expect(await fault(try changed(Fixture.pages, "/nowhere"))?.key == "pages")
    }

    @Test func saysWhereTheTextIsBroken() async {
        #expect(await fault("{\n  oops")?.problem.contains("line 2") == true)
    }
}
