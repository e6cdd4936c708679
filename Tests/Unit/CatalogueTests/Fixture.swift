import Catalogue
import ContractRuntime
import Contracts
import Faults
import Foundation
import Logging
import Synchronization

/// A folder of its own for one test; removed with the fixture.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-catalogue-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

struct NotInTime: Error { let what: String }

/// Waits for a condition, at most a minute.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let end = ContinuousClock.now.advanced(by: .seconds(60))
    while try await !condition() {
        guard ContinuousClock.now < end else { throw NotInTime(what: what) }
        await Task.yield()
    }
}

func configuration(version: UInt64, requestor: String = "ACME1") -> Configuration {
    Configuration(version: version, requestors: [Requestor(id: requestor, name: "Acme")])
}

/// `config` under the control of a test: unreachable, publishing, breaking off.
final class ScriptedConfig: Config {
    private struct State {
        var isAway = true
        var subscriptions: [AsyncThrowingStream<Configuration, any Error>.Continuation] = []
        var known: [UInt64] = []
    }

    private let state = Mutex(State())

    /// The versions that subscribers reported.
    var known: [UInt64] { state.withLock { $0.known } }

    func comeBack() { state.withLock { $0.isAway = false } }

    func goAway() {
        let subscriptions = state.withLock { state in
            state.isAway = true
            defer { state.subscriptions = [] }
            return state.subscriptions
        }
        for subscription in subscriptions { subscription.finish(throwing: Fault(.unavailable, "The connection broke.")) }
    }

    func publish(_ configuration: Configuration) {
        for subscription in state.withLock({ $0.subscriptions }) { subscription.yield(configuration) }
    }

    func getConfiguration(_ request: GetConfigurationRequest, context: CallContext) async throws -> Configuration { Configuration() }

    func watchConfiguration(
        _ request: WatchConfigurationRequest, context: CallContext
    ) async throws -> AsyncThrowingStream<Configuration, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: Configuration.self)
        let isAway = state.withLock { state in
            if !state.isAway {
                state.known.append(request.knownVersion)
                state.subscriptions.append(continuation)
            }
            return state.isAway
        }
        if isAway { throw Fault(.unavailable, "Nobody is there.") }
        return stream
    }

    func issueSoftwareStatement(_ request: IssueSoftwareStatementRequest, context: CallContext) async throws -> SoftwareStatement {
        SoftwareStatement()
    }
}
