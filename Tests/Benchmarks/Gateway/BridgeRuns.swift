import Foundation

/// One measurement after the other, all at one rate.
struct BridgeRuns {
    let bridge: BridgedCluster
    let files: BridgedCluster.Files
    let program: LoadProgram
    /// Calls a second.
    let rate: Int

    /// - Parameter number: Of the round, from 0: what is compared comes first as often as the other.
    func round(_ number: Int) async throws -> BridgeRounds.Round {
        let early = number % 2 == 0 ? try paced(files.direct) : nil
        let stored = try paced(files.stored)
        let direct = try early ?? paced(files.direct)
        let reference = try paced(files.reference)
        let jws = try paced(files.jws)
        let own = try program.pace(port: files.upstreamPort, rate: rate, status: 200, requests: files.upstream)
        let client = try OutboundRun.measure(port: files.upstreamPort, rate: rate, seconds: program.seconds, requests: files.upstream)
        _ = try await bridge.control("DELETE", "log")
        let called = try paced(files.called)
        // A call that ends after the last one that counts is asked too.
        let asked = try await bridge.asked()
        guard abs(asked - called.pace.calls) * 50 <= called.pace.calls else {
            throw BenchmarkFailure("\(called.pace.calls) media tokens made \(asked) calls upstream")
        }
        return BridgeRounds.Round(
            direct: direct.cost, stored: stored.cost, reference: reference.cost, jws: jws.cost, called: called.cost, client: client, own: own,
            unbridged: jws.pace, bridged: called.pace)
    }

    /// - Returns: Beside the times the microseconds of CPU per call of the services, the stand-in upstream and the load.
    private func paced(_ file: URL) throws -> (pace: LoadProgram.Pace, cost: [String: Double]) {
        var processes = bridge.cluster.processes
        processes[BridgeRounds.standIn] = bridge.cluster.sandboxProcess
        let (before, children) = (ProcessTimes(processes), Self.childSeconds)
        let pace = try program.pace(port: bridge.cluster.port, rate: rate, status: 200, requests: file)
        var spent = ProcessTimes(processes).spent(since: before)
        spent[BridgeRounds.load] = Self.childSeconds - children
        guard pace.unexpected * 50 <= pace.calls else {
            throw BenchmarkFailure("\(pace.unexpected) of \(pace.calls) calls of \(file.lastPathComponent) failed")
        }
        return (pace, spent.mapValues { $0 * 1e6 / Double(pace.calls) })
    }

    /// Of the programs that have ended by now.
    private static var childSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

/// The rounds of the benchmark, and what they say of the goals.
struct BridgeRounds {
    static let standIn = "stand-in"
    static let load = "load"
    private static let services = ["gateway", "authentication", "authorization"]
    /// Microseconds of CPU: an answer from the store over a direct one's; a call upstream over the same call of a direct viewer and the HTTP client.
    private static let goals = (stored: 15.0, called: 300.0)
    /// Microseconds that the bridge may add to the upstream's own.
    private static let delays = (p50: 1300.0, p99: 5000.0)

    struct Round {
        /// Microseconds of CPU per call.
        let direct: [String: Double]
        let stored: [String: Double]
        let reference: [String: Double]
        let jws: [String: Double]
        let called: [String: Double]
        /// The HTTP client alone.
        let client: (cost: Double, median: Double)
        let own: LoadProgram.Pace
        /// The media token of a direct viewer.
        let unbridged: LoadProgram.Pace
        let bridged: LoadProgram.Pace
    }

    /// Calls a second.
    let rate: Int
    var rounds: [Round] = []

    /// - Returns: True when the goals hold.
    func report() -> Bool {
        Report.line("| µs of CPU per call, \(rate)/s | all services | \(Self.services.joined(separator: " | ")) | stand-in | load |")
        Report.line("|---|---|---|---|---|---|---|")
        row("checkauthn of a direct MVPD's viewer", \.direct)
        row("checkauthn of a bridged viewer", \.stored)
        row("media token of a direct MVPD's viewer, RSA, same channel", \.reference)
        row("media token of a direct MVPD's viewer, ES256", \.jws)
        row("media token of a bridged viewer, one call upstream each", \.called)
        Report.line(
            String(
                format: "\nThe HTTP client alone takes %.0f µs for a call upstream, whose p50 is then %.0f.",
                Spread(rounds.map(\.client.cost)).median,
                Spread(rounds.map(\.client.median)).median))
        Report.line("\n| µs | median (least–most) | goal |\n|---|---|---|")
        let isMet = [
            judge("CPU of an answer from the store, over direct", { sum($0.stored) - sum($0.direct) }, Self.goals.stored),
            judge(
                "CPU of a media token, over a direct one and the HTTP client", { sum($0.called) - sum($0.jws) - $0.client.cost }, Self.goals.called),
            judge("added at p50", { $0.bridged.p50 - $0.own.p50 }, Self.delays.p50),
            judge("added at p99", { $0.bridged.p99 - $0.own.p99 }, Self.delays.p99),
        ]
        let byRsa = Spread(rounds.map { sum($0.called) - sum($0.reference) - $0.client.cost })
        Report.line(
            String(
                format: "\nOver a direct one of the RSA form, which costs more to sign, it is %.0f (%.0f–%.0f).", byRsa.median, byRsa.least,
                byRsa.most))
        let cores = Spread(rounds.map { sum($0.called) }).median * Double(rate) / 1e6
        Report.line(
            String(
                format: "The services use %.2f cores for %d media tokens a second: two cores would carry %.0f.", cores, rate, 2 * Double(rate) / cores
            ))
        Report.line(
            String(
                format: "Upstream itself p50 %.0f, p99 %.0f; through the bridge p50 %.0f, p99 %.0f.", Spread(rounds.map(\.own.p50)).median,
                Spread(rounds.map(\.own.p99)).median, Spread(rounds.map(\.bridged.p50)).median, Spread(rounds.map(\.bridged.p99)).median))
        Report.line(
            String(
                format: "A direct viewer's media token, which no upstream is asked for: p50 %.0f, p99 %.0f.",
                Spread(rounds.map(\.unbridged.p50)).median, Spread(rounds.map(\.unbridged.p99)).median))
        return isMet.allSatisfy(\.self)
    }

    private func sum(_ costs: [String: Double]) -> Double { Self.services.reduce(0) { $0 + (costs[$1] ?? 0) } }

    private func row(_ name: String, _ costs: KeyPath<Round, [String: Double]>) {
        let cells = (Self.services + [Self.standIn, Self.load]).map { process in
            String(format: "%.0f", Spread(rounds.map { $0[keyPath: costs][process] ?? 0 }).median)
        }
        Report.line(
            "| \(name) | \(String(format: "%.0f", Spread(rounds.map { sum($0[keyPath: costs]) }).median)) | \(cells.joined(separator: " | ")) |")
    }

    private func judge(_ name: String, _ value: (Round) -> Double, _ goal: Double) -> Bool {
        let spread = Spread(rounds.map(value))
        let isMet = spread.median <= goal
        Report.line(
            String(
                format: "| %@ | %.0f (%.0f–%.0f) | at most %.0f: %@ |", name, spread.median, spread.least, spread.most, goal,
                isMet ? "met" : "missed"))
        return isMet
    }
}
