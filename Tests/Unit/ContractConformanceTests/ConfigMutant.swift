import ContractRuntime
import Contracts
import Cryptography
import Faults
import PeerDoubles

/// How a config service differs from a good one: in what it answers, or in what is left of it after a restart.
struct ConfigMutant: Sendable, CustomStringConvertible {
    typealias Versions = AsyncThrowingStream<Configuration, any Error>

    let description: String
    /// The requirements that must fail.
    let breaks: [String]
    /// The result of a restart for the version.
    var restarted: @Sendable (Configuration) -> Configuration = { $0 }
    /// Has another key for software statements after a restart.
    var losesKey = false
    var get: @Sendable (InMemoryConfig, GetConfigurationRequest, CallContext) async throws -> Configuration = {
        try await $0.getConfiguration($1, context: $2)
    }
    var watch: @Sendable (InMemoryConfig, WatchConfigurationRequest, CallContext) async throws -> Versions = {
        try await $0.watchConfiguration($1, context: $2)
    }
    var issue: @Sendable (InMemoryConfig, IssueSoftwareStatementRequest, CallContext) async throws -> SoftwareStatement = {
        try await $0.issueSoftwareStatement($1, context: $2)
    }

    static let none = ConfigMutant(description: "none", breaks: [])

    static var all: [ConfigMutant] { forgetful + lateOrDisorderly + partial + statements }

    // MARK: Not durable

    private static let forgetful = [
        ConfigMutant(
            description: "counts versions from 1 after each start", breaks: ["CONFIG-23"],
            restarted: { configuration in
                var configuration = configuration
                configuration.version = 1
                return configuration
            }),
        ConfigMutant(
            description: "uses a number again for other content", breaks: ["CONFIG-23"],
            restarted: { configuration in
                var configuration = configuration
                configuration.requestors[0].name = "Before the last change"
                return configuration
            }),
        ConfigMutant(description: "makes a key for statements at each start", breaks: ["CONFIG-24"], losesKey: true),
        ConfigMutant(
            description: "lists no statements of before its start", breaks: ["CONFIG-24"],
            restarted: { configuration in
                var configuration = configuration
                configuration.version += 1
                for index in configuration.applications.indices { configuration.applications[index].softwareIDs = [] }
                return configuration
            }),
    ]

    // MARK: Late, stale, in the wrong order

    private static var lateOrDisorderly: [ConfigMutant] {
        let (first, newest, last) = (Kept<Configuration>(), Kept<UInt64>(), Kept<Configuration>())
        return [
            ConfigMutant(
                description: "answers with the version of its start", breaks: ["CONFIG-9", "CONFIG-26"],
                get: { config, _, _ in
                    let answer = first["it"] ?? config.configuration
                    first["it"] = answer
                    return answer
                }),
            ConfigMutant(
                description: "tells watchers five seconds later", breaks: ["CONFIG-26"],
                watch: { config, request, context in
                    let sent = Kept<Bool>()
                    return relay(try await config.watchConfiguration(request, context: context)) { configuration in
                        if sent["first"] == true { try await Task.sleep(for: .seconds(5)) }
                        sent["first"] = true
                        return [configuration]
                    }
                }),
            ConfigMutant(
                description: "tells its newest watcher only", breaks: ["CONFIG-9"],
                watch: { config, request, context in
                    let number = UInt64.random(in: .min ... .max)
                    newest["it"] = number
                    return relay(try await config.watchConfiguration(request, context: context)) { newest["it"] == number ? [$0] : [] }
                }),
            ConfigMutant(
                description: "sends the version of before once more", breaks: ["CONFIG-10"],
                watch: { config, request, context in
                    relay(try await config.watchConfiguration(request, context: context)) { configuration in
                        let before = last["it"]
                        last["it"] = configuration
                        return [configuration] + (before.map { [$0] } ?? [])
                    }
                }),
            ConfigMutant(
                description: "forgets a watcher that has its first version", breaks: ["CONFIG-10"],
                watch: { config, request, context in
                    guard request.knownVersion == 0 else { return try await config.watchConfiguration(request, context: context) }
                    let sent = Kept<Bool>()
                    return relay(try await config.watchConfiguration(request, context: context)) { configuration in
                        defer { sent["first"] = true }
                        return sent["first"] == nil ? [configuration] : []
                    }
                }),
        ]
    }

    // MARK: Not all, or too much

    private static let partial = [
        ConfigMutant(
            description: "sends only what changed", breaks: ["CONFIG-4", "CONFIG-9"],
            watch: { config, request, context in
                relay(try await config.watchConfiguration(request, context: context)) { configuration in
                    [Configuration(version: configuration.version, changedAtMilliseconds: configuration.changedAtMilliseconds)]
                }
            }),
        ConfigMutant(
            description: "publishes the private key of statements", breaks: ["CONFIG-17"],
            get: { config, request, context in
                var configuration = try await config.getConfiguration(request, context: context)
                configuration.statementKeys = configuration.statementKeys.replacing(#""kty""#, with: #""d":"AAAA","kty""#, maxReplacements: 1)
                return configuration
            }),
    ]

    // MARK: Statements

    private static var statements: [ConfigMutant] {
        let issued = Kept<Bool>()
        return [
            ConfigMutant(
                description: "issues statements for anybody", breaks: ["CONFIG-21", "CONFIG-22"],
                issue: { config, request, context in
                    do {
                        return try await config.issueSoftwareStatement(request, context: context)
                    } catch {
                        return try await config.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "acme-tv"), context: context)
                    }
                }),
            ConfigMutant(
                description: "issues another application's statements", breaks: ["CONFIG-19"],
                issue: { config, request, context in
                    var request = request
                    if request.applicationID == "acme-tv" { request.applicationID = "acme-legacy" }
                    return try await config.issueSoftwareStatement(request, context: context)
                }),
            ConfigMutant(
                description: "issues one statement for each application", breaks: ["CONFIG-20"],
                issue: { config, request, context in
                    guard issued[request.applicationID] == nil else { throw Fault(.rateLimited, "The application has its statement.") }
                    issued[request.applicationID] = true
                    return try await config.issueSoftwareStatement(request, context: context)
                }),
            ConfigMutant(
                description: "issues statements for an hour", breaks: ["CONFIG-25"],
                issue: { config, request, context in
                    var issued = try await config.issueSoftwareStatement(request, context: context)
                    var parts = issued.statement.split(separator: ".").map(String.init)
                    let claims = String(decoding: Base64.url.decode(parts[1]) ?? [], as: UTF8.self)
                    parts[1] = Base64.url.encode(Array("\(claims.dropLast()),\"exp\":4102444800}".utf8))
                    issued.statement = parts.joined(separator: ".")
                    return issued
                }),
        ]
    }

    /// - Parameter change: The content that the caller gets for each version.
    private static func relay(
        _ versions: Versions, _ change: @escaping @Sendable (Configuration) async throws -> [Configuration]
    ) -> Versions {
        let (stream, continuation) = Versions.makeStream()
        let task = Task {
            do {
                for try await version in versions {
                    for changed in try await change(version) { continuation.yield(changed) }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
