internal import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Cryptography
public import Faults
internal import Foundation
public import Logging
internal import Synchronization

/// The catalogue of a service: the last snapshot on disk at first, then each version that `config` publishes.
///
/// While `config` is unreachable, the last version stays in use; only a service that never had one answers `unavailable`.
public final class CatalogueFeed: CatalogueSource {
    /// A feed waits this long after a broken subscription, by how many broke in a row: 50 ms doubling to 1 s, half of it random.
    public typealias Pause = @Sendable (_ failures: Int) async throws -> Void

    private struct State {
        var catalogue: Catalogue?
        var isFollowing = false
    }

    private let state = Mutex(State())
    private let config: any Config
    private let snapshot: CatalogueSnapshot
    private let pause: Pause
    private let logger: Logger
    private let version = Gauge(label: "boxoffice_catalogue_version")
    private let following = Gauge(label: "boxoffice_catalogue_following")
    private let failures = Counter(label: "boxoffice_catalogue_feed_failures_total")

    /// Loads the snapshot; a damaged one is logged and not used.
    /// - Parameters:
    ///   - config: Publishes the versions to follow.
    ///   - snapshot: Where the last version is kept.
    ///   - logger: Takes the events of the feed.
    ///   - pause: How long to wait after a broken subscription.
    public init(config: any Config, snapshot: CatalogueSnapshot, logger: Logger, pause: @escaping Pause = CatalogueFeed.backoff) {
        self.config = config
        self.snapshot = snapshot
        self.pause = pause
        self.logger = logger
        do throws(CatalogueSnapshot.Failure) {
            if let configuration = try snapshot.load() { adopt(configuration, from: "snapshot") }
        } catch {
            logger.warning("catalogue.snapshot_refused", metadata: ["reason": "\(error)"])
        }
    }

    public func current() throws(Fault) -> Catalogue {
        if let catalogue = state.withLock({ $0.catalogue }) { return catalogue }
        throw Fault(.unavailable, "The service has no catalogue yet.", retryAfter: .seconds(1))
    }

    /// True while subscribed to `config`; false while the last version is used without a subscription.
    public var isFollowing: Bool { state.withLock { $0.isFollowing } }

    /// Follows `config` until the task is cancelled.
    public func run() async {
        var failed = 0
        while !Task.isCancelled {
            do {
                try await follow { failed = 0 }
                logger.info("catalogue.feed_ended")
            } catch {
                if Task.isCancelled { break }
                failures.increment()
                report(error, failed: failed)
            }
            note(isFollowing: false)
            failed += 1
            do { try await pause(failed) } catch { break }
        }
        note(isFollowing: false)
    }

    /// The default pause.
    public static let backoff: Pause = { failures in
        let longest = min(1000, 50 << min(failures - 1, 10))
        try await Task.sleep(for: .milliseconds(Int.random(in: longest / 2...longest)))
    }

    private func follow(onItem: () -> Void) async throws {
        let known = state.withLock { $0.catalogue?.version ?? 0 }
        let stream = try await config.watchConfiguration(WatchConfigurationRequest(knownVersion: known), context: CallContext())
        note(isFollowing: true)
        for try await configuration in stream {
            onItem()
            guard isNews(configuration) else { continue }
            adopt(configuration, from: "config")
            keep(configuration)
        }
    }

    // A copy of `config` that lags behind must not take anything back: within one store only newer versions count. Another store numbers its versions
    // independently.
    private func isNews(_ configuration: Configuration) -> Bool {
        guard let known = state.withLock({ $0.catalogue }) else { return true }
        if configuration.version > known.version { return true }
        // A store with an id differs from a store without one, for example after a rollback to an older program.
        let isAnotherStore = !configuration.storeID.isEmpty && configuration.storeID != known.storeID
        if !isAnotherStore, configuration.version < known.version {
            logger.info("catalogue.older_ignored", metadata: ["version": "\(configuration.version)", "known": "\(known.version)"])
        }
        return isAnotherStore
    }

    private func adopt(_ configuration: Configuration, from origin: String) {
        let catalogue = Catalogue(configuration)
        let old = state.withLock { state in
            defer { state.catalogue = catalogue }
            return state.catalogue?.version
        }
        version.record(Double(configuration.version))
        var fields: Logger.Metadata = ["version": "\(configuration.version)", "origin": "\(origin)"]
        if let old { fields["replaced"] = "\(old)" }
        logger.info("catalogue.adopted", metadata: fields)
    }

    private func keep(_ configuration: Configuration) {
        do throws(CatalogueSnapshot.Failure) {
            try snapshot.save(configuration)
        } catch {
            logger.warning("catalogue.snapshot_not_kept", metadata: ["reason": "\(error)"])
        }
    }

    private func note(isFollowing: Bool) {
        state.withLock { $0.isFollowing = isFollowing }
        following.record(isFollowing ? 1 : 0)
    }

    /// Only the first failure in a row is logged; later ones are counted.
    private func report(_ error: any Error, failed: Int) {
        let level: Logger.Level = failed == 0 ? .warning : .debug
        logger.log(level: level, "catalogue.feed_broken", metadata: ["error": "\(error)"])
    }
}

/// A service reads the current catalogue here; reading never waits.
public protocol CatalogueSource: Sendable {
    /// - Throws: `unavailable` while no version has ever been received.
    func current() throws(Fault) -> Catalogue
}

/// A catalogue that never changes.
public struct FixedCatalogue: CatalogueSource {
    private let catalogue: Catalogue

    public init(_ configuration: Configuration) { catalogue = Catalogue(configuration) }

    public func current() throws(Fault) -> Catalogue { catalogue }
}

/// The last configuration that a service received, in a file, so that it can start while `config` is unreachable.
///
/// One line `boxoffice-catalogue 1 <SHA-256 of the rest>`, then the encoded `Configuration`.
public struct CatalogueSnapshot: Sendable {
    /// A file cannot be used for this reason.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    private static let prefix = "boxoffice-catalogue 1 "
    public let file: String

    /// - Parameter file: Path of the file; it need not exist yet.
    public init(file: String) { self.file = file }

    /// - Returns: `nil` when there is no file yet.
    /// - Throws: `Failure` when the file cannot be read, is cut off or was changed.
    public func load() throws(Failure) -> Configuration? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        do {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
            guard let end = bytes.firstIndex(of: 0x0a) else { throw Failure(description: "\(file) is no catalogue snapshot") }
            let content = Array(bytes[(end + 1)...])
            guard String(decoding: bytes[..<end], as: UTF8.self) == Self.prefix + Hex.encode(SHA256.hash(content)) else {
                throw Failure(description: "\(file) is damaged: its checksum does not fit")
            }
            return try Configuration(serialized: content)
        } catch let error as Failure {
            throw error
        } catch {
            throw Failure(description: "\(file) cannot be read: \(error)")
        }
    }

    /// Replaces the file in one step; a reader sees the old or the new one, also after a crash.
    /// - Throws: `Failure` when it cannot be written; the old file stays.
    public func save(_ configuration: Configuration) throws(Failure) {
        // Copies of a program may share the folder.
        let draft = "\(file).\(UUID().uuidString).new"
        do {
            let content = try configuration.serialized()
            let header = Array((Self.prefix + Hex.encode(SHA256.hash(content)) + "\n").utf8)
            try write(Data(header + content), to: draft)
            guard rename(draft, file) == 0 else { throw Failure(description: "\(file) cannot be replaced: errno \(errno)") }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error as? Failure ?? Failure(description: "\(file) cannot be written: \(error)")
        }
    }

    private func write(_ data: Data, to path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw Failure(description: "\(path) cannot be created")
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
        try handle.synchronize()
    }
}
