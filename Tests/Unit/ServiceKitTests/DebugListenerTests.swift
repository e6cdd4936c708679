import Hummingbird
import HummingbirdTesting
import Testing

@testable import ServiceKit

@Suite("Debug listener")
struct DebugListenerTests {
    private let readiness = Readiness()
    private let metrics = PrometheusMetrics()

    private func get(_ path: String) async throws -> (status: HTTPResponse.Status, text: String) {
        let listener = DebugListener(
            endpoint: Endpoint(address: "127.0.0.1", port: 0), metrics: metrics, readiness: readiness, logger: LogLines().logger())
        return try await Application(router: listener.router()).test(.router) { client in
            try await client.execute(uri: path, method: .get) { ($0.status, String(buffer: $0.body)) }
        }
    }

    @Test("is alive, and ready while nothing is lacking")
    func ready() async throws {
        readiness.require("store") { nil }
        #expect(try await get("/healthz") == (.ok, "ok\n"))
        #expect(try await get("/readyz") == (.ok, "ready\n"))
    }

    @Test("is not ready while a part lacks something, and says what; alive nevertheless")
    func notReady() async throws {
        readiness.require("catalogue") { "no version received" }
        readiness.require("store") { nil }
        #expect(try await get("/readyz") == (.serviceUnavailable, "catalogue: no version received\n"))
        #expect(try await get("/healthz").status == .ok)
    }

    @Test("is not ready once it stops")
    func stopping() async throws {
        readiness.stop()
        #expect(try await get("/readyz") == (.serviceUnavailable, "program: is stopping\n"))
    }

    @Test("shows the metrics as Prometheus text")
    func showsMetrics() async throws {
        metrics.makeCounter(label: "boxoffice_test_total", dimensions: []).increment(by: 4)
        let (status, text) = try await get("/metrics")
        #expect(status == .ok)
        #expect(text.contains("boxoffice_test_total 4\n"))
        #expect(text.contains("boxoffice_process_resident_bytes "))
        #expect(
            text.contains(
                "boxoffice_build_info{version=\"\(SoftwareVersion.current)\",build=\"\(SoftwareVersion.build)\",commit=\"\(SoftwareVersion.commit)\"} 1\n"
            ))
    }

    @Test("HEAD is answered as GET", arguments: ["/healthz", "/metrics"])
    func heads(path: String) async throws {
        let listener = DebugListener(
            endpoint: Endpoint(address: "127.0.0.1", port: 0), metrics: metrics, readiness: readiness, logger: LogLines().logger())
        try await Application(router: listener.router()).test(.router) { client in
            try await client.execute(uri: path, method: .head) { #expect($0.status == .ok && $0.body.readableBytes == 0) }
        }
    }

    @Test("anything else is not found")
    func notFound() async throws {
        #expect(try await get("/admin").status == .notFound)
    }
}
