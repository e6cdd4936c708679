internal import AutoSignInService
internal import Contracts
internal import Foundation
internal import OutboundHttp
internal import ServiceKit
internal import Storage

/// The autosignin service as a program.
@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "autosignin", settings: AutoSignInSettings.self, sweeps: AutoSignInStore.sweeps, check: { try check($0, $1) }, start)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<AutoSignInSettings>) async throws {
        let settings = environment.settings
        let files = try await environment.openStore(migrations: AutoSignInStore.migrations, postgres: AutoSignInStore.postgresSteps)
        let store = AutoSignInStore(files, cached: settings.cached)
        try await environment.ask(files) { try await store.verify() }
        environment.sweep(files, AutoSignInStore.sweeps)
        watch(store, environment)
        let transport = OutboundHttp(environment.outbound)
        environment.onStop { await transport.shutdown() }
        let keys = try keys(settings, environment.files)
        try await environment.requireKnown([keys.fingerprint], in: files)
        let service = AutoSignIn(
            settings, keys: keys, secrets: environment.files.path(settings.secrets), store: store,
            logins: LoginsClient(caller: try environment.peer("authentication")), catalogue: try environment.catalogue(), transport: transport,
            clock: environment.clock, logger: environment.logger)
        environment.onChange(of: ([settings.sealKey] + settings.olderSealKeys).map(environment.files.path)) {
            do {
                let texts = try keyTexts(settings, environment.files)
                // Copies on other hosts hear first that this one has the key.
                try await files.noteKeys([try AutoSignInKeys(hex: texts[0], older: Array(texts.dropFirst())).fingerprint])
                try keys.adopt(hex: texts[0], older: Array(texts.dropFirst()))
                environment.logger.info("seal_keys.reloaded")
            } catch {
                environment.logger.error("seal_keys.reload_refused", metadata: ["reason": "\(error); the keys from before stay"])
            }
        }
        environment.background("outbox") { await service.deliverOutbox() }
        environment.background("housekeeping") { await service.keepHouse() }
        environment.background("apple-sessions") { await service.checkAppleSessions() }
        environment.offer { registry in
            AutomaticSignInMethods.register(service.automaticSignIn, in: &registry)
            SignInWithAppleMethods.register(service.signInWithApple, in: &registry)
            AutoSignInOperationsMethods.register(service.operations, in: &registry)
        }
    }

    /// Readiness follows the store.
    private static func watch(_ store: AutoSignInStore, _ environment: ServiceEnvironment<AutoSignInSettings>) {
        let watch = StoreWatch(store: store, logger: environment.logger)
        environment.readiness.require("store") { watch.lacking }
        environment.background("store-watch") {
            while true {
                await watch.look()
                try await Task.sleep(for: .seconds(5))
            }
        }
    }

    private static func check(_ settings: AutoSignInSettings, _ files: SettingsFiles) throws {
        _ = try keys(settings, files)
        guard let key = settings.apple.unencryptedKey, ProcessInfo.processInfo.environment["APPLE_STANDIN"] != "1" else { return }
        throw files.failure(
            "autosignin.apple.\(key)", "must be an https address; only with APPLE_STANDIN=1 in the environment it may be a stand-in's")
    }

    private static func keys(_ settings: AutoSignInSettings, _ files: SettingsFiles) throws -> AutoSignInKeys {
        let texts = try keyTexts(settings, files)
        do {
            return try AutoSignInKeys(hex: texts[0], older: Array(texts.dropFirst()))
        } catch {
            throw files.failure("autosignin.sealKey", "or olderSealKeys names a file that cannot be used: \(error)")
        }
    }

    /// The contents of the key files, the current key first.
    private static func keyTexts(_ settings: AutoSignInSettings, _ files: SettingsFiles) throws -> [String] {
        let older = try settings.olderSealKeys.enumerated().map { try files.text($1, key: "autosignin.olderSealKeys[\($0)]") }
        return [try files.text(settings.sealKey, key: "autosignin.sealKey")] + older
    }
}
