@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A client in another language, written from WIRE.md, calls the real services.
@Suite("A stranger's client in Python", .serialized, .cluster)
struct PeerTests {
    @Test(arguments: [ClusterService.config, .authentication, .authorization, .autosignin])
    func learnsThatEachServiceIsHealthy(service: ClusterService) throws {
        let answer = try peer(service, ["check"])
        #expect(answer.status == 0, "\(answer.output)")
        #expect(answer.output.contains("SERVING_STATUS_SERVING"), "\(answer.output)")
    }

    @Test func listsServicesByReflection() throws {
        let answer = try peer(.authentication, ["services"])
        #expect(answer.status == 0 && answer.output.contains("boxoffice.authentication.v1.Sessions"), "\(answer.output)")
    }

    @Test func readsAndWatchesTheConfiguration() throws {
        let answer = try peer(.config, ["configuration"])
        #expect(answer.status == 0 && answer.output.contains("NorthCable"), "\(answer.output)")
        let watched = try peer(.config, ["--count", "1", "watch"])
        #expect(watched.status == 0 && watched.output.contains("\"version\""), "\(watched.output)")
    }

    @Test func itsDeadlineIsKept() throws {
        let answer = try peer(.autosignin, ["--timeout", "0.2", "--delay", "5000", "echo"])
        #expect(answer.status == 1 && answer.output.contains("deadline_exceeded"), "\(answer.output)")
    }

    @Test func aCallerThatIsNotOnTheListIsRefused() throws {
        let answer = try peer(.authentication, ["services"], as: "config")
        #expect(answer.status == 1 && answer.output.contains("permission_denied"), "\(answer.output)")
    }

    private func peer(_ service: ClusterService, _ arguments: [String], as caller: String = "operator") throws -> Program {
        let cluster = try TestCluster.running()
        let pki = LocalPki(folder: cluster.home.pki)
        let script = cluster.starter.checkout.appendingPathComponent("Tests/Cluster/Peers/python/peer.py").path
        let identity = [
            "--address", "127.0.0.1:\(cluster.ports.main(service))", "--ca", pki.path("ca.crt"), "--cert", pki.path("\(caller).crt"),
            "--key", pki.path("\(caller).key"), "--name", service.certificateName,
        ]
        return try Program.run("/usr/bin/python3", [script] + identity + arguments)
    }
}
