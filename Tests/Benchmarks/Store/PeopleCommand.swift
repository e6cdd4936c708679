import ArgumentParser
import Foundation

/// Exports and erases people of a filled store, one after the other. An export has to take less than a second, an erasure less than 100 ms.
struct PeopleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "people", abstract: "Export and erase people of a filled store.")

    @Option(help: "The file that 'fill' made.")
    var file: String

    @Option(help: "How many sessions it has, one of each device.")
    var sessions: Int

    @Option(help: "How many people are exported and erased.")
    var people = 200

    func run() async throws {
        let store = try FilledStore(file: file, sessions: sessions, perDevice: 1)
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        var (exports, erasures): ([Double], [Double]) = ([], [])
        var found = 0
        for number in Set((0..<people).map { _ in Int.random(in: 1...sessions) }) {
            let user = "person-\(number)@north-cable.example"
            let start = ContinuousClock.now
            let told = try await store.database.told(user: user)
            let between = ContinuousClock.now
            let erased = try await store.database.erase(user: user, now: now)
            erasures.append((ContinuousClock.now - between) / .milliseconds(1))
            exports.append((between - start) / .milliseconds(1))
            // One that an earlier run erased is not there.
            found += told
            guard told == erased, told <= 1 else { throw BenchmarkFailure("\(user): \(told) rows told, \(erased) erased") }
        }
        await store.close()
        guard found * 10 >= exports.count * 9 else { throw BenchmarkFailure("\(found) of \(exports.count) people were there: fill the file anew") }
        print("sessions \(sessions), \(found) of \(exports.count) people found")
        let isMet = Self.tell("export", exports, below: 1000)
        guard Self.tell("erase", erasures, below: 100), isMet else { throw ExitCode(1) }
    }

    /// - Parameters:
    ///   - times: Milliseconds.
    ///   - goal: The bound for the slowest one.
    private static func tell(_ what: String, _ times: [Double], below goal: Double) -> Bool {
        let sorted = times.sorted()
        func text(_ value: Double) -> String { String(format: "%.2f", value) }
        let (middle, slowest) = (sorted[sorted.count / 2], sorted[sorted.count - 1])
        print("\(what)  median \(text(middle)) ms  slowest \(text(slowest)) ms  goal below \(text(goal)) ms  \(slowest < goal ? "met" : "missed")")
        return slowest < goal
    }
}
