@testable import BoxofficeCommand
import ContractConformance
import Foundation
import Testing

/// Our own services keep their contracts; each is started alone, its peers played by the examiner.
@Suite("Conformance")
struct ConformanceCases {
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
        }
    }
}
