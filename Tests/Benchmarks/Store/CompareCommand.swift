import ArgumentParser
import Foundation

/// Asks two filled stores in turns and prints one line of JSON.
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "compare", abstract: "Compare a small and a large store; prints JSON.")

    @Option(help: "File of the small store.")
    var small: String

    @Option(help: "Sessions in it.")
    var smallSessions = 10_000

    @Option(help: "File of the large store.")
    var large: String

    @Option(help: "Sessions in it.")
    var largeSessions = 10_000_000

    @Option(help: "How many of them a device has.")
    var perDevice = 1

    @Option(help: "Seconds of each run.")
    var seconds = 2.0

    @Option(help: "Rounds.")
    var rounds = 3

    /// One store in one round, or what is known of it once.
    private struct Figures: Encodable {
        var alone: Times
        var together: Times
        var cached: Times
        var starts: Times
    }

    private struct Description: Encodable {
        var sessions: Int
        var fileBytes: Int
        var openingSeconds: Double
        var openingBytes: Int
        var warmingSeconds: Double
    }

    private struct Report: Encodable {
        var small: Description
        var large: Description
        var rounds: [[String: Figures]]
        var residentBytes: Int
    }

    func validate() throws {
        for sessions in [smallSessions, largeSessions] { try Population.check(sessions: sessions, perDevice: perDevice) }
    }

    func run() async throws {
        let stores = [
            ("small", try FilledStore(file: small, sessions: smallSessions, perDevice: perDevice)),
            ("large", try FilledStore(file: large, sessions: largeSessions, perDevice: perDevice)),
        ]
        var descriptions: [Description] = []
        for (_, store) in stores {
            descriptions.append(
                Description(
                    sessions: store.sessions, fileBytes: store.fileBytes, openingSeconds: store.openingSeconds, openingBytes: store.openingBytes,
                    warmingSeconds: try store.warm()))
            // The first reads open the readers' connections.
            _ = try await store.lookups(store.database, seconds: seconds / 2, workers: 8)
        }
        var taken: [[String: Figures]] = []
        for _ in 0..<rounds {
            var round: [String: Figures] = [:]
            for (name, store) in stores { round[name] = try await figures(store) }
            taken.append(round)
        }
        let report = Report(small: descriptions[0], large: descriptions[1], rounds: taken, residentBytes: FilledStore.residentBytes())
        print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        for (_, store) in stores { await store.close() }
    }

    private func figures(_ store: FilledStore) async throws -> Figures {
        Figures(
            alone: try await store.lookups(store.database, seconds: seconds, workers: 1),
            together: try await store.lookups(store.database, seconds: seconds, workers: 64),
            cached: try await store.lookups(store.service, seconds: seconds, workers: 64),
            starts: try await store.starts(seconds: seconds, workers: 64))
    }
}
