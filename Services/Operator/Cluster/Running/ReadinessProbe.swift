internal import CommandKit
internal import Foundation

/// Waits for one process to say that it is ready, or finds out why it does not.
struct ReadinessProbe: Sendable {
    let home: ClusterHome
    let exchange: HTTPExchange
    let url: String
    /// One that cannot start ends, which is told at once; a machine that is slow or busy is given the time.
    private static let patience: Duration = .seconds(60)
    /// One whose store's server is away waits without end.
    private static let storePatience: Duration = .seconds(20)

    /// - Throws: `CommandFailure` with the process's own last words when it ends or takes too long, or with what it waits for.
    func wait(for process: ServiceProcess) async throws {
        let begun = ContinuousClock.now
        while begun.duration(to: .now) < Self.patience {
            guard process.isRunning else {
                throw CommandFailure("\(process.copy.name) ended at once", advice: lastWords(of: process.copy))
            }
            if let answer = try? await exchange.send("GET", url) {
                if answer.status == 200 { return }
                if let failure = Self.failure(of: process.copy.name, saying: answer.text, after: begun.duration(to: .now)) { throw failure }
            }
            try await Task.sleep(for: .milliseconds(15))
        }
        throw CommandFailure(
            "\(process.copy.name) is not ready after \(Console.text(of: Self.patience))", advice: lastWords(of: process.copy))
    }

    /// What a program that is not ready says is wrong, once it is no use to wait for that.
    /// - Parameter text: What it lacks, a line for each part.
    static func failure(of name: String, saying text: String, after time: Duration) -> CommandFailure? {
        guard time >= storePatience, let line = text.split(separator: "\n").first(where: { $0.hasPrefix("storage: waiting: ") }) else { return nil }
        return CommandFailure("\(name): \(line)")
    }

    /// The last line of its log that is no event: a program that cannot start says why there, in one line, and a thread may log an event after it. One that
    /// crashed has none.
    private func lastWords(of copy: ServiceCopy) -> String {
        let log = home.log(of: copy)
        let lines = (try? String(contentsOf: log, encoding: .utf8))?.split(separator: "\n") ?? []
        guard let last = lines.last else { return "its log \(log.path) is empty" }
        guard let reason = lines.suffix(20).last(where: { !$0.hasPrefix("{") }) else {
            return "it gives no reason; its log \(log.path) ends with \(last)"
        }
        return "\(reason) (log: \(log.path))"
    }
}
