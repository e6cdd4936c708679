import ContractConformance
import ContractRuntime
import Contracts
import Cryptography
import PeerDoubles
import Rpc
import Synchronization
import Tokens

/// A Config double that can be restarted, with a mutant around it where there is one.
struct ExaminedConfig {
    private let life: Life
    private let server: ExaminedServer

    init(_ mutant: ConfigMutant = .none) async throws {
        life = try Life(mutant)
        server = try await ExaminedServer(
            .config, life.services, authority: try TestAuthority(), patience: mutant.breaks.isEmpty ? .seconds(8) : .seconds(2))
    }

    /// - Returns: The verdict on each.
    func examine(_ ids: [String]) async -> [String: RequirementResult] {
        await server.examine(
            ids, change: { [life] in try life.config.publish(life.config.configuration) },
            restart: { [life] in
                try life.restart()
                return life.services
            })
    }
}

/// The double, and another one after each restart.
private final class Life: Sendable {
    private let mutant: ConfigMutant
    private let key: JoseSigningKey
    private let now: Mutex<InMemoryConfig>

    init(_ mutant: ConfigMutant) throws {
        self.mutant = mutant
        key = JoseSigningKey(try P256PrivateKey.generate())
        now = Mutex(try InMemoryConfig(try SampleCatalogue.configuration(), statementKey: key))
    }

    var config: InMemoryConfig { now.withLock { $0 } }

    func restart() throws {
        let before = config
        let key = mutant.losesKey ? JoseSigningKey(try P256PrivateKey.generate()) : key
        let after = try InMemoryConfig(mutant.restarted(before.configuration), statementKey: key)
        now.withLock { $0 = after }
        before.disconnectWatchers()
    }

    var services: RpcServices {
        var services = RpcServices()
        ConfigMethods.register(MutantConfig(config: config, mutant: mutant), in: &services)
        return services
    }
}

private struct MutantConfig: Config {
    let config: InMemoryConfig
    let mutant: ConfigMutant

    func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration {
        try await mutant.get(config, request, context)
    }

    func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        try await mutant.watch(config, request, context)
    }

    func issueSoftwareStatement(
        _ request: IssueSoftwareStatementRequest, context: CallContext
    ) async throws -> Contracts.SoftwareStatement {
        try await mutant.issue(config, request, context)
    }
}
