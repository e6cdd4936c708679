@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import ContractConformance
import Foundation
import Testing

/// Our own services keep their contracts; each is started alone, its peers played by the examiner.
@Suite("Conformance")
struct ConformanceTests {
    /// All at the same time: most of it is waiting for the wire's timers.
    @Test func ourServicesMeetEveryRequirement() async throws {
        var bases: [Int] = []
        let reports = try await withThrowingTaskGroup(of: ConformanceReport.self) { group in
            for service in ExaminedService.allCases {
                var options = ConformanceOptions(service: service)
                options.ports = PortPlan(base: try base(apartFrom: &bases))
                options.binaries = try TestCluster.binaries(Checkout.current)
                let session = ConformanceSession(options: options, console: Console(isQuiet: true))
                group.addTask { try await session.examine(nil) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count == ExaminedService.allCases.count)
        for report in reports {
            for result in report.results where result.verdict == .failed {
                Issue.record("\(report.service) \(result.id) \(result.sentence)\n\(result.details.joined(separator: "\n"))")
            }
            #expect(report.count(.passed) > 60)
            // The demo catalogue has no application without statements.
            let missing = report.results.filter { $0.verdict == .notApplicable }.map(\.id)
            #expect(missing == (report.service == "config" ? ["CONFIG-22"] : []))
        }
    }

    /// A cluster runs with keys of its own. The examined process is another one at other ports, and never the one that listens where the examined one
    /// should.
    @Test func aRunningClusterIsNotExamined() async throws {
        let (neighbour, console) = (PortPlan(base: try FreePorts.base()), Console(isQuiet: true))
        let home = FileManager.default.temporaryDirectory.appending(path: "boxoffice-neighbour-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: home) }
        let client = HTTPExchange.makeClient()
        let exchange = HTTPExchange(client: client)
        var lone = LoneService(service: .config, home: ClusterHome(root: home), ports: neighbour)
        lone.binaries = try TestCluster.binaries(Checkout.current)
        let running = try await lone.start(exchange: exchange)
        var options = ConformanceOptions(service: .config)
        options.binaries = lone.binaries
        let few = ExaminedService.config.requirements.filter { ["CONFIG-1", "CONFIG-9", "CONFIG-23"].contains($0.id) }
        options.ports = try .free()
        let report = try await ConformanceSession(options: options, console: console).examine(few)
        #expect(report.results.map(\.verdict) == [.passed, .passed, .passed])
        #expect(report.address != "127.0.0.1:\(neighbour.main(.config))")
        options.ports = neighbour
        await #expect(throws: CommandFailure.self) { _ = try await ConformanceSession(options: options, console: console).examine(few) }
        options.home = home.path
        await #expect(throws: CommandFailure.self) { _ = try await ConformanceSession(options: options, console: console).examine(few) }
        #expect(running.process.isRunning)
        let metrics = try await exchange.send("GET", "http://\(ClusterAddresses(ports: neighbour).debug(.config))/metrics")
        let text = String(decoding: metrics.body, as: UTF8.self)
        // Statements are issued when it starts; nobody has called since, and the catalogue is as it was.
        let watches = text.split(separator: "\n").filter { $0.contains("_count{") && $0.contains("WatchConfiguration") }
        #expect(metrics.status == 200 && watches.allSatisfy { $0.hasSuffix(" 0") }, "\(watches)")
        await lone.stop(running)
        try await client.shutdown()
    }

    private func base(apartFrom others: inout [Int]) throws -> Int {
        while true {
            let base = try FreePorts.base()
            guard others.allSatisfy({ abs($0 - base) > 30 }) else { continue }
            others.append(base)
            return base
        }
    }

    @Test func requirementsHaveNumbersOfTheirOwn() {
        for service in ExaminedService.allCases {
            let ids = service.requirements.map(\.id)
            #expect(Set(ids).count == ids.count)
            #expect(service.requirements.allSatisfy { $0.sentence.hasSuffix(".") && $0.source.contains(".") })
            let minimal = service.minimalRequirements.map(\.id)
            #expect(minimal.first == "WIRE-1" && minimal.contains("WIRE-53") && minimal.count == 24 && minimal.count < ids.count / 2)
        }
    }
}
