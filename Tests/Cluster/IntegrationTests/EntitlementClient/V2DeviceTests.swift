@testable import ClusterCommands
@testable import Simulation
import Foundation
import Testing

/// `boxoffice device --api v2` and `boxoffice load gateway --api v2` against the programs of a cluster, as far as the gateway describes what they call.
@Suite("boxoffice on REST v2", .serialized, .cluster)
struct V2DeviceTests {
    private static let described: Set<String> = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../Services/Gateway/Pages/openapi.json")
        let document = (try? Data(contentsOf: file)).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
        return Set((document?["paths"] as? [String: Any] ?? [:]).keys)
    }()

    /// True for the paths below the service provider.
    private static func serves(_ paths: String...) -> Bool {
        paths.allSatisfy { path in described.contains { $0.hasPrefix("/api/v2/{serviceProvider}/\(path)") } }
    }

    private static let flows = V2Flow.allCases.filter { flow in
        guard serves("sessions/{code}", "profiles/code/", "decisions/authorize/", "decisions/preauthorize/", "logout/") else { return false }
        return switch flow {
        case .h, .i: serves("sessions/sso/", "profiles/sso/")
        case .j: described.contains { $0.hasSuffix("/serviceToken") }
        default: true
        }
    }

    private static let scenarios = flows.isEmpty ? [] : ["second-screen", "playback"] + (flows.contains(.h) ? ["token-exchange", "mixed"] : [])

    private func boxoffice(_ arguments: [String]) throws -> Program {
        let cluster = try TestCluster.running()
        let program = cluster.starter.binaries.appendingPathComponent("boxoffice").path
        return try .run("/usr/bin/env", ["BOXOFFICE_HOME=\(cluster.home.root.path)", program] + arguments)
    }

    @Test("rest-v2 §5: the TV plays the flow to its end", arguments: flows)
    func flow(_ flow: V2Flow) throws {
        let end = try boxoffice(["device", "--api", "v2", "--flow", flow.rawValue, "--as", "ada"])
        #expect(end.status == 0, "\(end.output)")
    }

    @Test("rest-v2 §5: every call of the visits is answered", arguments: scenarios)
    func scenario(_ name: String) throws {
        let end = try boxoffice([
            "load", "gateway", "--api", "v2", "--scenario", name, "--rate", "20", "--duration", "2s", "--warm-up", "0s", "--quiet", "--assert",
            "errors<=0%",
        ])
        #expect(end.status == 0, "\(end.output)")
    }

    @Test("an app that a gateway does not answer so ends with the reason")
    func endsWithReason() throws {
        let end = try boxoffice(["device", "--api", "v2", "--flow", "a", "--as", "ada", "--requestor", "NOBODY"])
        #expect([1, 3].contains(end.status) && end.output.contains("flow A: "), "\(end.output)")
    }
}
