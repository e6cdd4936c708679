@testable import ClusterCommands
import Foundation
import Testing

/// Independent programs that check the gateway's HTTPS.
enum Peer {
    /// `curl` with the trust of the cluster.
    static func curl(_ cluster: TestCluster, _ arguments: [String]) throws -> Program {
        try .run("/usr/bin/curl", ["-sS", "--max-time", "15", "--cacert", LocalPki(folder: cluster.home.pki).path("ca.crt")] + arguments)
    }

    /// `openssl s_client`; its input ends at once.
    static func openssl(_ cluster: TestCluster, _ arguments: [String]) throws -> Program {
        let authority = LocalPki(folder: cluster.home.pki).path("ca.crt")
        let words = ["openssl", "s_client", "-connect", "127.0.0.1:\(cluster.ports.https)", "-CAfile", authority] + arguments
        return try .run("/bin/sh", ["-c", words.joined(separator: " ") + " </dev/null"])
    }
}

extension TestCluster {
    var gatewayTLS: String { ClusterAddresses(ports: ports).gatewayTLS }

    /// The gateway's log under an event's name.
    func gatewayLog(_ event: String) throws -> [Substring] {
        try String(contentsOf: home.log(of: .gateway), encoding: .utf8).split(separator: "\n").filter { $0.contains("\"\(event)\"") }
    }

    /// Memory of the gateway, in KiB.
    func gatewayMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(try process(.gateway).pid)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
