@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// `boxoffice load SERVICE` as a new user tries it: against a running cluster, without options for the requests.
@Suite("Load on the services of a cluster", .serialized, .cluster)
struct ClusterLoadTests {
    /// Twice: the state that the first run leaves behind must not disturb the second.
    @Test(.tags(.timing), .onReleasePrograms, arguments: ["config", "authentication", "authorization", "autosignin"])
    func theFirstMethodOfEachServiceRunsAgainAndAgain(_ service: String) throws {
        for _ in 1...2 { try run(service, ["--rate", "50"]) }
    }

    @Test(.tags(.timing), .onReleasePrograms) func manyMediaTokensAreNoneTooManyForAnybody() throws {
        try run("authorization", ["--method", "IssueMediaToken", "--rate", "150"])
    }

    private func run(_ service: String, _ more: [String]) throws {
        let cluster = try TestCluster.running()
        let arguments = ["load", service, "--duration", "2s", "--warm-up", "0s", "--quiet", "--assert", "errors<=0%"]
        let outcome = try Program.run(
            cluster.starter.binaries.appendingPathComponent("boxoffice").path, arguments + more + ["--home", cluster.home.root.path])
        #expect(outcome.status == 0, "\(service): \(outcome.output)")
    }
}
