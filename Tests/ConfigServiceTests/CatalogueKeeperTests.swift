import ConfigService
import Contracts
import Foundation
import Testing

@Suite("Versions of the catalogue")
struct CatalogueKeeperTests {
    @Test("the first version of a store is not below the seconds since 1970, so that no number is used again")
    func firstVersion() async throws {
        let world = try World()
        let configuration = try await world.keeper(world.store()).load()
        #expect(configuration.version == UInt64(World.now.seconds))
        #expect(configuration.changedAtMilliseconds == UInt64(World.now.milliseconds))
    }

    @Test("the same content keeps its version, also after a restart")
    func sameContentSameVersion() async throws {
        let world = try World()
        let store = try world.store()
        let first = try await world.keeper(store).load()
        await store.close()
        world.clock.advance(by: .seconds(100))
        try world.write(World.small + "\n\n", to: "catalogue.json")
        let second = try await world.keeper(try world.store()).load()
        #expect(second == first)
    }

    @Test("changed content is a new version with the same software ids")
    func changedContentIsNewVersion() async throws {
        let world = try World()
        let keeper = world.keeper(try world.store())
        let published = try PublishedCatalogue(try await keeper.load())
        let first = published.configuration
        try world.replace(#""name": "News", "#, with: #""name": "Evening News", "#)
        await keeper.reload(into: published)
        #expect(published.configuration.version > first.version)
        #expect(published.configuration.requestors.first?.name == "Evening News")
        #expect(first.applications.first?.softwareIDs.count == 1)
        #expect(published.configuration.applications.map(\.softwareIDs) == first.applications.map(\.softwareIDs))
    }

    @Test("a broken file keeps the old version, and a corrected one is taken in")
    func brokenFileKeepsOldVersion() async throws {
        let world = try World()
        let keeper = world.keeper(try world.store())
        let published = try PublishedCatalogue(try await keeper.load())
        let first = published.configuration
        try world.write("{", to: "catalogue.json")
        await keeper.reloadIfChanged(into: published)
        #expect(published.configuration == first)
        try world.replace(#""name": "News", "#, with: #""name": "Late News", "#)
        await keeper.reloadIfChanged(into: published)
        #expect(published.configuration.requestors.first?.name == "Late News")
    }

    @Test("a new certificate behind the same file name is a new version")
    func certificateChangeIsSeen() async throws {
        let world = try World()
        let keeper = world.keeper(try world.store())
        let published = try PublishedCatalogue(try await keeper.load())
        let first = published.configuration
        await keeper.reloadIfChanged(into: published)
        #expect(published.configuration == first)
        try world.write(try World.certificate(), to: "idp.crt")
        await keeper.reloadIfChanged(into: published)
        #expect(published.configuration.version > first.version)
        #expect(published.configuration.mvpds != first.mvpds)
    }

    @Test("a broken file at the start is refused with every problem")
    func refusesBrokenStart() async throws {
        let world = try World()
        try world.replace(#""authzTtl": 3600,"#, with: #""authzTtl": 1, "colour": "red","#)
        let keeper = world.keeper(try world.store())
        let refusal = await #expect(throws: CatalogueRefused.self) { try await keeper.load() }
        #expect(refusal?.problems.count == 2)
        #expect(refusal?.lines.count == 3)
        #expect(refusal?.lines.first?.contains("catalogue.json") == true)
    }

    @Test("other keys for software statements are a new version")
    func keysAreContent() async throws {
        let world = try World()
        let store = try world.store()
        let first = try await world.keeper(store, keys: "one").load()
        let second = try await world.keeper(store, keys: "two").load()
        #expect(second.version == first.version + 1)
        #expect(second.statementKeys == "two")
    }
}
