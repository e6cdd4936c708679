public import Catalogue
public import Clocks
public import ContractRuntime
public import Contracts
internal import CoreMetrics
internal import Faults
internal import Foundation
public import Logging
public import OutboundHttp
public import Rpc
public import ServiceLifecycle
public import Storage
internal import StoragePostgres
internal import StorageSqlite
internal import Synchronization
public import UsageCounting

/// The means by which a program builds its service: settings, files, peers, stores. Here it also hands over what is to run.
///
/// Everything handed over starts together once the builder returns, and stops in the opposite order: listener, background work, peers,
/// stores, debug listener.
public final class ServiceEnvironment<Settings: Decodable & Sendable>: Sendable {
    /// `authentication`, for example.
    public let name: String
    /// The service's own settings.
    public let settings: Settings
    public let common: CommonSettings
    public let files: SettingsFiles
    public let logger: Logger
    public let clock: any WallClock
    public let metrics: PrometheusMetrics
    /// For every call to a server of another organisation.
    public let outbound: OutboundOptions
    public let readiness = Readiness()
    let parts: ServiceParts
    /// The wait of the start, for the store's server.
    let storeWait: StoreWait
    /// The sweeps of expired rows, for a program that only says what its store is; `nil`: it works.
    private let described: [Sweep]?
    /// `nil`: nothing is exported.
    let telemetry: TelemetryExport?

    init(
        name: String, document: SettingsDocument<Settings>, files: SettingsFiles, logger: Logger, clock: any WallClock,
        metrics: PrometheusMetrics, described: [Sweep]? = nil, telemetry: TelemetryExport? = nil
    ) throws(StartFailure) {
        self.described = described
        self.telemetry = telemetry
        self.name = name
        self.settings = document.specific
        self.common = document.common
        self.files = files
        self.logger = logger
        self.clock = clock
        self.metrics = metrics
        storeWait = StoreWait(logger: logger)
        outbound = try document.common.outbound.resolved(files)
        parts = try ServiceParts(program: name, common: document.common, files: files, logger: logger)
        metrics.beforeReading { [readiness, parts] metrics in
            readiness.record(in: metrics)
            for (peer, count) in parts.servingCopies {
                metrics.makeMeter(label: "boxoffice_peer_serving_copies", dimensions: [("peer", peer)]).set(Int64(count))
            }
        }
    }

    /// Path of a file in the data folder.
    public func dataFile(_ file: String) -> String { files.path(common.data) + "/" + file }

    /// How large a store may become where the settings do not say, in MiB.
    private static var storeMebibytes: Int { 65_536 }

    /// Opens the service's store: `<name>.sqlite` in the data folder, or what the settings say; it is flushed and closed when the program stops. A program
    /// that only says what its store is ends here: what comes before must have no effect.
    ///
    /// A server that is away, takes no writes, lets nobody in or commits nothing is waited for without end, and the readiness says so.
    /// - Parameters:
    ///   - migrations: Steps of its schema in SQLite's words.
    ///   - postgres: The same tables in PostgreSQL's; `nil`: they are not kept there.
    /// - Throws: `StartFailure` naming the file, or the server, for what does not pass by itself; `CancellationError`.
    public func openStore(migrations: [Migration], postgres: [Migration]? = nil) async throws -> Store {
        if let described {
            StoreDescription(
                service: name, data: files.path(common.data), file: dataFile(name + ".sqlite"),
                server: common.storage.engine == .sqlite ? nil : StoreDescription.Server(common.storage, program: name, files: files),
                sqlite: migrations, postgres: postgres, sweeps: described
            ).printAndEnd()
        }
        var limits = StoreLimits()
        if let waiting = common.limits.waitingWrites { limits.waitingWrites = waiting }
        let isFile = common.storage.engine == .sqlite
        let former = isFile ? Self.size(of: dataFile(name + ".sqlite")) : nil
        if isFile { limits.pages = (common.limits.storeMebibytes ?? Self.storeMebibytes) * 256 }
        readiness.require("storage") { [storeWait] in storeWait.lacking }
        do {
            let store = try await isFile ? openFile(migrations, limits) : openServer(postgres, limits)
            storeWait.follow(store)
            if former == 0 {
                logger.warning(
                    "store.was_empty",
                    metadata: [
                        "place": "\(store.place)",
                        "reason": "the file was there without content, and the store begins anew; where it had some, stop and restore a backup",
                    ])
            } else if isFile, former == nil {
                logger.info("store.created", metadata: ["place": "\(store.place)"])
            }
            tell(store.opening, of: store.place)
            parts.add(store: store)
            let watch = SchemaWatch(store: store, logger: logger)
            background("schema") { try await watch.run() }
            readiness.require("schema") { watch.lacking }
            // Its rows can be read: callers that only read are served.
            let refusals = RefusalWatch(store: store, logger: logger)
            background("store-refusals") { try await refusals.run() }
            readiness.note("storage") { refusals.lacking }
            return store
        } catch let error as StoreError {
            throw StartFailure("\(error) (settings: \(files.settingsFile), key \(isFile ? "data" : "storage"))")
        }
    }

    /// Says that a file was not closed, what came back of it, and whether it was looked at as a whole.
    private func tell(_ opening: StoreOpening, of place: String) {
        guard opening.recoveredFrames > 0 else { return }
        logger.notice(
            "store.recovered",
            metadata: [
                "place": "\(place)", "frames": "\(opening.recoveredFrames)",
                "check": "\(opening.isCheckFinished ? "finished" : "not finished within 1 s: run boxoffice store check")",
            ])
    }

    /// Does what the start needs of its store, again and again while the store's server is away, as `openStore` waits for it.
    /// - Throws: The error of the body that does not pass by itself; `CancellationError`.
    public func ask<Value>(_ store: Store, _ body: () async throws -> Value) async throws -> Value { try await storeWait.ask(store, body) }

    /// - Returns: Octets; `nil`: there is no such file.
    private static func size(of file: String) -> Int? { (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int }

    /// Returns where it blocks nobody: a file may have much to check or to change.
    private func openFile(_ steps: [Migration], _ limits: StoreLimits) async throws -> Store {
        try await FirstResult.ofThread { [file = dataFile(name + ".sqlite"), name] in
            try Store(file: file, name: name, migrations: steps, limits: limits)
        }
    }

    private func openServer(_ steps: [Migration]?, _ limits: StoreLimits) async throws -> Store {
        guard let steps else { throw StoreError(file: "postgres", reason: "keeps no store of \(name) yet; leave \"engine\" out") }
        // For what lies beside the store: keys, and the last catalogue.
        let folder = files.path(common.data)
        if let code = FileTrouble.makeFolder(folder) { throw StoreError(file: folder, reason: "cannot be created; \(FileTrouble.advice(code))") }
        if let tls = common.storage.tls { tellEnds(of: ["database authority": tls.trustAnchors, "database client": tls.certificate]) }
        let options = PostgresOptions(common.storage, program: name, files: files)
        let store = try await storeWait.open(at: options.place) { [name] in
            try Store(postgres: options, name: name, steps: steps, limits: limits)
        }
        logger.info("store.opened", metadata: ["place": "\(store.place)"])
        return store
    }

    /// Sweeps expired rows of the store for as long as the program runs.
    public func sweep(_ store: Store, _ sweeps: [Sweep]) {
        let sweeper = Sweeper(store: store, name: name, sweeps: sweeps, clock: clock, logger: logger)
        background("sweeper") { await sweeper.run() }
    }

    /// A caller for the peer of that name in the settings; connects by itself. Without a copy of it that serves, the program is ready and says so.
    /// - Throws: `StartFailure` when the settings have no such peer, or the TLS files are unusable.
    public func peer(_ peer: String) throws(StartFailure) -> any RpcCaller {
        let client = try parts.peer(peer)
        readiness.note(peer) { [weak client] in client?.servingCopies == 0 ? "no copy serves" : nil }
        return client
    }

    /// The certificates of this program that have ended or end within 60 days, at most 10, as its files said within the last hour.
    public var certificatesThatEnd: [CertificateEnd] { parts.certificatesThatEnd }

    /// The copies of the peer of that name: how each is, and calls to each.
    /// - Throws: As `peer`.
    public func copies(of peer: String) throws(StartFailure) -> CopiesOfPeer {
        let client = try parts.peer(peer)
        return CopiesOfPeer { client.copies }
    }

    /// The catalogue as the peer `config` publishes it, with the last snapshot in the data folder; part of the readiness.
    /// - Throws: As `peer`.
    public func catalogue() throws(StartFailure) -> CatalogueFeed {
        let snapshot = CatalogueSnapshot(file: dataFile("catalogue.snapshot"))
        let feed = CatalogueFeed(config: ConfigClient(caller: try peer("config")), snapshot: snapshot, logger: logger)
        background("catalogue") { await feed.run() }
        readiness.require("catalogue") {
            do { _ = try feed.current() } catch { return "no version received from config yet" }
            return nil
        }
        return feed
    }

    /// Adds operations to the RPC listener: `environment.offer { registry in ConfigMethods.register(service, in: &registry) }`.
    public func offer(_ register: (inout RpcServices) -> Void) { parts.offer(register) }

    /// Runs beside the service and is cancelled when the program stops; when it throws, the program ends with status 1.
    public func background(_ name: String, _ work: @escaping @Sendable () async throws -> Void) {
        parts.add(background: BackgroundWork(name: name, work: work))
    }

    /// Anything else with a life of its own, for example an HTTP server.
    public func run(_ service: any Service) { parts.add(service: service) }

    /// Says that a listener of the service's own drains when the program stops, and for how long at most. The program's stop may take that much longer.
    public func drains(within time: Duration) { parts.add(drain: time) }

    /// Called on SIGHUP.
    public func onReload(_ reload: @escaping @Sendable () async -> Void) { parts.add(reload: reload) }

    /// Called on SIGHUP, and soon after one of the files has changed.
    /// - Parameters:
    ///   - files: Absolute paths.
    ///   - interval: How often they are looked at.
    public func onChange(of files: [String], every interval: Duration = .seconds(2), _ reload: @escaping @Sendable () async -> Void) {
        onReload(reload)
        let watch = FileWatch(files)
        background("file-watch") {
            var watch = watch
            while true {
                try await Task.sleep(for: interval)
                if watch.hasChanged() { await reload() }
            }
        }
    }

    /// Keys that change while the program works: their files are looked at as by `onChange`, and every few seconds a key may take over.
    /// - Parameters: - files: Absolute paths. - name: Of the keys, in the log events `NAME.reloaded`, `NAME.reload_refused`, `NAME.advanced`,
    ///   `NAME.not_advanced`. - take: Takes in what the files hold; returns the name of the key that signs. What it throws is the reason in the log,
    ///   and nothing has changed. - advance: Lets a key take over whose time has come; returns its name, `nil` when nothing changed. An error that it
    ///   throws is logged, and it is tried again.
    public func onKeyChange(
        of files: [String], named name: String, take: @escaping @Sendable () async throws -> String,
        advance: @escaping @Sendable () async throws -> String?
    ) {
        let logger = logger
        onChange(of: files) {
            do {
                let signing = try await take()
                logger.info("\(name).reloaded", metadata: ["signing": "\(signing)"])
            } catch {
                logger.error("\(name).reload_refused", metadata: ["reason": "\(error)"])
            }
        }
        background("\(name)") {
            while true {
                try await Task.sleep(for: .seconds(5))
                do {
                    guard let signing = try await advance() else { continue }
                    logger.info("\(name).advanced", metadata: ["signing": "\(signing)"])
                } catch {
                    logger.error("\(name).not_advanced", metadata: ["reason": "\(error)"])
                }
            }
        }
    }

    /// Called first when the program is to stop, while calls are still answered: for ending streams that would not end by themselves.
    public func onStopping(_ farewell: @escaping @Sendable () async -> Void) { parts.add(farewell: farewell) }

    /// Called when everything else has stopped, before the stores close.
    public func onStop(_ stop: @escaping @Sendable () async -> Void) { parts.add(stop: stop) }
}

extension ServiceEnvironment {
    /// Counts events for the reports of usage, and brings them to the peer `config` for as long as the program runs.
    /// - Throws: As `peer`.
    public func usageCounter() throws(StartFailure) -> UsageCounter {
        let counter = UsageCounter(clock: clock)
        let pusher = UsagePusher(counter, to: UsageClient(caller: try peer("config")), dataCenter: common.dataCenter, logger: logger)
        background("usage") { await pusher.run() }
        return counter
    }
}

extension ServiceEnvironment {
    /// Refuses to start with a secret key that no copy of the service has had with this store. It would open nothing of theirs, or make other ids.
    /// - Throws: `StartFailure` naming the settings, and what to do; `CancellationError`.
    public func requireKnown(_ keys: [KeyFingerprint], in store: Store) async throws {
        let unknown: [String]
        do {
            unknown = try await ask(store) { try await store.unknownKeys(keys) }
        } catch let error as Fault {
            throw StartFailure("store \(store.place): keys cannot be compared with those of other copies (\(error.cause ?? error))")
        }
        guard !unknown.isEmpty else { return }
        throw StartFailure(
            lines: unknown.map { name in
                """
                \(name) names a key that no copy has used with the store \(store.place); copy the file from a host where the service runs. Was it changed on purpose, name \
                the former one in the setting for older keys; where there is none, run DELETE FROM key_check WHERE name = '\(name)'
                """
            })
    }
}

/// The copies of a peer, which come and go.
public struct CopiesOfPeer: Sendable {
    private let look: @Sendable () -> [PeerCopy]

    init(_ look: @escaping @Sendable () -> [PeerCopy]) { self.look = look }

    public var now: [PeerCopy] { look() }
}
