internal import ArgumentParser
internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import LoadReporting
internal import ServiceKit
internal import Synchronization

extension DeviceCommand {
    /// Several people at several MVPDs: a cluster limits the media tokens of one of them (rest-v1 §2.7).
    private static let demoMvpds = ["NorthCable", "LakeTel", "OpenFiber"]

    /// Signs many devices in, and tells how it went.
    func playFleet(_ count: Int, on ground: DeviceGround) async throws {
        let (console, line) = (Console(isQuiet: json), FleetProgress(isShown: !json))
        let fleet = DeviceFleet(
            ground: ground, count: count, atOnce: atOnce, resource: resource, mvpds: mvpd.map { [$0] } ?? Self.demoMvpds,
            people: person.map { [$0] } ?? ["ada", "ben", "dan"])
        var summary = try await fleet.run { line.show($0.progress, isLast: $0.finished == $0.count) }
        summary.build = await gatewayBuild(ground)
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            StandardStream.output.writeOrEnd(try encoder.encode(summary.json) + Data("\n".utf8))
        } else {
            console.line()
            summary.lines(console).forEach { console.line($0) }
        }
        if !json, summary.build == .debug || SoftwareVersion.build == ServiceBuild.debug.rawValue { console.line("\n\(ServiceBuild.warning)") }
        guard summary.failed == 0 else { throw DeviceFailure(.refused, nil, "\(summary.failed) of \(count) devices did not get through") }
    }

    /// Of a gateway that is this cluster's; nobody knows where another one has its metrics.
    private func gatewayBuild(_ ground: DeviceGround) async -> ServiceBuild {
        guard let cluster = try? ClusterFile.read(home), cluster.gateway == ground.gateway || cluster.gatewayTLS == ground.gateway,
            let debug = cluster.services[ClusterService.gateway.rawValue]?.debug
        else { return .unknown }
        var exchange = ground.exchange
        exchange.timeout = .seconds(2)
        return await exchange.build(metricsURL: "http://\(debug)/metrics")
    }
}

/// One line that is written over, in a terminal; now and then a line elsewhere.
private final class FleetProgress: Sendable {
    private let isShown: Bool
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let last = Mutex(ContinuousClock.Instant?.none)

    init(isShown: Bool) { self.isShown = isShown }

    func show(_ text: String, isLast: Bool) {
        guard isShown else { return }
        let pause: Duration = isTerminal ? .milliseconds(100) : .seconds(5)
        let isDue = last.withLock { last in
            let now = ContinuousClock.now
            guard isLast || last.map({ $0.duration(to: now) >= pause }) ?? true else { return false }
            last = now
            return true
        }
        guard isDue else { return }
        let line = isTerminal ? "\r\u{1b}[K  \(text)\(isLast ? "\n" : "")" : "  \(text)\n"
        StandardStream.error.writeOrEnd(Data(line.utf8))
    }
}
