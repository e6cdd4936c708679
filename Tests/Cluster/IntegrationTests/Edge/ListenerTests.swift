@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// How the gateway starts and stops with two listeners.
@Suite("The gateway's listeners", .serialized)
struct ListenerTests {
    @Test("SIGTERM lets requests in flight finish on both listeners, refuses new connections, and ends with status 0")
    func gracefulStop() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            let gateway = try cluster.process(.gateway)
            let port = cluster.ports.main(.gateway)
            let idle = try OpenRequest(port: cluster.ports.https, text: "")
            let body = "grant_type=x"
            let head = "POST /o/client/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            let begun = try OpenRequest(port: port, text: head + "Content-Length: \(body.utf8.count + 2)\r\n\r\n" + body)
            try await Condition.wait("the request's arrival") { try await cluster.exchange.send("GET", "\(cluster.gateway)/healthz").status == 200 }
            gateway.signal(SIGTERM)
            try await Condition.wait("new connections are refused") {
                (try? OpenRequest(port: port)) == nil && (try? OpenRequest(port: cluster.ports.https)) == nil
            }
            #expect(gateway.isRunning, "a request is in flight")
            #expect(try begun.finish().hasPrefix("HTTP/1.1 400"))
            try await Condition.wait("the end") { !gateway.isRunning }
            #expect(try cluster.gatewayLog("program.stopped").count == 1, "an orderly end")
            idle.abandon()
        }
    }

    @Test("a busy port of each listener is named in one line", arguments: ["gateway.listen", "gateway.tls.listen", "gateway.admin.listen"])
    func busyPort(key: String) async throws {
        try await withCluster { cluster in
            let ports = ["gateway.listen": cluster.ports.main(.gateway), "gateway.tls.listen": cluster.ports.https]
            let port = ports[key] ?? cluster.ports.admin
            let listener = try Listener(port: port)
            defer { listener.close() }
            await #expect { _ = try await cluster.starter.start() } throws: { "\($0)".contains(key) && "\($0)".contains("\(port)") }
        }
    }

    @Test("a settings file from before there was a listener for administration starts beside another program at its port, and the log says so")
    func oldSettings() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            let file = cluster.home.settings(of: .gateway)
            var settings = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            var gateway = try #require(settings["gateway"] as? [String: Any])
            #expect(gateway.removeValue(forKey: "admin") != nil)
            settings["gateway"] = gateway
            try JSONSerialization.data(withJSONObject: settings).write(to: file)
            // Another cluster of this machine may have it already.
            let listener = try? Listener(port: 8081)
            defer { listener?.close() }
            let started = try await cluster.starter.start()
            #expect(started.count == 6)
            #expect(try await cluster.exchange.send("GET", "\(cluster.gateway)/healthz").status == 200)
            try await Condition.wait("the warning") {
                try cluster.gatewayLog("gateway.not_listening").contains { $0.contains("gateway.admin.listen") }
            }
            #expect(try ClusterFile.read(cluster.home)?.admin == "http://127.0.0.1:8081")
        }
    }

    @Test("plain HTTP away from loopback and broken certificates are refused at the start, in one line")
    func refusedSettings() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            let file = cluster.home.settings(of: .gateway)
            let good = try String(contentsOf: file, encoding: .utf8)
            let changes = [
                (
                    good.replacingOccurrences(
                        of: "\"127.0.0.1:\(cluster.ports.main(.gateway))\"", with: "\"0.0.0.0:\(cluster.ports.main(.gateway))\""),
                    "gateway.allowPlainHTTP"
                ),
                (good.replacingOccurrences(of: "gateway-https.key", with: "media-token.key"), "do not belong together"),
            ]
            for (text, problem) in changes {
                #expect(text != good)
                try text.write(to: file, atomically: true, encoding: .utf8)
                let outcome = try Program.run(cluster.starter.binaries.appendingPathComponent("gateway").path, ["--config", file.path])
                #expect(outcome.status == 78 && outcome.lines.count == 1 && outcome.output.contains(problem), "\(outcome.lines)")
            }
        }
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
