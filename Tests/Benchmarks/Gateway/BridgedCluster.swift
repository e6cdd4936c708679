import CommandKit
import Foundation
import TextEncodings

/// A cluster in front of the sandbox's stand-in vendor, with devices that are signed in here and there.
struct BridgedCluster {
    static let requestor = "ACME1"
    private static let resource = "ACME1-NEWS"
    private static let bridged = "CoastCable"

    let cluster: LocalCluster
    let exchange: HTTPExchange

    /// Files of requests.
    struct Files {
        /// checkauthn of viewers of a channel without an upstream, and of bridged viewers.
        let direct: URL
        let stored: URL
        /// Media tokens for permits that are stored: of a direct viewer of the channel with the upstream, of one of the channel without; and of bridged viewers.
        let reference: URL
        let jws: URL
        let called: URL
        /// The bridge's own calls, as the upstream noted them.
        let upstream: URL
        let upstreamPort: Int
    }

    /// - Parameter latency: Milliseconds in which the upstream answers.
    func prepare(devices: Int, latency: Int, in work: URL) async throws -> Files {
        let upstream = try cluster.upstream()
        try await connect(upstream)
        // Of the channel that has the upstream, and of one without.
        let beside = try await fleet(devices, "NorthCable", 6)
        let direct = try await fleet(
            devices, "NorthCable", 8, at: LocalCluster.jwsRequestor, domain: "acme-two.example", "ACME2-MOVIES")
        let bridged = try await fleet(devices, Self.bridged, 7)
        _ = try await control("DELETE", "log")
        for device in bridged.devices {
            let own = FormEncoding.encode([("requestor", device.requestor), ("deviceId", device.id), ("resource", Self.resource)])
            // The first token takes what the sign-in's decision left; the second one is a call of its own.
            for _ in 0..<2 {
                let answer = try await exchange.send(
                    "GET", "\(cluster.gateway)/api/v1/mediatoken?\(own)", headers: [("Authorization", "Bearer \(device.accessToken)")])
                guard answer.status == 200 else { throw BenchmarkFailure("a media token was answered \(answer.status): \(answer.text)") }
            }
        }
        let files = Files(
            direct: work.appending(path: "direct"), stored: work.appending(path: "stored"), reference: work.appending(path: "reference"),
            jws: work.appending(path: "jws"), called: work.appending(path: "called"), upstream: work.appending(path: "upstream"),
            upstreamPort: URL(string: upstream)?.port ?? 80)
        try Scenario.checks(direct).write(to: files.direct)
        try Scenario.checks(bridged).write(to: files.stored)
        try Scenario.tokens(beside).write(to: files.reference)
        try Scenario.tokens(direct).write(to: files.jws)
        try Scenario.tokens(bridged).write(to: files.called)
        try await calls(of: devices).write(to: files.upstream)
        _ = try await control("PUT", "behaviour", ["latencyMilliseconds": latency])
        return files
    }

    private func fleet(
        _ devices: Int, _ mvpd: String, _ series: Int, at requestor: String = requestor, domain: String = "acme.example",
        _ resource: String = resource
    ) async throws -> Fleet {
        try await Fleet.signIn(
            devices, at: requestor, domain: domain, resources: [resource], cluster: cluster, series: series, mvpd: mvpd)
    }

    private func connect(_ upstream: String) async throws {
        let statements = try JSONSerialization.jsonObject(with: Data(try await control("GET", "statements").utf8))
        guard let statement = (statements as? [[String: Any]])?.first(where: { $0["id"] as? String == "acme-v2" })?["text"] as? String else {
            throw BenchmarkFailure("the stand-in upstream has no statement")
        }
        _ = try await cluster.administer("POST", "/secrets/acme-v2", ["secret": statement], by: exchange)
        let client: [String: Any] = ["id": "tv", "statementReference": "acme-v2", "requestors": "all", "platforms": "all"]
        _ = try await cluster.administer(
            "POST", "/upstreams",
            [
                "id": "vendor", "baseUrl": upstream, "clients": [client],
                // The machine is to be the limit.
                "limits": ["perSecond": 10_000, "inFlight": 4096, "connections": 64],
            ], by: exchange)
        let path = "/requestors/\(Self.requestor)"
        guard var requestor = try await cluster.administer("GET", path, by: exchange)["entity"] as? [String: Any] else {
            throw BenchmarkFailure("the catalogue has no \(Self.requestor)")
        }
        requestor["upstream"] = ["upstream": "vendor", "returnOrigin": cluster.gateway]
        _ = try await cluster.administer("PUT", path, requestor, by: exchange)
        _ = try await cluster.administer(
            "POST", "/mvpds", ["id": Self.bridged, "displayName": "Coast Cable", "upstreamOnly": true], by: exchange)
        _ = try await cluster.administer(
            "POST", "/integrations", ["requestor": Self.requestor, "mvpd": Self.bridged, "upstream": true, "metadataKeys": [String]()], by: exchange)
        _ = try await cluster.administer("POST", "/draft/push", ["description": "An upstream"], by: exchange)
        for _ in 0..<300 {
            let list = try await exchange.send("GET", "\(cluster.gateway)/api/v1/config/\(Self.requestor).json").text
            if list.contains(Self.bridged) {
                // The other services take the same version within a second.
                return try await Task.sleep(for: .seconds(2))
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw BenchmarkFailure("the catalogue with the upstream is not served")
    }

    func control(_ method: String, _ path: String, _ body: [String: Any]? = nil) async throws -> String {
        let text = try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        let answer = try await exchange.send(
            method, "\(try cluster.upstream())/control/\(path)", headers: [("Content-Type", "application/json")], body: text)
        guard (200..<300).contains(answer.status) else { throw BenchmarkFailure("\(method) \(path): \(answer.status) \(answer.text)") }
        return answer.text
    }

    /// - Parameter entry: Entries after this one; the counters are of all calls.
    private func log(after entry: Int = 0) async throws -> [String: Any] {
        let text = try await control("GET", "log?operation=authorize&after=\(entry)")
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
    }

    /// Decisions that the upstream was asked for since its log was emptied.
    func asked() async throws -> Int {
        // The entries of a whole run are more than an answer may hold.
        let counters = try await log(after: .max)["counters"] as? [String: [String: Int]]
        return counters?["authorize"]?["calls"] ?? 0
    }

    /// The decisions that the bridge asked for, to be asked again without it.
    private func calls(of devices: Int) async throws -> RequestFile {
        let dropped: Set<String> = ["host", "content-length", "content-type", "connection", "x-forwarded-for", "transfer-encoding"]
        let entries = try await log()["entries"] as? [[String: Any]] ?? []
        guard entries.count >= devices else { throw BenchmarkFailure("the upstream was asked for \(entries.count) decisions only") }
        var file = RequestFile()
        for entry in entries.suffix(devices) {
            let headers = (entry["headers"] as? [String: String] ?? [:]).filter { !dropped.contains($0.key) }
            file.add("POST", entry["path"] as? String ?? "", headers: headers.map { ($0.key, $0.value) }, json: entry["body"] as? String ?? "")
        }
        return file
    }
}
