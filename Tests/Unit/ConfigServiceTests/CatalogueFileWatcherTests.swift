@testable import ConfigService
import CatalogueFiles
import CatalogueSamples
import Contracts
import Faults
import Foundation
import Storage
import Synchronization
import Testing
import Tokens

@Suite("Versions of the catalogue", .eachEngine)
struct CatalogueFileWatcherTests {
    @Test("the first version of a store is not below the seconds since 1970, so that no number is used again")
    func firstVersion() async throws {
        let world = try CatalogueFolder()
        let configuration = try await world.watcher(world.store()).load().configuration
        #expect(configuration.version == UInt64(CatalogueFolder.now.seconds))
        #expect(configuration.changedAtMilliseconds == UInt64(CatalogueFolder.now.milliseconds))
    }

    @Test("the same content keeps its version, also after a restart")
    func sameContentSameVersion() async throws {
        let world = try CatalogueFolder()
        let store = try world.store()
        let first = try await world.watcher(store).load().configuration
        await store.close()
        world.clock.advance(by: .seconds(100))
        try world.write(CatalogueFolder.small + "\n\n", to: "catalogue.json")
        let second = try await world.watcher(try world.store()).load().configuration
        #expect(second == first)
    }

    @Test("changed content is a new version with the same software ids")
    func changedContentIsNewVersion() async throws {
        let world = try CatalogueFolder()
        let watcher = world.watcher(try world.store())
        let published = PublishedCatalogue(try await watcher.load())
        let first = published.configuration
        try world.replace(#""name": "News", "#, with: #""name": "Evening News", "#)
        await watcher.reload(into: published)
        #expect(published.configuration.version > first.version)
        #expect(published.configuration.requestors.first?.name == "Evening News")
        #expect(first.applications.first?.softwareIDs.count == 1)
        #expect(published.configuration.applications.map(\.softwareIDs) == first.applications.map(\.softwareIDs))
    }

    @Test("a broken file keeps the old version, and a corrected one is taken in")
    func brokenFileKeepsOldVersion() async throws {
        let world = try CatalogueFolder()
        let watcher = world.watcher(try world.store())
        let published = PublishedCatalogue(try await watcher.load())
        let first = published.configuration
        try world.write("{", to: "catalogue.json")
        await watcher.reloadIfChanged(into: published)
        #expect(published.configuration == first)
        try world.replace(#""name": "News", "#, with: #""name": "Late News", "#)
        await watcher.reloadIfChanged(into: published)
        #expect(published.configuration.requestors.first?.name == "Late News")
    }

    @Test("a file that has not changed is not read again")
    func readsOnce() async throws {
        final class Reads: Sendable { let count = Mutex(0) }
        let (world, reads) = (try CatalogueFolder(), Reads())
        let keys: @Sendable () -> [JSONWebKey] = {
            reads.count.withLock { $0 += 1 }
            return CatalogueFolder.noKeys
        }
        let watcher = CatalogueFileWatcher(
            file: world.file, store: CatalogueStore(try world.store()), statementKeys: keys, clock: world.clock, logger: CatalogueFolder.silent)
        let published = PublishedCatalogue(try await watcher.load())
        let before = reads.count.withLock { $0 }
        await watcher.reloadIfChanged(into: published)
        #expect(reads.count.withLock { $0 } == before)
        try world.write(CatalogueFolder.small + "\n", to: "catalogue.json")
        await watcher.reloadIfChanged(into: published)
        #expect(reads.count.withLock { $0 } > before)
    }

    @Test("a new certificate behind the same file name is a new version")
    func certificateChangeIsSeen() async throws {
        let world = try CatalogueFolder()
        let watcher = world.watcher(try world.store())
        let published = PublishedCatalogue(try await watcher.load())
        let first = published.configuration
        await watcher.reloadIfChanged(into: published)
        #expect(published.configuration == first)
        try world.write(try CatalogueFolder.certificate(), to: "idp.crt")
        await watcher.reloadIfChanged(into: published)
        #expect(published.configuration.version > first.version)
        #expect(published.configuration.mvpds != first.mvpds)
    }

    @Test("a broken file at the start is refused with every problem")
    func refusesBrokenStart() async throws {
        let world = try CatalogueFolder()
        try world.replace(#""authzTtl": 3600,"#, with: #""authzTtl": 1, "colour": "red","#)
        let watcher = world.watcher(try world.store())
        let refusal = await #expect(throws: CatalogueRejection.self) { try await watcher.load() }
        #expect(refusal?.problems.count == 2)
        #expect(refusal?.lines.count == 3)
        #expect(refusal?.lines.first?.contains("catalogue.json") == true)
    }

    @Test("what is published is stored: a copy serves it as it is, also what it does not know of it, and does not publish it again")
    func storedContentIsServed() async throws {
        let world = try CatalogueFolder()
        let first = try world.store()
        let second = try world.store()
        let published = try await world.watcher(first).load().configuration
        #expect(!published.storeID.isEmpty)
        // A field of a later release, as its encoder would write it: number 4000, of type text.
        let later: [UInt8] = [0x82, 0xfa, 0x01, 0x03] + Array("new".utf8)
        try await first.write { database in
            let content = try #require(try database.value("SELECT content FROM published") as [UInt8]?)
            try database.run("UPDATE published SET content = ?", [content + later])
        }
        for store in [first, second] {
            let edition = try await world.watcher(store).load()
            #expect(edition.configuration == published)
            #expect(Array(edition.encoded.suffix(later.count)) == later)
            let catalogue = PublishedCatalogue(edition)
            var items = catalogue.subscribe(knownVersion: 0) { $0.encoded }.makeAsyncIterator()
            #expect(try await items.next().map { Array($0.suffix(later.count)) } == later, "watchers get the same octets")
            // A change by either copy is one version for both.
            let publisher = CataloguePublisher(
                store: CatalogueStore(store), published: catalogue, statementKeys: { CatalogueFolder.noKeys }, clock: world.clock)
            try await publisher.change { _ in }
            #expect(catalogue.configuration.version == published.version)
        }
        await first.close()
        await second.close()
    }

    @Test("what a release left behind that does not know the stored content is published anew, once")
    func olderReleasesAreNoticed() async throws {
        let world = try CatalogueFolder()
        let store = try world.store()
        let first = try await world.watcher(store).load().configuration
        try await store.write { try $0.run("UPDATE published SET version = version + 5, content_sha256 = 'of an older release'") }
        let second = try await world.watcher(store).load().configuration
        #expect(second.version == first.version + 6)
        #expect(try await world.watcher(store).load().configuration == second)
        #expect(second.storeID == first.storeID)
    }

    @Test("a reader that knows more publishes once what an older one read, and the older one leaves it")
    func readersThatKnowMore() async throws {
        let world = try CatalogueFolder()
        let store = try world.store()
        let first = try await world.watcher(store).load().configuration
        try await store.write { try $0.run("UPDATE published SET reading = reading - 1") }
        let second = try await world.watcher(store).load().configuration
        #expect(second.version == first.version + 1)
        try await store.write { try $0.run("UPDATE published SET reading = reading + 7") }
        #expect(try await world.watcher(store).load().configuration == second)
    }

    @Test("a copy without a file serves what there is, and nothing before; an operator can bring a catalogue to it")
    func withoutFile() async throws {
        let world = try CatalogueFolder()
        let store = try world.store()
        func watcher() -> CatalogueFileWatcher {
            CatalogueFileWatcher(
                file: nil, store: CatalogueStore(store), statementKeys: { CatalogueFolder.noKeys }, clock: world.clock, logger: CatalogueFolder.silent
            )
        }
        let published = PublishedCatalogue(try await watcher().load())
        #expect(published.configuration.version == 0)
        #expect(throws: Fault.self) { try published.encoded() }
        let follower = CatalogueFollower(store: CatalogueStore(store), published: published, logger: CatalogueFolder.silent)
        await follower.ask()
        #expect(follower.lacking?.contains("config.catalogue") == true)
        var versions = published.subscribe(knownVersion: 7) { $0.configuration.version }.makeAsyncIterator()
        let publisher = CataloguePublisher(
            store: CatalogueStore(store), published: published, statementKeys: { CatalogueFolder.noKeys }, clock: world.clock)
        try await publisher.publishStatementKeys()
        let first = try await world.watcher(try world.store()).load().configuration
        await follower.ask()
        #expect(published.configuration == first && follower.lacking == nil)
        #expect(try await versions.next() == first.version)
        #expect(try await watcher().load().configuration == first)
        await watcher().reload(into: published)
        #expect(published.configuration == first)
    }
}
