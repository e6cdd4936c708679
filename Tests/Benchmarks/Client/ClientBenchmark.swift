import ArgumentParser
import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization

/// The cost of the client library for an app: round trips of a sign-in, the time of a session check, memory over many polls.
@main
struct ClientBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client-benchmark", abstract: "Measure the client library against a server in memory. Exit code 1 when a goal is missed.")

    /// A code of the longest life is looked for so often, every 3 s.
    static let pollsOfCode = 11_999

    @Option(help: "Session checks.")
    var checks = 100_000

    @Option(help: "Polls, rounded up to whole registration codes of 11999.")
    var polls = 600_000

    func run() async throws {
        let goals = [try await roundTrips(), try await sessionCheck(), try await memory()]
        if goals.contains(false) { throw ExitCode.failure }
    }

    // MARK: - The three

    /// From `authenticate` to the answer of the first poll.
    private func roundTrips() async throws -> Bool {
        let (client, server, _) = try await app()
        server.forgetCalls()
        server.signIn()
        let first = Mutex([String]())
        server.whenPolled { number in if number == 1 { first.withLock { $0 = server.calls } } }
        _ = try await client.authenticate(interaction: Person())
        let calls = first.withLock { $0 }
        // A code and one look for its session.
        let bare = 2
        let holds = calls.count <= bare + 1 && !calls.isEmpty
        print("round trips to the first poll's answer: \(calls.count), bare HTTP \(bare), goal at most \(bare + 1): \(holds ? "met" : "missed")")
        print("    \(calls.joined(separator: ", "))")
        return holds
    }

    /// From local storage; a session is there.
    private func sessionCheck() async throws -> Bool {
        let (client, server, _) = try await app()
        server.signIn()
        _ = try await client.authenticate(interaction: Person())
        server.forgetCalls()
        var times: [Duration] = []
        times.reserveCapacity(checks)
        for _ in 0..<max(1, checks) {
            let start = ContinuousClock.now
            guard case .authenticated = await client.authenticationState() else { throw ValidationError("the session is lost") }
            times.append(start.duration(to: .now))
        }
        times.sort()
        let (median, tail) = (times[times.count / 2], times[times.count * 99 / 100])
        let holds = tail < .milliseconds(1) && server.calls.isEmpty
        print(
            "session check: p50 \(Self.text(median)), p99 \(Self.text(tail)), \(server.calls.count) calls, goal under 1 ms: \(holds ? "met" : "missed")"
        )
        return holds
    }

    /// Resident memory after the first code's polls, and after all.
    private func memory() async throws -> Bool {
        let (client, server, clock) = try await app()
        server.forgetCalls(keeping: false)
        clock.isHurried = true
        let rounds = max(2, (polls + Self.pollsOfCode - 1) / Self.pollsOfCode)
        var (sizes, counts): ([Int], [Int]) = ([], [])
        let count = Mutex(0)
        server.whenPolled { number in count.withLock { $0 = number } }
        let start = ContinuousClock.now
        for _ in 0..<rounds {
            do {
                _ = try await client.authenticate(interaction: Person())
                throw ValidationError("somebody signed in")
            } catch EntitlementError.authenticationFailed {
                sizes.append(try Self.residentKilobytes())
                counts.append(count.withLock { $0 })
            }
        }
        let time = start.duration(to: .now) / max(1, counts.last ?? 1)
        let growth = (sizes.last ?? 0) - sizes[0]
        // A page here and there is the allocator's, up to 150 KB of them however many polls. A leak of one byte in each of 600 000 polls would be 586
        // KB.
        let holds = growth < 256
        print(
            "memory: \(sizes[0]) KB after \(counts[0]) polls, \(sizes.last ?? 0) KB after \(counts.last ?? 0), growth \(growth) KB, "
                + "goal under 256 KB: \(holds ? "met" : "missed"); \(Self.text(time)) per poll")
        return holds
    }

    // MARK: - Parts

    private func app() async throws -> (client: EntitlementClient, server: StubServer, clock: SimulatedClock) {
        guard let url = URL(string: "https://tv.example") else { throw ValidationError("no address") }
        let (server, clock) = (StubServer(), SimulatedClock())
        let device = DeviceDescription(platform: .tvOS, model: "Benchmark", systemVersion: "26.0", id: "device-1")
        var environment = ClientEnvironment(server: url, device: device, store: MemoryStore(), transport: server, clock: clock)
        environment.pollInterval = .seconds(3)
        let client = EntitlementClient(softwareStatement: "statement", environment: environment)
        try await client.configure(requestor: "ACME1")
        clock.isHurried = true
        return (client, server, clock)
    }

    private static func text(_ time: Duration) -> String { String(format: "%.1f µs", time / .microseconds(1)) }

    /// proc(5): the second number of `statm` counts resident pages.
    private static func residentKilobytes() throws -> Int {
        let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * Int(getpagesize()) / 1024
    }
}

/// Chooses the only provider, and never signs in.
private struct Person: AuthenticationInteraction {
    func chooseProvider(from providers: [Provider], reason: StatusCode?) async -> Provider.ID? { providers.first?.id }
    func openLogin(_ url: URL, style: BrowserStyle) async -> URL? { nil }
    func showCode(_ code: RegistrationCode) async {}
    func present(_ picker: ProviderPicker) async {}
    func dismiss(_ picker: ProviderPicker) async {}
}
