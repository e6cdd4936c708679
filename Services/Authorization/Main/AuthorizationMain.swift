internal import AuthorizationService
internal import Contracts
internal import OutboundHttp
internal import ServiceKit
internal import Tokens

@main
struct Main {
    static func main() async {
        await ServiceProgram.run(
            "authorization", settings: AuthorizationSettings.self, sweeps: SqlAuthorizationStore.sweeps, check: check, start)
    }

    @Sendable private static func check(_ settings: AuthorizationSettings, _ files: SettingsFiles) throws {
        _ = try keys(settings, files)
        _ = try credentials(settings, files)
    }

    @Sendable private static func start(_ environment: ServiceEnvironment<AuthorizationSettings>) async throws {
        let (settings, files) = (environment.settings, environment.files)
        let keys = try MediaTokenKeyRotation(
            try keys(settings, files), lead: .seconds(settings.keyLeadSeconds), clock: environment.clock, logger: environment.logger)
        // It makes the data folder, where keys may be.
        let store = try await environment.openStore(migrations: SqlAuthorizationStore.migrations, postgres: SqlAuthorizationStore.postgresSteps)
        let sdkTokenKey = try environment.keyFile(settings.sdkTokenKey, else: "sdk-token.key", .signing, setting: "authorization.sdkTokenKey")
        let storedTokenKeys = SigningKeyRotation(
            try loading(files) { () throws(MediaTokenKeyError) in
                try MediaTokenKeyFiles.storedTokens(settings, file: sdkTokenKey, path: files.path)
            },
            lead: .seconds(settings.keyLeadSeconds), tokenLife: AuthorizationService.longestPermit, clock: environment.clock)
        environment.tellEnds(of: settings.certificateFiles)
        let pool = SigningPool(threads: settings.signingThreads, waitingLimit: settings.waitingSignatures)
        let transport = OutboundHttp(environment.outbound)
        let credentials = try Self.credentials(settings, files)
        let certificates = ClientCertificates(credentials.clientCertificates, setting: "authorization.clientCertificates")
        let refusals = RefusalNotes(store: SqlRefusalStore(store), clock: environment.clock, logger: environment.logger)
        let numbers = CopyNumberLease(store: store, number: settings.copy, clock: environment.clock, logger: environment.logger)

        let service = AuthorizationService(
            catalogue: try environment.catalogue(),
            sessions: SessionsClient(caller: try environment.peer("authentication")),
            store: SqlAuthorizationStore(store),
            transport: transport, clientCertificates: certificates,
            mediaTokens: MediaTokenIssuer(
                referenceKey: keys.referenceKey, jwsKeys: keys.jwsKeys, pool: pool, clock: environment.clock, windows: numbers),
            publishedKeys: keys.published,
            storedTokenKeys: storedTokenKeys.keys,
            identity: credentials.identity,
            usage: try environment.usageCounter(), refusals: refusals, upstreamTokens: credentials.upstreamTokens,
            resourcesPerDecision: settings.resourcesPerDecision,
            clock: environment.clock, logger: environment.logger)
        try await environment.sharePublicKeys("media token", in: store) {
            keys.told
        } take: {
            keys.take($0)
        }
        try await environment.share(storedTokenKeys, named: "sdk token", in: store) { service.storedTokenKeysChanged() }
        environment.offer { registry in AuthorizationMethods.register(service, in: &registry) }
        environment.onChange(of: MediaTokenKeyFiles.paths(settings).map(files.path)) {
            keys.reload { () throws(MediaTokenKeyError) in try MediaTokenKeyFiles(settings, path: files.path) }
        }
        environment.onKeyChange(of: ([sdkTokenKey] + settings.olderSdkTokenKeys).map(files.path), named: "sdk_token_keys") {
            storedTokenKeys.adopt(
                try loading(files) { () throws(MediaTokenKeyError) in
                    try MediaTokenKeyFiles.storedTokens(settings, file: sdkTokenKey, path: files.path)
                })
            service.storedTokenKeysChanged()
            return storedTokenKeys.signingKeyName
        } advance: {
            guard storedTokenKeys.advance() else { return nil }
            service.storedTokenKeysChanged()
            return storedTokenKeys.signingKeyName
        }
        environment.onChange(of: settings.decisionPointFiles.map(files.path)) {
            do {
                let credentials = try Self.credentials(settings, files)
                certificates.replace(credentials.clientCertificates)
                service.use(credentials.identity)
                environment.logger.info("decision-point-credentials.replaced")
            } catch {
                environment.logger.error("decision-point-credentials.kept", metadata: ["reason": "\(error)"])
            }
        }
        environment.background("media-token-keys") {
            while true {
                try await Task.sleep(for: .seconds(5))
                keys.advance()
            }
        }
        environment.background("copy-number") { await numbers.run() }
        environment.background("refusals") { await refusals.run() }
        // A disk that is full for longer than numbers are held ahead stops tokens, and nothing else.
        environment.readiness.require("copy number") { store.refusal == nil ? numbers.lacking : nil }
        environment.readiness.note("copy number") { store.refusal == nil ? nil : numbers.lacking }
        environment.sweep(store, SqlAuthorizationStore.sweeps)
        environment.onStop {
            await refusals.flush()
            await numbers.release()
            await transport.shutdown()
            pool.shutdown()
        }
    }

    private static func keys(_ settings: AuthorizationSettings, _ files: SettingsFiles) throws -> MediaTokenKeyFiles {
        try loading(files) { () throws(MediaTokenKeyError) in try MediaTokenKeyFiles(settings, path: files.path) }
    }

    private static func credentials(_ settings: AuthorizationSettings, _ files: SettingsFiles) throws -> AuthorizationCredentials {
        try loading(files) { () throws(MediaTokenKeyError) in try AuthorizationCredentials(settings, path: files.path) }
    }

    private static func loading<Loaded>(_ files: SettingsFiles, _ load: () throws(MediaTokenKeyError) -> Loaded) throws -> Loaded {
        do throws(MediaTokenKeyError) {
            return try load()
        } catch {
            throw files.failure("authorization.\(error.key)", error.problem)
        }
    }
}
