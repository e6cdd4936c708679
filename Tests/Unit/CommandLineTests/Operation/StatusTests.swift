@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

@Suite("How the programs of a cluster are")
struct StatusTests {
    /// A process whose program has the name of a service.
    private static func start(_ service: ClusterService, _ home: ClusterHome) throws -> ServiceProcess {
        let program = home.root.appendingPathComponent("bin/\(service.rawValue)")
        try FileManager.default.createDirectory(at: program.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: URL(fileURLWithPath: "/bin/sleep"), to: program)
        return try .start(service, binary: program, arguments: ["600"], log: home.log(of: service))
    }

    private static func file(_ home: ClusterHome) throws -> ClusterFile {
        let pki = LocalPki(folder: home.pki)
        try pki.ensureQuickly()
        return try ClusterAddresses(ports: PortPlan(base: 30000)).emptyFile(home: home, pki: pki)
    }

    @Test("a program that is ready, one that is not, one that does not answer, and one that has ended")
    func programs() async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("status-\(UUID().uuidString)"))
        try home.prepare()
        defer { try? FileManager.default.removeItem(at: home.root) }
        var file = try Self.file(home)
        let processes = try [ClusterService.config, .gateway, .authentication].map { try Self.start($0, home) }
        defer { for process in processes { process.signal(SIGKILL) } }
        for process in processes { file.services[process.service.rawValue]?.pid = process.pid }
        let error = #"{"time":"2031-03-04T10:00:00.000Z","level":"error","service":"config","event":"store.failed","reason":"the disk is full"}"#
        let lines = [error.replacing("full", with: "slow"), error, error.replacing("error", with: "info"), "Fatal error: no JSON", ""]
        try Data(lines.joined(separator: "\n").utf8).write(to: home.log(of: .config))

        let metrics = "boxoffice_build_info{version=\"9.9\",build=\"release\",commit=\"\"} 1\nboxoffice_config_catalogue_version 1795769069.0\n"
        let readyz = "ready\ndegraded: authentication: no copy serves\n"
        let status = try await StubServer.with({ StubAnswer(body: $0.path == "/readyz" ? readyz : metrics) }) { ready in
            try await StubServer.with({ _ in StubAnswer(status: 503, body: "config.boxoffice: no connection\nno catalogue\n") }) { waiting in
                file.services["config"]?.debug = String(ready.url.dropFirst(7))
                file.services["gateway"]?.debug = String(waiting.url.dropFirst(7))
                return try await StatusReader.read(home, file)
            }
        }

        #expect(!status.isReady)
        #expect(status.programs.map(\.name) == ["gateway", "config", "authentication", "authorization", "autosignin"], "no sandbox was started")
        func program(_ name: String) throws -> ProgramStatus { try #require(status.programs.first { $0.name == name }) }
        let config = try program("config")
        #expect(config.isReady && config.pid == processes[0].pid && config.version == "9.9" && config.build == "release")
        #expect(config.catalogueVersion == 1_795_769_069)
        #expect(config.notes == ["degraded: authentication: no copy serves"] && config.reasons.isEmpty)
        #expect(try abs(#require(config.since).timeIntervalSinceNow) < 60)
        #expect(try #require(config.residentBytes) > 0)
        #expect(config.lastError?.event == "store.failed" && config.lastError?.fields == ["reason": "the disk is full"])
        let gateway = try program("gateway")
        #expect(gateway.state == .notReady && gateway.reasons == ["config.boxoffice: no connection", "no catalogue"] && gateway.lastError == nil)
        #expect(try program("authentication").reasons.first?.hasPrefix("it does not answer at http://127.0.0.1:30012") == true)
        #expect(try program("autosignin").state == .notRunning && program("autosignin").reasons == ["it was not started"])

        let text = status.lines(Console(isStyled: false), now: try #require(config.since) + 300)
        #expect(text[0].hasPrefix("  program ") && text.count { $0.hasPrefix("      last error: ") } == 1)
        #expect(text.contains("      degraded: authentication: no copy serves"))
        #expect(text.contains { $0.hasPrefix("  config ") && $0.contains(" 5 min ") } && text.last == "  version 9.9 (release)", "\(text)")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(JsonOutput.text(status).utf8)) as? [String: Any])
        let told = try #require(json["programs"] as? [[String: Any]])
        #expect(json["isReady"] as? Bool == false && told.count == 5 && told[0]["state"] as? String == "notReady")
    }

    @Test("lines fit 80 columns; addresses that are too long, and versions that differ, stand below their programs")
    func fits() {
        func program(_ name: String, _ address: String, version: String = "1.2.3") -> ProgramStatus {
            var program = ProgramStatus(name: name, kind: .replaced, address: address, state: .notReady)
            (program.pid, program.since, program.residentBytes) = (4_194_303, Date(timeIntervalSince1970: 0), 123_456_789)
            (program.version, program.build) = (version, "release")
            program.reasons = ["it does not answer at http://127.0.0.1:30012/readyz, and \(String(repeating: "so on ", count: 30))"]
            program.lastError = .init(time: "", event: "", fields: [:], line: "", text: String(repeating: "word ", count: 40))
            return program
        }
        let now = Date(timeIntervalSince1970: 7 * 86_400)
        let near = ClusterStatus(home: "", programs: [program("authentication-2", "127.0.0.1:30012"), program("config", "127.0.0.1:30011")])
        let lines = near.lines(Console(isStyled: false), now: now)
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        #expect(lines[1].hasSuffix("127.0.0.1:30012") && lines.count { $0.contains("1.2.3") } == 1)
        var database = program("postgres", "127.0.0.1:30017", version: "17.5")
        database.build = nil
        let stored = ClusterStatus(home: "", programs: near.programs + [database]).lines(Console(isStyled: false), now: now)
        #expect(stored.contains("      version 17.5") && stored.last == "  version 1.2.3 (release)" && stored.count { $0.contains("1.2.3") } == 1)
        let far = ClusterStatus(
            home: "",
            programs: [program("authentication at a1", "authentication.a1.zone-1.example:7102"), program("config at b1", "b:1", version: "1.2.4")])
        let below = far.lines(Console(isStyled: false), now: now)
        #expect(below.allSatisfy { $0.count <= 80 }, "\(below)")
        #expect(below.contains("      at authentication.a1.zone-1.example:7102") && below.contains("      version 1.2.4 (release)"))
        #expect(far.lines(Console(isStyled: false), now: now, width: .max).contains { $0.hasSuffix("b:1") }, "what reads a pipe gets whole lines")
    }

    @Test("somebody's own service that is away is named as theirs")
    func replaced() async throws {
        let home = ClusterHome(root: FileManager.default.temporaryDirectory.appendingPathComponent("status-\(UUID().uuidString)"))
        try home.prepare()
        defer { try? FileManager.default.removeItem(at: home.root) }
        let pki = LocalPki(folder: home.pki)
        try pki.ensureQuickly()
        let replacements = try Replacement.read(["config=127.0.0.1:1"])
        let file = try ClusterAddresses(ports: PortPlan(base: 30000), replacements: replacements).emptyFile(home: home, pki: pki)
        let status = try await StatusReader.read(home, file)
        let config = try #require(status.programs.first { $0.name == "config" })
        #expect(config.kind == .replaced && config.state == .notReady && config.pid == nil)
        #expect(config.reasons.count == 1, "\(config.reasons)")
        #expect(status.lines(Console(isStyled: false)).contains { $0.contains("not ready, yours") })
    }

    @Test("why a program has ended stands at the end of its log")
    func lastWords() throws {
        try withHome { home in
            let end = LogEnd(path: home.log(of: .config).path)
            #expect(end.lastWords == nil && end.lastError == nil)
            try Data("{}\nno use\n{}\nFatal error: x\n0 [ra] in f\n1 [ra] in g\n{}\n".utf8).write(to: home.log(of: .config))
            #expect(end.lastWords == "Fatal error: x")
        }
    }

    @Test("ages", arguments: [(5.0, "5 s"), (-1, "0 s"), (300, "5 min"), (7200, "2 h"), (200_000, "2 days")])
    func ages(seconds: Double, text: String) { #expect(ProgramStatus.age(seconds) == text) }

    @Test("no cluster, no status: what to do is said")
    func none() throws {
        try withHome { home in
            #expect { try ClusterFile.required(home) } throws: {
                "\($0)" == "no cluster runs in \(home.root.path): start one with ./Services/up, or set BOXOFFICE_HOME"
            }
        }
    }
}
