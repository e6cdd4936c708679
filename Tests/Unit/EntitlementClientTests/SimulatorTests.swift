import EntitlementClient
import EntitlementSimulator
import Foundation
import Synchronization
import Testing

@Suite("client-sdk §4.2: the simulated clock and network")
struct SimulatorTests {
    @Test("time that is let pass wakes who sleeps", .tags(.timing))
    func wakesSleepers() async throws {
        let clock = SimulatedClock()
        let isAwake = Mutex(false)
        let sleeper = Task {
            try await clock.sleep(for: .seconds(1800))
            isAwake.withLock { $0 = true }
        }
        // Time that passes before the sleep begins does not shorten it.
        var passed: Duration = .zero
        while !isAwake.withLock({ $0 }) {
            clock.pass(.seconds(1000))
            passed += .seconds(1000)
            await Task.yield()
        }
        try await sleeper.value
        #expect(passed >= .seconds(2000) && clock.uptime >= passed)
        #expect(abs(clock.now.timeIntervalSinceNow - passed / .seconds(1)) < 60)
    }

    @Test("setting a clock lets no time pass", .tags(.timing))
    func setsClock() {
        let clock = SimulatedClock(now: Date(timeIntervalSinceNow: 60))
        let before = clock.uptime
        #expect(abs(clock.now.timeIntervalSinceNow - 60) < 5)
        clock.setAhead(-86_400)
        #expect(abs(clock.now.timeIntervalSinceNow + 86_400) < 5)
        #expect(clock.uptime - before < .seconds(5))
    }

    @Test("a hurried clock does not wait, and counts as if it had", .tags(.timing), arguments: [true, false])
    func hurries(isHurriedBefore: Bool) async throws {
        let clock = SimulatedClock()
        clock.isHurried = isHurriedBefore
        let sleeper = Task { try await clock.sleep(for: .seconds(600)) }
        clock.isHurried = true
        try await sleeper.value
        #expect(clock.uptime >= .seconds(600))
        #expect(abs(clock.now.timeIntervalSinceNow) < 5, "the device's time is what it was")
    }

    @Test("a sleep that is cancelled ends at once")
    func cancels() async {
        let clock = SimulatedClock()
        let sleeper = Task { try await clock.sleep(for: .seconds(3600)) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test("real time passes too")
    func passes() async throws {
        let clock = SimulatedClock()
        try await clock.sleep(for: .milliseconds(5))
        #expect(clock.uptime >= .milliseconds(5))
    }

    @Test("the first fault that fits a request counts, as often as it says")
    func goesWrong() async throws {
        let network = SimulatedNetwork(Echo())
        network.add(.init(.status(429, retryAfter: 7), path: "/api", times: 2))
        network.add(.init(.captivePortal, path: "/o/"))
        let (api, other) = (try request("/api/v1/config/A"), try request("/o/client/token"))
        for _ in 0..<2 {
            let answer = try await network.send(api)
            #expect(answer.status == 429 && answer.header("Retry-After") == "7")
        }
        #expect(try await network.send(api).status == 204)
        for _ in 0..<3 { #expect(try await network.send(other).header("Content-Type") == "text/html") }
        network.removeFaults()
        #expect(try await network.send(other).status == 204)
        #expect(network.requests == 7)
    }

    @Test("a network without connection or trust says so", arguments: [SimulatedNetwork.Fault.Kind.unreachable, .insecure])
    func fails(kind: SimulatedNetwork.Fault.Kind) async throws {
        let network = SimulatedNetwork(Echo())
        network.add(.init(kind, times: 1))
        let request = try request("/")
        await #expect {
            try await network.send(request)
        } throws: {
            ($0 as? TransportFailure)?.kind == (kind == .insecure ? .insecure : .unreachable)
        }
        #expect(try await network.send(request).status == 204)
    }

    @Test("a slow network waits by the device's clock")
    func isSlow() async throws {
        let clock = SimulatedClock()
        clock.isHurried = true
        let network = SimulatedNetwork(Echo(), clock: clock)
        network.add(.init(.slow(.seconds(30))))
        #expect(try await network.send(try request("/")).status == 204)
        #expect(clock.uptime >= .seconds(30))
    }

    private struct Echo: HTTPTransport {
        func send(_ request: HTTPRequest) async throws -> HTTPResponse { HTTPResponse(status: 204) }
    }

    private func request(_ path: String) throws -> HTTPRequest { HTTPRequest(.get, try #require(URL(string: "https://tv.example\(path)"))) }
}
