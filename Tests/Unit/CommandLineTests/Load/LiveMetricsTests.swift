import Foundation
import LoadReporting
import Testing

@testable import CommandKit
@testable import WorkshopCommands
@testable import LoadTool

@Suite("The live figures of a load, for Prometheus") struct LiveMetricsTests {
    private func value(_ text: String, _ series: String) -> Double? {
        text.split(separator: "\n").first { $0.hasPrefix("\(series) ") }.flatMap { Double($0.dropFirst(series.count + 1)) }
    }

    @Test("counters grow from second to second, warm-up included")
    func counts() {
        var metrics = LiveMetrics(isClosed: false)
        #expect(value(metrics.text(), "boxoffice_load_phase{phase=\"preparing\"}") == 1 && !metrics.text().contains("run_info"))
        metrics.begin(service: "config", workload: "a \"mix\"\n", version: "0.1.0")
        metrics.take(SampleProgress.make(second: -1, milliseconds: 3, calls: 100))
        #expect(value(metrics.text(), "boxoffice_load_phase{phase=\"warm_up\"}") == 1)
        metrics.take(SampleProgress.make(second: 1, milliseconds: 30, calls: 50, failed: 4, errors: ["timeout": 4], dropped: 2, visits: 9))
        let text = metrics.text()
        #expect(text.contains("boxoffice_load_run_info{service=\"config\",workload=\"a \\\"mix\\\"\\n\",version=\"0.1.0\"} 1\n"))
        #expect(value(text, "boxoffice_load_phase{phase=\"measuring\"}") == 1 && value(text, "boxoffice_load_phase{phase=\"warm_up\"}") == 0)
        #expect(value(text, "boxoffice_load_calls_total{code=\"ok\"}") == 146 && value(text, "boxoffice_load_calls_total{code=\"timeout\"}") == 4)
        #expect(value(text, "boxoffice_load_iterations_due_total") == 1000 && value(text, "boxoffice_load_iterations_dropped_total") == 2)
        #expect(value(text, "boxoffice_load_iterations_total") == 9)
        #expect(value(text, "boxoffice_load_wanted_iterations_per_second") == 500 && value(text, "boxoffice_load_left_seconds") == 29)
        #expect(value(text, "boxoffice_load_calls_in_flight") == 8 && value(text, "boxoffice_load_connections") == 64)
        #expect(value(text, "boxoffice_load_response_seconds_bucket{le=\"0.0025\"}") == 0)
        #expect(value(text, "boxoffice_load_response_seconds_bucket{le=\"0.005\"}") == 100)
        #expect(value(text, "boxoffice_load_response_seconds_bucket{le=\"0.05\"}") == 150)
        #expect(
            value(text, "boxoffice_load_response_seconds_bucket{le=\"+Inf\"}") == 150 && value(text, "boxoffice_load_response_seconds_count") == 150)
        #expect(abs((value(text, "boxoffice_load_response_seconds_sum") ?? 0) - 1.8) < 0.01)
        metrics.end()
        #expect(value(metrics.text(), "boxoffice_load_wanted_iterations_per_second") == 0)
        #expect(value(metrics.text(), "boxoffice_load_calls_total{code=\"ok\"}") == 146)
    }

    @Test("users have a name of their own, and codes are bounded")
    func boundsCodes() {
        var metrics = LiveMetrics(isClosed: true)
        metrics.take(
            SampleProgress.make(calls: 100, failed: 100, errors: Dictionary(uniqueKeysWithValues: (0..<100).map { ("code_\($0)", 1) })))
        let text = metrics.text()
        let codes = text.split(separator: "\n").filter { $0.hasPrefix("boxoffice_load_calls_total{") }
        #expect(codes.count == 33 && value(text, "boxoffice_load_calls_total{code=\"other\"}") == 69)
        #expect(value(text, "boxoffice_load_wanted_users") == 500 && !text.contains("iterations_per_second"))
    }

    @Test("each family has its help and type once, and each line is as Prometheus reads it")
    func isWellFormed() throws {
        var metrics = LiveMetrics(isClosed: false)
        metrics.take(SampleProgress.make())
        let lines = metrics.text().split(separator: "\n")
        let sample = /[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+-]+/
        for line in lines where !line.hasPrefix("#") { #expect(line.wholeMatch(of: sample) != nil, "\(line)") }
        let types = lines.filter { $0.hasPrefix("# TYPE ") }
        #expect(Set(types).count == types.count && types.count == lines.count { $0.hasPrefix("# HELP ") })
    }

    @Test("GET /metrics is answered, and nothing else")
    func answers() async throws {
        var place = try MetricsListener.Place("1")
        var listener: MetricsListener?
        for _ in 0..<20 where listener == nil {
            place = try MetricsListener.Place("127.0.0.1:\(Int.random(in: 13_500..<14_400))")
            listener = try? await MetricsListener.start(place) { "x 1\n" }
        }
        let running = try #require(listener)
        let exchange = HTTPExchange(client: HTTPExchange.makeClient(connections: 1))
        let base = "http://127.0.0.1:\(place.port)"
        let found = try await exchange.send("GET", "\(base)/metrics")
        #expect(found.status == 200 && found.text == "x 1\n" && found.header("content-type")?.hasPrefix("text/plain; version=0.0.4") == true)
        #expect(try await exchange.send("GET", "\(base)/").status == 404)
        #expect(try await exchange.send("POST", "\(base)/metrics", body: "a").status == 405)
        let taken = await #expect(throws: CommandFailure.self) { _ = try await MetricsListener.start(place) { "" } }
        #expect(taken?.description.contains("another program listens there") == true && taken?.exit == .usage)
        await running.stop()
        try await exchange.client.shutdown()
    }

    @Test("a port is of loopback, unless a host says otherwise; an address to push to is none")
    func places() throws {
        func place(_ text: String) throws -> String {
            let place = try MetricsListener.Place(text)
            return "\(place.host) \(place.port)"
        }
        #expect(try place("9400") == "127.0.0.1 9400" && place("0.0.0.0:9400") == "0.0.0.0 9400" && place("[::1]:9400") == "::1 9400")
        for text in ["", "0", "65536", "x", "host:", ":5", "http://push:9091", "9400/metrics", "-1"] {
            let error = #expect(throws: OptionRejection.self) { _ = try MetricsListener.Place(text) }
            #expect(error.map { "\($0)".contains("give a port") } == true, "\(text)")
        }
    }

    @Test("--start-at is a moment of the coming day, in seconds or by the calendar")
    func moments() throws {
        func moment(_ text: String) throws -> Double? {
            let command = try #require(try LoadCommand.parseAsRoot(["config", "--rate", "5", "--start-at", text]) as? LoadServiceCommand)
            return try command.live.moment(now: Date(timeIntervalSince1970: 1_900_000_000))?.timeIntervalSince1970
        }
        #expect(try moment("1900000060") == 1_900_000_060 && moment("1900000060.5") == 1_900_000_060.5)
        #expect(try moment("2030-03-17T17:47:40Z") == 1_900_000_060)
        for text in ["1899999999", "1900090000", "noon", "nan", "", "2030-03-17T17:47:40"] {
            #expect(throws: OptionRejection.self, "\(text)") { _ = try moment(text) }
        }
    }
}
