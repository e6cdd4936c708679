internal import Foundation

/// Waits for one process to say that it is ready, or finds out why it does not.
struct ReadinessProbe: Sendable {
    let home: ClusterHome
    let exchange: HTTPExchange
    let url: String
    /// One that cannot start ends, which is told at once; a machine that is slow or busy is given the time.
    private static let patience: Duration = .seconds(60)

    /// - Throws: `CommandFailure` with the process's own last words when it ends or takes too long.
    func wait(for process: ServiceProcess) async throws {
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            guard process.isRunning else {
                throw CommandFailure("\(process.copy.name) ended at once", advice: lastWords(of: process.copy))
            }
            if let answer = try? await exchange.send("GET", url), answer.status == 200 { return }
            try await Task.sleep(for: .milliseconds(15))
        }
        throw CommandFailure(
            "\(process.copy.name) is not ready after \(Console.text(of: Self.patience))", advice: lastWords(of: process.copy))
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
