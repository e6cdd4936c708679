internal import Clocks
internal import CommandKit
internal import Foundation
internal import Logging
internal import ServiceKit

/// Renews the certificates of a local cluster for as long as it runs, in a process of its own: no service needs the authority's key, and `up` may have ended.
struct PkiKeeper: Sendable {
    let home: ClusterHome
    /// How often it looks whether the cluster runs still.
    var pulse: Duration = .seconds(2)

    private var pki: LocalPki { LocalPki(folder: home.pki) }

    /// Starts the process, unless one is there.
    /// - Parameter binaries: Where this program is.
    static func start(_ home: ClusterHome, binaries: URL) {
        let program = binaries.appendingPathComponent("boxoffice")
        guard FileManager.default.isExecutableFile(atPath: program.path), !isThere(home) else { return }
        // Without it the cluster works as well, until its certificates end, of which Prometheus warns.
        _ = try? ServiceProcess.spawn(
            program, arguments: ["pki", "--while-running"],
            environment: ["BOXOFFICE_HOME": home.root.path, "BOXOFFICE_LOG_FILE": home.keeperLog.path], log: home.keeperLog)
    }

    private static func isThere(_ home: ClusterHome) -> Bool {
        guard let turn = takeTurn(home) else { return true }
        close(turn)
        return false
    }

    /// - Returns: A descriptor that says that a keeper is there until it is closed; `nil`: another one is.
    private static func takeTurn(_ home: ClusterHome) -> Int32? {
        let turn = open(home.root.appendingPathComponent("keeper").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard turn >= 0 else { return nil }
        guard flock(turn, LOCK_EX | LOCK_NB) != 0 else { return turn }
        close(turn)
        return nil
    }

    /// Returns when the cluster has ended, when a signal comes, or at once when there is a keeper already.
    func run(until signals: StopSignals) async {
        guard let turn = Self.takeTurn(home) else { return }
        defer { close(turn) }
        ProgramLog.begin("pki")
        // By the time of day too: a clock that is put forward makes certificates end early.
        let (clock, start) = (SystemClock(), ContinuousClock.now)
        var (next, nextByDay) = (start, clock.now())
        var trouble: String?
        var misses = 0
        while misses < 2, !signals.haveCome {
            if next <= .now || nextByDay <= clock.now() {
                trouble = renew(besides: trouble)
                let interval = pki.renewalInterval
                (next, nextByDay) = (.now + interval, clock.now() + interval)
            }
            try? await Task.sleep(for: pulse)
            misses = isRunning ? 0 : misses + 1
        }
        ProgramLog.close()
    }

    private var isRunning: Bool { (try? ClusterFile.read(home))?.processes.contains(where: \.isRunning) ?? false }

    /// - Parameter trouble: What was said already.
    /// - Returns: Why it failed.
    private func renew(besides trouble: String?) -> String? {
        do {
            let renewed = try pki.renew()
            if !renewed.isEmpty { Self.log(.info, "pki.renewed", ["certificates": "\(renewed.joined(separator: " "))"]) }
            return nil
        } catch {
            let reason = PlainReason.of(error)
            if reason != trouble { Self.log(.error, "pki.not_renewed", ["reason": "\(reason)"]) }
            return reason
        }
    }

    private static func log(_ level: Logger.Level, _ event: String, _ fields: Logger.Metadata) {
        var logger = Logger(label: "pki") { _ in JsonLogHandler(program: "pki") }
        logger.logLevel = .info
        logger.log(level: level, "\(event)", metadata: fields)
    }
}

extension ClusterHome {
    var keeperLog: URL { logs.appendingPathComponent("pki.log") }
}
