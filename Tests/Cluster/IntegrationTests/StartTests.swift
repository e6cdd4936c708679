@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// The start of a cluster as a person sees it, with its failures.
@Suite("Starting a cluster", .serialized)
struct StartTests {
    private static let isLong = ProcessInfo.processInfo.environment["BOXOFFICE_LONG"] == "1"

    /// Three seconds, plus twice the time that this many RSA keys take to generate on this machine now. That time is random, and only the number of
    /// keys is the product's.
    @Test(.tags(.timing), .onReleasePrograms) func isReadyWithinThreeSecondsWithKeysMadeAnew() async throws {
        let clock = ContinuousClock()
        let finding = try clock.measure { _ = try LocalPki.findRSAKeys(count: 10) }
        try await withCluster(takesKeys: false) { cluster in
            let took = try await clock.measure { _ = try await cluster.starter.start() }
            #expect(took < .seconds(3) + finding * 2, "took \(Console.text(of: took)); finding ten keys took \(Console.text(of: finding))")
            #expect(try await cluster.starter.start().isEmpty, "a second start finds everything running")
        }
    }

    @Test(.tags(.timing), .onReleasePrograms) func isReadyWithinThreeSecondsWithKeysOfAnEarlierRun() async throws {
        try await withCluster { cluster in
            try cluster.home.prepare()
            try LocalPki(folder: cluster.home.pki).ensure()
            let took = try await ContinuousClock().measure { _ = try await cluster.starter.start() }
            #expect(took < .seconds(3), "took \(Console.text(of: took))")
        }
    }

    @Test func eachIdleServiceSettlesBelow40MiB() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            for service in ClusterService.allCases where service != .sandbox {
                let pid = try cluster.process(service).pid
                // The kernel decides how much of the programs' files is resident; pages that several processes map count by their share.
                try await Condition.wait("\(service.rawValue) is below 40 MiB, 16 MiB of it its own") {
                    try memoryKiB("Pss:", of: pid) < 40 * 1024 && memoryKiB("Pss_Anon:", of: pid) < 16 * 1024
                }
            }
        }
    }

    @Test func writesAClusterFileForScripts() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            let content = try Data(contentsOf: cluster.home.clusterFile)
            let file = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
            #expect(file["gateway"] as? String == cluster.gateway)
            let services = try #require(file["services"] as? [String: [String: Any]])
            #expect(Set(services.keys) == ["config", "authentication", "authorization", "autosignin", "gateway"])
            for (name, entry) in services {
                #expect(entry["address"] is String && entry["debug"] is String, "\(name)")
                #expect(kill(Int32(entry["pid"] as? Int ?? 0), 0) == 0, "\(name)")
            }
            let sandbox = try #require(file["sandbox"] as? [String: Any])
            #expect(sandbox["mvpd"] is String && sandbox["apple"] is String)
            let pki = try #require(file["pki"] as? [String: String])
            for name in ["ca", "clientCert", "clientKey"] { #expect(FileManager.default.fileExists(atPath: pki[name] ?? "")) }
            #expect((file["adminToken"] as? String)?.isEmpty == false)
        }
    }

    @Test func aBusyPortIsNamed() async throws {
        try await withCluster { cluster in
            let port = cluster.ports.main(.authorization)
            let listener = try Listener(port: port)
            defer { listener.close() }
            await #expect { _ = try await cluster.starter.start() } throws: { "\($0)".contains("\(port)") }
            #expect(try ClusterFile.read(cluster.home) == nil, "a start that failed leaves nothing running")
        }
    }

    /// A program that gives up has threads that still run: none of them may crash during the exit, so it is tried several times.
    @Test(arguments: [ClusterService.config, .authentication, .authorization, .autosignin, .gateway, .sandbox])
    func aBusyPortEndsAProgramInOneLine(_ service: ClusterService) async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            for _ in 0..<(Self.isLong ? 40 : 8) {
                let outcome = try run(service, cluster)
                let complaint = outcome.lines.filter { !$0.hasPrefix("{") }
                let isNamed = [cluster.ports.main(service), cluster.ports.debug(service), cluster.ports.https, cluster.ports.admin].contains {
                    complaint.first?.contains("\($0)") == true
                }
                try #require(outcome.status == 1 && complaint.count == 1 && isNamed, "\(outcome.status): \(complaint)")
            }
        }
    }

    @Test(arguments: ["authentication.key", "media-token.key"])
    func anUnreadableKeyIsNamed(_ key: String) async throws {
        try await withCluster { cluster in
            try cluster.home.prepare()
            let pki = LocalPki(folder: cluster.home.pki)
            try pki.ensure()
            _ = try await cluster.starter.start()
            try await cluster.stop()
            try Data("no key".utf8).write(to: URL(fileURLWithPath: pki.path(key)))
            let service: ClusterService = key == "media-token.key" ? .authorization : .authentication
            let outcome = try run(service, cluster)
            #expect(outcome.status == 78)
            // In addition to the log of the start.
            let complaint = outcome.lines.filter { !$0.hasPrefix("{") }
            #expect(complaint.count == 1 && complaint[0].contains(key), "\(outcome.lines)")
        }
    }

    @Test func everyProblemOfABrokenCatalogueIsListed() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            let text = try String(contentsOf: cluster.home.catalogue, encoding: .utf8)
                .replacingOccurrences(of: "\"BRAVO\"", with: "\"BRA VO\"").replacingOccurrences(of: "/saml/LakeTel/sso", with: " not a url")
            try text.write(to: cluster.home.catalogue, atomically: true, encoding: .utf8)
            let outcome = try run(.config, cluster)
            #expect(outcome.status == 78)
            let all = outcome.lines.joined(separator: "\n")
            #expect(all.contains("requestors[2].id") && all.contains("mvpds[1].saml.ssoUrl"), "\(all)")
        }
    }

    @Test func anUnknownSettingIsNamed() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            for service in ClusterService.allCases {
                let file = cluster.home.settings(of: service)
                let text = try String(contentsOf: file, encoding: .utf8)
                try ("{\"surplus\": 1," + text.drop { $0 != "{" }.dropFirst()).write(to: file, atomically: true, encoding: .utf8)
                let outcome = try run(service, cluster)
                #expect(outcome.status == 78, "\(service.rawValue)")
                #expect(outcome.lines.count == 1 && outcome.lines[0].contains("surplus"), "\(service.rawValue): \(outcome.lines)")
            }
        }
    }

    /// Units start nothing again after 78, so a start must refuse all that `--check-config` refuses. Tried with each number and each file of the settings.
    @Test func aStartMakesTheChecksOfCheckConfig() async throws {
        try await withCluster { cluster in
            _ = try await cluster.starter.start()
            try await cluster.stop()
            var accepted: Set<String> = []
            for service in ClusterService.allCases where service != .sandbox {
                let settings = cluster.home.settings(of: service)
                let good = try JSONSerialization.jsonObject(with: Data(contentsOf: settings))
                var wrong = Self.wrong(good, "", beside: settings)
                if service != .gateway, var document = good as? [String: Any] {
                    document["storage"] = ["engine": "postgres", "passwordFile": "absent"]
                    wrong.append(("storage.passwordFile", document))
                }
                #expect(wrong.count > 8, "\(service.rawValue): \(wrong.map(\.key))")
                let trial = settings.deletingLastPathComponent().appendingPathComponent("trial.json")
                for (key, document) in wrong {
                    try JSONSerialization.data(withJSONObject: document).write(to: trial)
                    let check = try run(service, cluster, settings: trial, ["--check-config"])
                    guard check.status != 0 else {
                        accepted.insert(key)
                        continue
                    }
                    let start = try run(service, cluster, settings: trial)
                    let complaint = start.lines.filter { !$0.hasPrefix("{") }
                    #expect(check.status == 78 && start.status == 78, "\(service.rawValue) \(key): \(check.status), \(start.status)")
                    #expect(complaint == check.lines, "\(service.rawValue) \(key): \(complaint), \(check.lines)")
                }
            }
            // Folders that the program makes, or operators fill later on.
            #expect(accepted == ["data", "config.clientSecrets", "authentication.clientSecrets", "autosignin.secrets"])
        }
    }

    /// The document with one number or one name of a file changed, for each of them.
    private static func wrong(_ value: Any, _ key: String, beside settings: URL) -> [(key: String, document: Any)] {
        func place(_ name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }
        switch value {
        case let object as [String: Any]:
            return object.sorted { $0.key < $1.key }.flatMap { name, value in
                wrong(value, place(name), beside: settings).map { entry -> (key: String, document: Any) in
                    (entry.key, object.merging([name: entry.document]) { $1 })
                }
            }
        case let list as [Any]:
            return list.enumerated().flatMap { index, value in
                wrong(value, "\(key)[\(index)]", beside: settings).map { entry -> (key: String, document: Any) in
                    var changed = list
                    changed[index] = entry.document
                    return (entry.key, changed)
                }
            }
        case let text as String:
            let file = URL(fileURLWithPath: text, relativeTo: settings.deletingLastPathComponent())
            return text.contains("/") && FileManager.default.fileExists(atPath: file.path) ? [(key, text + ".absent")] : []
        default:
            // A flag is a number, too, until it is written.
            let written = (try? JSONSerialization.data(withJSONObject: [value])).map { String(decoding: $0, as: UTF8.self) } ?? ""
            return written.contains(where: \.isNumber) ? [(key, -1)] : []
        }
    }

    private func withCluster(takesKeys: Bool = true, _ body: (TestCluster) async throws -> Void) async throws {
        let client = HTTPExchange.makeClient()
        let cluster = try TestCluster(exchange: HTTPExchange(client: client), takesKeys: takesKeys)
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

    /// Starts one program of a cluster that must refuse to run.
    /// - Parameter settings: `nil`: the cluster's.
    private func run(_ service: ClusterService, _ cluster: TestCluster, settings: URL? = nil, _ more: [String] = []) throws -> Program {
        let binary = cluster.starter.binaries.appendingPathComponent(service.rawValue)
        let environment = service.environment.map { "\($0.key)=\($0.value)" }
        return try .run("/usr/bin/env", environment + [binary.path, "--config", (settings ?? cluster.home.settings(of: service)).path] + more)
    }

    private func memoryKiB(_ name: String, of pid: Int32) throws -> Int {
        let rollup = try String(contentsOfFile: "/proc/\(pid)/smaps_rollup", encoding: .utf8)
        let line = try #require(rollup.split(separator: "\n").first { $0.hasPrefix(name) })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) })
    }
}
