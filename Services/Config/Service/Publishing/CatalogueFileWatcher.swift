#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Catalogue
public import CatalogueFiles
public import Clocks
internal import Contracts
internal import CoreMetrics
internal import Faults
public import Logging
internal import Synchronization
public import Tokens

/// Brings a catalogue file into the store and to the subscribers, and looks for changes of it. A copy without a file takes what others bring.
public final class CatalogueFileWatcher: Sendable {
    private let file: CatalogueFile?
    private let store: CatalogueStore
    private let statementKeys: @Sendable () -> [JSONWebKey]
    private let clock: any WallClock
    private let logger: Logger
    private let seen = Mutex<[String: FileVersion]>([:])
    /// The file's content at the last look, as a SHA-256.
    private let former = Mutex<String?>(nil)
    /// The digest of the file that was refused last.
    private let reported = Mutex("")
    private let version = Gauge(label: "boxoffice_config_catalogue_version")
    private let refused = Counter(label: "boxoffice_config_catalogue_refused_total")
    private let warnings = Gauge(label: "boxoffice_config_catalogue_warnings")
    private let intact = Gauge(label: "boxoffice_config_history_intact")

    /// - Parameters:
    ///   - file: `nil`: this copy has none.
    ///   - statementKeys: The keys that verify software statements, as this copy has them.
    public init(
        file: CatalogueFile?, store: CatalogueStore, statementKeys: @escaping @Sendable () -> [JSONWebKey], clock: any WallClock, logger: Logger
    ) {
        self.file = file
        self.store = store
        self.statementKeys = statementKeys
        self.clock = clock
        self.logger = logger
    }

    /// Reads the file; content that is not that of the last time becomes the newest version, otherwise the newest version stays, whoever
    /// pushed it. Content that changed beside pushed versions is reported with what it would change, and the newest version stays too.
    /// - Throws: `CatalogueRejection` with every problem of the file, or `Fault` of the store.
    ///
    /// Without a file it is what the store has; a store that has nothing yet gives version 0.
    public func load() async throws -> PublishedCatalogue.Edition {
        let edition =
            if let file { PublishedCatalogue.Edition(try await look(at: file, .looked(former: former.withLock { $0 })).publication) } else {
                try await stored()
            }
        warn(of: edition.configuration)
        return edition
    }

    /// Warns of parts that may stay as they are, and that somebody should change.
    private func warn(of configuration: Configuration) {
        let shared = configuration.mvpds.filter(\.sharesCallback).map(\.id)
        if !shared.isEmpty { logger.warning("catalogue.shared_callback", metadata: ["mvpds": "\(shared.joined(separator: ", "))"]) }
        let unconfirmed = configuration.requestors.filter(\.cannotConfirm).map(\.id)
        if !unconfirmed.isEmpty {
            logger.warning("catalogue.unconfirmed_sign_ins", metadata: ["requestors": "\(unconfirmed.joined(separator: ", "))"])
        }
    }

    private func stored() async throws(Fault) -> PublishedCatalogue.Edition {
        let keys = statementKeys()
        let publication = try await store.write(now: clock.now()) { ledger in
            try ledger.keepFormerCallbacks()
            return try ledger.newestVersion().map { _ in try ledger.publish(keys: keys) }
        }
        guard let publication else { return try PublishedCatalogue.Edition(Configuration()) }
        publication.tellEnded(logger)
        return PublishedCatalogue.Edition(publication)
    }

    /// Names the secrets' files about whose owner operators have to decide: entries of several named them before owners were kept. Once it also names
    /// those that an upgrade gave to the one programmer whose entries named them.
    public func tellOwnersOfSecrets() async {
        let owners = (try? await store.read(now: clock.now()) { try $0.fileOwners() }) ?? []
        for owner in owners where owner.isOpen {
            logger.warning("catalogue.secret_owner_open", metadata: ["reference": "\(owner.reference)", "advice": "boxoffice secret owner"])
        }
        for owner in (try? await store.write(now: clock.now()) { try $0.takeDerivedOwners() }) ?? [] {
            logger.warning(
                "catalogue.secret_owner_derived",
                metadata: ["reference": "\(owner.reference)", "programmer": "\(owner.programmer)", "advice": "boxoffice secret owner"])
        }
    }

    /// Takes in the file because an operator asks for it.
    /// - Parameter isForced: True when it may replace pushed versions.
    /// - Returns: The result; `nil`: this copy has no file.
    /// - Throws: As `load`.
    func importFile(isForced: Bool) async throws -> ImportOutcome? {
        guard let file else { return nil }
        return try await look(at: file, .asked(isForced: isForced))
    }

    private func look(at file: CatalogueFile, _ reason: ImportReason) async throws -> ImportOutcome {
        seen.withLock { $0 = [:] }
        // A file's version is taken before it is read: a change in between is seen later, not missed.
        let content = try file.read(now: clock.now()) { [self] path in seen.withLock { $0[path] = FileVersion(of: path) } }
        warnings.record(content.warnings.count)
        for warning in content.warnings { logger.warning("catalogue.warning", metadata: ["problem": "\(warning)"]) }
        let keys = statementKeys()
        let accepted: ImportOutcome
        do throws(Fault) {
            accepted = try await store.write(now: clock.now()) { ledger in
                try ledger.keepFormerCallbacks()
                return try ledger.importCatalogue(content.document, meaning: content.configuration, keys: keys, reason: reason)
            }
        } catch {
            guard let refusal = error.refusal else { throw error }
            throw CatalogueRejection(file: file.path, problems: refusal.problems.map { CatalogueProblem(at: $0.field, $0.message) })
        }
        former.withLock { $0 = accepted.documentSHA256 }
        let publication = accepted.publication
        publication.tellEnded(logger)
        version.record(Double(publication.configuration.version))
        if accepted.verdict == .refused {
            reportRefused(accepted, of: file, accepted.documentSHA256)
            return accepted
        }
        let event: Logger.Message = publication.isNew ? "catalogue.accepted" : "catalogue.unchanged"
        logger.info(event, metadata: ["version": "\(publication.configuration.version)"])
        return accepted
    }

    /// Reads the file again and publishes what is new; a broken file is reported, problem by problem, and the old version stays.
    public func reload(into published: PublishedCatalogue) async {
        do {
            published.publish(try await load())
        } catch let error as CatalogueRejection {
            refused.increment()
            logger.error("catalogue.refused", metadata: ["file": "\(error.file)", "problems": "\(error.problems.count)"])
            for problem in error.problems { logger.error("catalogue.problem", metadata: ["problem": "\(problem)"]) }
        } catch {
            logger.error("catalogue.not_stored", metadata: ["error": "\(error)"])
        }
    }

    /// Reloads when the file, or a certificate file that it names, has changed since it was read last.
    public func reloadIfChanged(into published: PublishedCatalogue) async {
        if hasChanged { await reload(into: published) }
    }

    /// Checks that nobody changed the history behind the service's back (dashboard #29). A break is reported, and the service goes on: what is
    /// live is checked when it is read.
    public func checkHistory() async {
        do {
            let verdict = try await store.read(now: clock.now()) { try $0.verdict(readingDocuments: false) }
            intact.record(verdict.isIntact ? 1 : 0)
            for problem in verdict.problems { logger.error("catalogue.history_broken", metadata: ["problem": "\(problem)"]) }
        } catch {
            logger.error("catalogue.history_not_read", metadata: ["error": "\(error)"])
        }
    }

    /// At most so many differences are in the log.
    private static let mostDifferences = 50

    /// Once for each content.
    private func reportRefused(_ outcome: ImportOutcome, of file: CatalogueFile, _ sha256: String) {
        let isKnown = reported.withLock { reported in
            defer { reported = sha256 }
            return reported == sha256
        }
        if isKnown { return }
        refused.increment()
        let versions = outcome.pushed.prefix(20).map { "\($0)" }.joined(separator: ", ")
        logger.error(
            "catalogue.file_refused",
            metadata: [
                "file": "\(file.path)", "version": "\(outcome.publication.configuration.version)", "pushed": "\(versions)",
                "changes": "\(outcome.changes.count)",
                "reason": "\(outcome.isLeftBehind ? Self.reasonOfLeftBehind : Self.reasonOfPushed)",
            ])
        for change in outcome.changes.lines.prefix(Self.mostDifferences) {
            logger.error("catalogue.difference", metadata: ["change": "\(change.text)"])
        }
    }

    private static let reasonOfPushed =
        "it changed beside versions that administrators pushed, and would undo them; 'boxoffice catalogue import FILE --force' takes it in"
    private static let reasonOfLeftBehind =
        "it says what was taken in once, before the newest version; 'boxoffice catalogue import FILE' takes it in again, with --force in place of pushed versions"

    var hasChanged: Bool { seen.withLock { seen in seen.contains { FileVersion(of: $0.key) != $0.value } } }
}

/// Tells one content of a file from another without reading it.
struct FileVersion: Hashable, Sendable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    /// All zero for a file that is not there.
    init(of path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            (inode, size, seconds, nanoseconds) = (0, 0, 0, 0)
            return
        }
        inode = UInt64(facts.st_ino)
        size = Int64(facts.st_size)
        seconds = facts.st_mtim.tv_sec
        nanoseconds = facts.st_mtim.tv_nsec
    }
}
