@testable import Simulation
@testable import ClusterCommands
@testable import CommandKit
import Foundation
import OtlpReceiver
import Testing

/// Traces and metrics of the real programs, at a collector of ours.
@Suite("Telemetry of a cluster", .serialized)
struct TelemetryTests {
    private static let services: [ClusterService] = [.config, .authentication, .authorization, .autosignin, .gateway]

    @Test("a request through the gateway is one trace across all services that it needs, and one id names it everywhere")
    func oneTrace() async throws {
        let receiver = OtlpReceiver()
        try await receiver.start()
        let trace = String(repeating: "0", count: 24) + "\(UInt32.random(in: 1 << 28 ..< .max))".suffix(8)
        try await withCluster { cluster in
            try await cluster.restart(exportingTo: receiver.address)
            let app = try await cluster.app()
            let code = try await app.requestCode()
            _ = try await cluster.signIn(app, code: code.code)
            let path = "/api/v1/authorize?\(app.deviceSet([("resource", "ACME1-NEWS")]))"
            let answer = try await app.send("GET", path, headers: [("traceparent", "00-\(trace)-00f067aa0ba902b7-01")])
            #expect(answer.status == 200 && answer.header("Adobe-Request-Id")?.replacingOccurrences(of: "-", with: "") == trace)
            let quiet = trace.reversed().map(String.init).joined()
            _ = try await app.send("GET", path, headers: [("traceparent", "00-\(quiet)-00f067aa0ba902b7-00")])
            try await cluster.stop()
            #expect(receiver.spans.allSatisfy { $0.trace != quiet }, "what the caller does not record is not recorded")
            for service in [ClusterService.gateway, .authorization] {
                let log = try String(contentsOf: cluster.home.log(of: service), encoding: .utf8)
                #expect(!log.contains("telemetry.not_taken"), "\(service)")
            }
            let log = try String(contentsOf: cluster.home.log(of: .gateway), encoding: .utf8)
            #expect(log.contains(#""trace_id":"\#(trace)""#))
        }
        // Spans that were on their way when their program stopped are sent again: they may come twice.
        let spans = Set(receiver.spans.filter { $0.trace == trace })
        let root = try #require(spans.first { $0.service == "gateway" && $0.kind == 2 })
        #expect(root.parent == "00f067aa0ba902b7" && root.name == "GET /api/v1/authorize")
        let ids = Set(spans.map(\.id))
        #expect(ids.count == spans.count && spans.allSatisfy { $0.id == root.id || ids.contains($0.parent) }, "nothing hangs in the air")
        #expect(spans.contains { $0.service == "authorization" && $0.kind == 2 && $0.attributes["rpc.method"] == "Authorize" })
        #expect(spans.contains { $0.service == "authentication" && $0.kind == 2 }, "who is signed in, authorization asks there")
        #expect(spans.contains { $0.service == "authorization" && $0.attributes["http.request.method"] == "POST" }, "the MVPD is asked")
        #expect(spans.contains { $0.attributes["db.namespace"] == "authorization" })
        #expect(!"\(receiver.spans)".contains("ACME1-NEWS"), "what was asked for is nobody's to know")
        for service in Self.services {
            #expect(receiver.metrics.contains("\(service.rawValue) boxoffice_build_info"), "\(service)")
        }
        await receiver.stop()
    }

    private func withCluster(_ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client))
        do {
            try await body(cluster)
        } catch {
            try? await cluster.stop()
            try await client.shutdown()
            throw error
        }
        try await cluster.stop()
        try await client.shutdown()
        cluster.removeState()
    }
}

extension TestCluster {
    /// Starts, and starts again with the address in each settings file.
    fileprivate func restart(exportingTo address: String) async throws {
        _ = try await starter.start()
        try await stop()
        for service in [ClusterService.config, .authentication, .authorization, .autosignin, .gateway] {
            let file = home.settings(of: service)
            var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            settings["telemetry"] = ["endpoint": address, "batchDelayMilliseconds": 50]
            try JSONSerialization.data(withJSONObject: settings).write(to: file)
        }
        _ = try await starter.start()
    }
}
