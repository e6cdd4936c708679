import Catalogue
import Contracts
import Faults
import Foundation
import Logging
import Testing

@Suite("Catalogue feed")
struct CatalogueFeedTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    private func feed(_ config: ScriptedConfig, _ folder: Folder) -> CatalogueFeed {
        let snapshot = CatalogueSnapshot(file: folder.file("catalogue.snapshot"))
        return CatalogueFeed(config: config, snapshot: snapshot, logger: logger, pause: { _ in await Task.yield() })
    }

    /// Runs the feed while the body runs.
    private func following(_ feed: CatalogueFeed, _ body: () async throws -> Void) async throws {
        let running = Task { await feed.run() }
        defer { running.cancel() }
        try await body()
    }

    @Test("before the first version the catalogue is unavailable, not empty")
    func unavailableAtFirst() throws {
        let folder = try Folder()
        let feed = feed(ScriptedConfig(), folder)
        let fault = #expect(throws: Fault.self) { try feed.current() }
        #expect(fault?.code == .unavailable)
        #expect(fault?.retryAfter != nil)
    }

    @Test("each version that config publishes is served")
    func followsVersions() async throws {
        let folder = try Folder()
        let config = ScriptedConfig()
        config.comeBack()
        let feed = feed(config, folder)
        try await following(feed) {
            try await eventually("subscribed") { feed.isFollowing }
            config.publish(configuration(version: 7))
            try await eventually("version 7") { (try? feed.current().version) == 7 }
            config.publish(configuration(version: 8, requestor: "BRAVO"))
            try await eventually("version 8") { (try? feed.current().requestor("BRAVO")) != nil }
        }
    }

    @Test("a copy of config that is behind takes nothing back; a store that began anew counts from its own numbers")
    func takesNothingBack() async throws {
        let folder = try Folder()
        let config = ScriptedConfig()
        config.comeBack()
        let feed = feed(config, folder)
        func version(_ number: UInt64, of store: String) -> Configuration {
            var configuration = configuration(version: number)
            configuration.storeID = store
            return configuration
        }
        try await following(feed) {
            try await eventually("subscribed") { feed.isFollowing }
            config.publish(version(20, of: ""))
            try await eventually("a replacement's version") { (try? feed.current().version) == 20 }
            config.publish(version(8, of: "a"))
            try await eventually("version 8") { (try? feed.current().version) == 8 }
            config.publish(version(7, of: "a"))
            config.publish(version(6, of: ""))
            config.publish(version(9, of: "a"))
            try await eventually("version 9") { (try? feed.current().version) == 9 }
            config.publish(version(3, of: "b"))
            try await eventually("the store that began anew") { (try? feed.current().version) == 3 }
            // The ignored version was not kept either. A version is used before it is kept.
            try await eventually("kept") { (try? CatalogueSnapshot(file: folder.file("catalogue.snapshot")).load())?.storeID == "b" }
        }
    }

    @Test("while config is away the last version is served, and after its return the newest")
    func survivesAbsence() async throws {
        let folder = try Folder()
        let config = ScriptedConfig()
        config.comeBack()
        let feed = feed(config, folder)
        try await following(feed) {
            try await eventually("subscribed") { feed.isFollowing }
            config.publish(configuration(version: 7))
            try await eventually("version 7") { (try? feed.current().version) == 7 }
            config.goAway()
            try await eventually("on its own") { !feed.isFollowing }
            #expect(try feed.current().version == 7)
            config.comeBack()
            try await eventually("subscribed again") { config.known == [0, 7] && feed.isFollowing }
            config.publish(configuration(version: 9))
            try await eventually("version 9") { (try? feed.current().version) == 9 }
        }
    }

    @Test("a restarted service serves the last version before config answers")
    func servesSnapshotAfterRestart() async throws {
        let folder = try Folder()
        let config = ScriptedConfig()
        config.comeBack()
        let first = feed(config, folder)
        try await following(first) {
            try await eventually("subscribed") { first.isFollowing }
            config.publish(configuration(version: 7))
            try await eventually("kept") { FileManager.default.fileExists(atPath: folder.file("catalogue.snapshot")) }
        }
        config.goAway()
        let second = feed(config, folder)
        #expect(try second.current().version == 7)
        #expect(try second.current().requestor("ACME1") != nil)
    }

    @Test("a damaged snapshot is refused, and the feed goes on without it", arguments: ["cut", "changed", "foreign", "empty"])
    func refusesDamagedSnapshot(damage: String) async throws {
        let folder = try Folder()
        let file = folder.file("catalogue.snapshot")
        try CatalogueSnapshot(file: file).save(configuration(version: 7))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
        switch damage {
        case "cut": bytes.removeLast()
        case "changed": bytes[bytes.count - 1] ^= 1
        case "foreign": bytes = Data("no snapshot at all\n".utf8)
        default: bytes = Data()
        }
        try bytes.write(to: URL(fileURLWithPath: file))

        let config = ScriptedConfig()
        config.comeBack()
        let feed = feed(config, folder)
        #expect(throws: Fault.self) { try feed.current() }
        try await following(feed) {
            try await eventually("subscribed") { feed.isFollowing }
            config.publish(configuration(version: 8))
            try await eventually("version 8") { (try? feed.current().version) == 8 }
            try await eventually("kept again") { (try? CatalogueSnapshot(file: file).load()?.version) == 8 }
        }
    }

    @Test("a snapshot that cannot be written does not stop the feed")
    func servesWithoutSnapshot() async throws {
        let folder = try Folder()
        _ = FileManager.default.createFile(atPath: folder.file("occupied"), contents: nil)
        let config = ScriptedConfig()
        config.comeBack()
        let snapshot = CatalogueSnapshot(file: folder.file("occupied/catalogue.snapshot"))
        let feed = CatalogueFeed(config: config, snapshot: snapshot, logger: logger, pause: { _ in await Task.yield() })
        try await following(feed) {
            try await eventually("subscribed") { feed.isFollowing }
            config.publish(configuration(version: 7))
            try await eventually("version 7") { (try? feed.current().version) == 7 }
        }
    }

    @Test("cancelling ends the feed, also while it waits to try again")
    func endsWhenCancelled() async throws {
        let folder = try Folder()
        let snapshot = CatalogueSnapshot(file: folder.file("catalogue.snapshot"))
        let feed = CatalogueFeed(
            config: ScriptedConfig(), snapshot: snapshot, logger: logger, pause: { _ in try await Task.sleep(for: .seconds(3600)) })
        let running = Task { await feed.run() }
        running.cancel()
        await running.value
        #expect(!feed.isFollowing)
    }
}
