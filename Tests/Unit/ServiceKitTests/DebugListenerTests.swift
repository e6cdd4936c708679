import Hummingbird
import HummingbirdTesting
import Synchronization
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

    @Test("is ready though not all is well, and says so; what it lacks is told alone")
    func degraded() async throws {
        let lacks = Mutex(false)
        readiness.require("catalogue") { lacks.withLock { $0 } ? "no version received" : nil }
        readiness.note("authentication") { "another reason" }
        readiness.note("authentication") { "no copy serves" }
        readiness.note("config") { nil }
        #expect(try await get("/readyz") == (.ok, "ready\ndegraded: authentication: no copy serves\n"))
        lacks.withLock { $0 = true }
        #expect(try await get("/readyz") == (.serviceUnavailable, "catalogue: no version received\n"))
    }

    @Test("parts that do not count never take a program out of service, whoever adds them and when")
    func countsOnly() async throws {
        readiness.require("schema") { "too new" }
        readiness.count(only: "catalogue", "listeners")
        readiness.require("storage") { "away" }
        readiness.require("listeners") { nil }
        #expect(try await get("/readyz") == (.ok, "ready\ndegraded: schema: too new\ndegraded: storage: away\n"))
        readiness.require("catalogue") { "no version received" }
        #expect(try await get("/readyz") == (.serviceUnavailable, "catalogue: no version received\n"))
        readiness.stop()
        #expect(try await get("/readyz") == (.serviceUnavailable, "program: is stopping\n"))
    }

    @Test("metrics say whether it is ready, and which parts are not, at the moment in which they are read")
    func readinessInMetrics() async throws {
        let lacks = Mutex(false)
        readiness.require("storage") { lacks.withLock { $0 } ? "away" : nil }
        readiness.require("schema") { nil }
        readiness.note("config") { "no copy serves" }
        metrics.beforeReading { [readiness] in readiness.record(in: $0) }
        func told() async throws -> [String] {
            try await get("/metrics").text.split(separator: "\n").map(String.init)
                .filter { $0.hasPrefix("boxoffice_ready") || $0.hasPrefix("boxoffice_not_ready") }
        }
        func lines(_ program: Int, _ schema: Int, _ storage: Int, _ ready: Int) -> [String] {
            ["program", "schema", "storage"].enumerated().map { index, part in
                "boxoffice_not_ready{part=\"\(part)\"} \([program, schema, storage][index]).0"
            } + ["boxoffice_ready \(ready).0"]
        }
        #expect(try await told() == lines(0, 0, 0, 1))
        lacks.withLock { $0 = true }
        #expect(try await told() == lines(0, 0, 1, 0))
        readiness.stop()
        #expect(try await told() == lines(1, 0, 0, 0))
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
