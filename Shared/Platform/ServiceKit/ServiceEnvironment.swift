public import Catalogue
public import Clocks
internal import Contracts
public import ContractRuntime
internal import Foundation
public import Logging
public import OutboundHttp
public import Rpc
public import ServiceLifecycle
public import Storage
internal import StoragePostgres
internal import StorageSqlite
internal import Synchronization

/// What a program gets to build its service from: settings, files, peers, stores; and where it hands over what is to run.
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
    /// What is removed once it is over, for a program that only says what its store is; `nil`: it works.
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
        outbound = try document.common.outbound.resolved(files)
        parts = try ServiceParts(program: name, common: document.common, files: files, logger: logger)
    }

    /// Path of a file in the data folder.
    public func dataFile(_ file: String) -> String { files.path(common.data) + "/" + file }

    /// How large a store may become where the settings do not say, in MiB.
    private static var storeMebibytes: Int { 65_536 }

    /// Opens the service's store: `<name>.sqlite` in the data folder, or what the settings say; it is flushed and closed when the program stops. A program
    /// that only says what its store is ends here: what comes before must have no effect.
    /// - Parameters:
    ///   - migrations: Steps of its schema in SQLite's words.
    ///   - postgres: The same tables in PostgreSQL's; `nil`: they are not kept there.
    /// - Throws: `StartFailure` naming the file, or the server.
    public func openStore(migrations: [Migration], postgres: [Migration]? = nil) throws(StartFailure) -> Store {
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
        do throws(StoreError) {
            if isFile { limits.pages = (common.limits.storeMebibytes ?? Self.storeMebibytes) * 256 }
            let store =
                if isFile { try Store(file: dataFile(name + ".sqlite"), name: name, migrations: migrations, limits: limits) } else {
                    try openServer(postgres, limits)
                }
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
            parts.add(store: store)
            let watch = SchemaWatch(store: store, logger: logger)
            background("schema") { try await watch.run() }
            readiness.require("schema") { watch.lacking }
            readiness.require("storage") { store.trouble }
            return store
        } catch {
            throw StartFailure("\(error) (settings: \(files.settingsFile), key \(isFile ? "data" : "storage"))")
        }
    }

    /// - Returns: Octets; `nil`: there is no such file.
    private static func size(of file: String) -> Int? { (try? FileManager.default.attributesOfItem(atPath: file))?[.size] as? Int }

    private func openServer(_ steps: [Migration]?, _ limits: StoreLimits) throws(StoreError) -> Store {
        guard let steps else { throw StoreError(file: "postgres", reason: "keeps no store of \(name) yet; leave \"engine\" out") }
        // For what lies beside the store: keys, and the last catalogue.
        let folder = files.path(common.data)
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw StoreError(file: folder, reason: "cannot be created; \(FileTrouble.advice(errno))")
        }
        let store = try Store(postgres: PostgresOptions(common.storage, program: name, files: files), name: name, steps: steps, limits: limits)
        logger.info("store.opened", metadata: ["place": "\(store.place)"])
        return store
    }

    /// Sweeps expired rows of the store for as long as the program runs.
    public func sweep(_ store: Store, _ sweeps: [Sweep]) {
        let sweeper = Sweeper(store: store, name: name, sweeps: sweeps, clock: clock, logger: logger)
        background("sweeper") { await sweeper.run() }
    }

    /// A caller for the peer of that name in the settings; connects by itself.
    /// - Throws: `StartFailure` when the settings have no such peer, or the TLS files are unusable.
    public func peer(_ peer: String) throws(StartFailure) -> any RpcCaller { try parts.peer(peer) }

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
    /// - Parameters:
    ///   - files: Absolute paths.
    ///   - name: Of the keys, in the log events `NAME.reloaded`, `NAME.reload_refused`, `NAME.advanced`, `NAME.not_advanced`.
    ///   - take: Takes in what the files hold; returns the name of the key that signs. What it throws is the reason in the log, and nothing has changed.
    ///   - advance: Lets a key take over whose time has come; returns its name, `nil` when nothing changed. What it throws is logged, and it is tried again.
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
