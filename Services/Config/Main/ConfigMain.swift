internal import CatalogueFiles
internal import ConfigService
internal import Foundation
internal import OutboundHttp
internal import ServiceKit
internal import Storage
internal import Tokens

@main
struct Main {
    static func main() async {
        if let file = CatalogueCheck.file(in: Array(CommandLine.arguments.dropFirst())) { checkCatalogue(file) }
        await ServiceProgram.run("config", settings: ConfigSettings.self, check: check, start)
    }

    private static func checkCatalogue(_ file: String) -> Never {
        let (lines, isGood) = CatalogueCheck.check(file)
        let output: StandardStream = isGood ? .output : .error
        output.write(Data((lines.joined(separator: "\n") + "\n").utf8))
        ProgramEnd.now(isGood ? 0 : 1)
    }

    @Sendable private static func check(_ settings: ConfigSettings, _ files: SettingsFiles) throws {
        _ = try statementKeys(settings, files)
        _ = try administrators(settings, files)
        guard let catalogue = settings.catalogue else { return }
        let (lines, isGood) = CatalogueCheck.check(files.path(catalogue), clientSecrets: settings.clientSecrets.map(files.path))
        if !isGood { throw StartFailure(lines: lines) }
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<ConfigSettings>) async throws {
        let settings = environment.settings
        let keys = StatementKeys(try statementKeys(settings, environment.files), lead: .seconds(settings.statementKeyLead))
        let rows = try await environment.openStore(migrations: CatalogueStore.migrations, postgres: CatalogueStore.postgresSteps)
        let (store, logger) = (CatalogueStore(rows), environment.logger)
        let watcher = CatalogueFileWatcher(
            file: settings.catalogue.map {
                CatalogueFile(path: environment.files.path($0), clientSecrets: settings.clientSecrets.map(environment.files.path))
            }, store: store, statementKeys: { keys.published }, clock: environment.clock, logger: logger)
        await watcher.checkHistory()
        let published = try await environment.ask(rows) { try await publish(watcher) }
        await watcher.tellOwnersOfSecrets()
        let statements = StatementSigner(keys: keys, store: store, issuer: settings.issuer, clock: environment.clock)
        let service = ConfigService(published: published, statements: statements, statementCallers: Set(settings.statementCallers))
        let publisher = CataloguePublisher(
            store: store, published: published, statementKeys: { keys.published }, clock: environment.clock, logger: logger)
        let administration = AdministrationService(
            publisher: publisher, administratorRegistry: try administrators(settings, environment.files), statements: statements,
            isApprovalRequired: settings.approvalRequired, logger: logger, sessionCallers: Set(settings.sessionCallers), watcher: watcher,
            fetch: DocumentFetch(limits: DocumentFetch.Limits(allowsPrivate: settings.fetchesPrivately), environment.outbound))
        let usage = try usage(rows, published, environment)
        environment.offer { registry in
            service.register(in: &registry)
            administration.register(in: &registry)
            usage.register(in: &registry)
        }
        let follower = CatalogueFollower(store: store, published: published, logger: logger)
        environment.background("published-versions") { await follower.run() }
        environment.readiness.require("catalogue") { follower.lacking }
        environment.background("usage") { await usage.forgetOldSums() }
        environment.onStopping { published.endSubscriptions() }
        environment.onReload { await watcher.reload(into: published) }
        environment.background("catalogue-watch") {
            while true {
                try await Task.sleep(for: .seconds(settings.pollSeconds))
                await watcher.reloadIfChanged(into: published)
            }
        }
        environment.onKeyChange(of: settings.statementKeyFiles.map(environment.files.path), named: "statement_keys") {
            keys.adopt(try statementKeys(settings, environment.files))
            // A failed attempt is repeated below.
            try? await publisher.publishStatementKeys()
            return (try? await statements.signingKeyName()) ?? "none yet"
        } advance: {
            try await publisher.publishStatementKeys()
            return await statements.takenOver()
        }
        if settings.auditDays > 0 { environment.background("audit-log") { await administration.forgetAudit(after: settings.auditDays) } }
        environment.background("degradation-ends") { await administration.endDegradationsInTime() }
    }

    private static func usage(
        _ rows: Store, _ published: PublishedCatalogue, _ environment: ServiceEnvironment<ConfigSettings>
    ) throws -> UsageService {
        let (limits, catalogue) = (environment.settings.usage, PublishedCatalogueIndex(published))
        do {
            return try UsageService(store: rows, limits: limits, catalogue: catalogue, clock: environment.clock, logger: environment.logger)
        } catch { throw StartFailure("\(error)") }
    }

    private static func administrators(_ settings: ConfigSettings, _ files: SettingsFiles) throws -> AdministratorRegistry {
        var administratorRegistry = AdministratorRegistry()
        for (index, administrator) in settings.administrators.enumerated() {
            let key = "config.administrators[\(index)].tokenFile"
            let token = try files.text(administrator.tokenFile, key: key)
            do throws(AdministratorRegistry.Rejection) {
                try administratorRegistry.add(administrator, token: token)
            } catch {
                throw files.failure(key, "names \(files.path(administrator.tokenFile)), which \(error)")
            }
        }
        return administratorRegistry
    }

    private static func publish(_ watcher: CatalogueFileWatcher) async throws -> PublishedCatalogue {
        do {
            return PublishedCatalogue(try await watcher.load())
        } catch let error as CatalogueRejection {
            throw StartFailure(lines: error.lines)
        }
    }

    private static func statementKeys(_ settings: ConfigSettings, _ files: SettingsFiles) throws -> SigningKeyFiles {
        do {
            return try settings.statementKeys { path, key in try files.text(path, key: key) }
        } catch let problem as StatementKeyError {
            throw files.failure(problem.key, "names \(files.path(problem.path)), which is no P-256 private key in PEM (\(problem.reason))")
        }
    }
}
