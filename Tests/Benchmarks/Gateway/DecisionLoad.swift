import CommandKit
import Simulation
import Foundation
import TextEncodings

/// Devices at several MVPDs, each of which asks at a steady pace for a decision that is not in any cache.
struct DecisionLoad: Sendable {
    /// The result of the decisions at one MVPD.
    struct Outcome: Sendable {
        /// Microseconds of each permit.
        var times: [Double] = []
        var failures = 0

        func percentile(_ percent: Int) -> Double? {
            let sorted = times.sorted()
            return sorted.isEmpty ? nil : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
        }
    }

    private let exchange: HTTPExchange
    private let gateway: String
    private let sandbox: String
    private let fleets: [String: [Fleet.Device]]
    private let period: Duration

    /// Signs the devices in.
    init(_ cluster: LocalCluster, mvpds: [String], workers: Int, period: Duration) async throws {
        exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: mvpds.count * workers + 4))
        (gateway, sandbox) = (cluster.gateway, cluster.mvpdSandbox)
        self.period = period
        var fleets: [String: [Fleet.Device]] = [:]
        for (series, mvpd) in mvpds.enumerated() {
            try await Self.wait("the catalogue has \(mvpd)") { [exchange, gateway] in
                try await exchange.send("GET", gateway + "/api/v1/config/ACME1.json").text.contains(mvpd)
            }
            fleets[mvpd] = try await Fleet.signIn(
                workers, at: "ACME1", domain: "acme.example", resources: [], cluster: cluster, series: 10 + series, mvpd: mvpd
            ).devices
        }
        self.fleets = fleets
    }

    func shutdown() async throws { try await exchange.client.shutdown() }

    /// - Returns: The result, by MVPD.
    func run(for span: Duration) async throws -> [String: Outcome] {
        let end = ContinuousClock.now + span
        return await withTaskGroup(of: (String, Outcome).self) { group in
            for (mvpd, devices) in fleets {
                for (number, device) in devices.enumerated() {
                    // Spread over the period, so that devices do not ask all at once.
                    let delay = period * number / devices.count
                    group.addTask { (mvpd, await ask(device, after: delay, until: end)) }
                }
            }
            return await group.reduce(into: [:]) { outcomes, next in
                outcomes[next.0, default: Outcome()].times += next.1.times
                outcomes[next.0, default: Outcome()].failures += next.1.failures
            }
        }
    }

    private func ask(_ device: Fleet.Device, after delay: Duration, until end: ContinuousClock.Instant) async -> Outcome {
        var outcome = Outcome()
        var next = ContinuousClock.now + delay
        while next < end {
            try? await Task.sleep(until: next, clock: .continuous)
            let start = ContinuousClock.now
            if (try? await decision(device)) == 200 {
                let took = start.duration(to: .now).components
                outcome.times.append(Double(took.seconds) * 1e6 + Double(took.attoseconds) / 1e12)
            } else {
                outcome.failures += 1
            }
            next = max(next + period, .now)
        }
        return outcome
    }

    /// - Returns: The HTTP status.
    private func decision(_ device: Fleet.Device) async throws -> Int {
        let item = "<item><title>Film</title><guid>\(UUID().uuidString)</guid></item>"
        let resource = "<rss version=\"2.0\"><channel><title>ACME1-NEWS</title>\(item)</channel></rss>"
        let query = FormEncoding.encode([("requestor", device.requestor), ("deviceId", device.id), ("resource", resource)])
        let headers = [
            ("Accept", "application/json"), ("User-Agent", "boxoffice-device"), ("Authorization", "Bearer \(device.accessToken)"),
            ("X-Device-Info", SimulatedHardware.television.information),
        ]
        return try await exchange.send("GET", "\(gateway)/api/v1/authorize?\(query)", headers: headers).status
    }

    /// Lets a decision point hang, or answer again.
    func hang(_ mvpd: String, _ hangs: Bool) async throws {
        let answer = try await exchange.send(
            "POST", "\(sandbox)/control/pdp/\(mvpd)", headers: [("Content-Type", "application/json")], body: hangs ? #"{"mode":"hang"}"# : "{}")
        guard answer.status == 204 else { throw BenchmarkFailure("the sandbox does not obey: \(answer.status)") }
    }

    /// Returns when every device gets decisions again.
    func recover(_ mvpd: String) async throws {
        let devices = fleets[mvpd] ?? []
        for device in devices { try await Self.wait("\(mvpd) decides again") { try await decision(device) == 200 } }
    }

    private static func wait(_ event: String, _ condition: @Sendable () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            guard ContinuousClock.now < end else { throw BenchmarkFailure("waited in vain until \(event)") }
            try await Task.sleep(for: .milliseconds(200))
        }
    }
}
