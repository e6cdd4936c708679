import CommandKit
import Foundation

/// A cluster on this machine: one that `boxoffice up` starts for the benchmark, or one that runs already.
struct LocalCluster {
    /// The used part of `cluster.json`.
    private struct File: Decodable {
        struct Entry: Decodable {
            var pid: Int32
        }

        struct Sandbox: Decodable {
            var mvpd: String
            var upstream: String?
            var pid: Int32
        }

        var gateway: String
        var admin: String?
        var adminToken: String
        var sandbox: Sandbox
        var services: [String: Entry]
        var softwareStatements: [String: String]
        var signedRequests: [String: SigningPair]?
    }

    struct SigningPair: Decodable {
        var publicKey: String
        var secret: String
    }

    private let file: File
    /// The sandbox with people of its own, where there is one.
    private let sandbox: ChildProgram?
    /// Names of people who may watch everything; their passwords are the same.
    let people: [String]
    let home: URL
    private let program: String?
    private let environment: [String: String]

    /// The requestor whose media tokens are of the JWS form here; those of the others have the reference form.
    static let jwsRequestor = "ACME2"

    /// Starts one.
    /// - Parameters:
    ///   - binaries: Folder of the release build.
    ///   - home: A folder for its state.
    ///   - people: How many there shall be: a person gets one media token a second for the same play (rest-v1 §7).
    ///   - providers: MVPDs that there shall be beside those of the demo catalogue; they are asked as NorthCable is.
    ///   - variables: The variables of its programs' environment.
    static func start(
        binaries: URL, home: URL, portBase: Int, people: Int, providers: [String] = [], variables: [String: String] = [:]
    ) throws -> LocalCluster {
        let program = binaries.appending(path: "boxoffice").path
        let environment = variables.merging(["BOXOFFICE_HOME": home.path, "BOXOFFICE_PORT_BASE": "\(portBase)"]) { $1 }
        try ChildProgram.run(program, ["up", "--detach", "--no-demo"], environment: environment)
        let names = (0..<people).map { "viewer\($0)" }
        let sandbox = try ChildProgram(
            binaries.appending(path: "sandbox").path, ["--config", try inviting(names, home: home, providers: providers)], environment: environment)
        sandbox.ignoreOutput()
        let cluster = try LocalCluster(home: home, program: program, environment: environment, sandbox: sandbox, people: names)
        try cluster.changeCatalogue { catalogue in
            try Self.writeTokens(&catalogue)
            for provider in providers { try Self.add(provider, to: &catalogue) }
        }
        return cluster
    }

    /// - Parameter home: `BOXOFFICE_HOME` of a cluster that runs.
    init(home: URL) throws { try self.init(home: home, program: nil, environment: [:], sandbox: nil, people: ["ada"]) }

    private init(home: URL, program: String?, environment: [String: String], sandbox: ChildProgram?, people: [String]) throws {
        self.home = home
        self.sandbox = sandbox
        self.people = people
        self.program = program
        self.environment = environment
        file = try Self.file(home)
    }

    private static func file(_ home: URL) throws -> File {
        try JSONDecoder().decode(File.self, from: Data(contentsOf: home.appending(path: "cluster.json")))
    }

    /// Stops the cluster's sandbox and writes the settings of one with more people.
    /// - Returns: Their path.
    private static func inviting(_ names: [String], home: URL, providers: [String]) throws -> String {
        let settings = home.appending(path: "settings/sandbox.json")
        guard var content = try JSONSerialization.jsonObject(with: Data(contentsOf: settings)) as? [String: Any] else {
            throw BenchmarkFailure("\(settings.path) is no JSON object")
        }
        // With the test user of the demo catalogue.
        content["people"] = (names + ["ada"]).map { ["name": $0, "password": $0, "channels": ["*"]] as [String: Any] }
        if let mvpds = content["mvpds"] as? [[String: Any]], let first = mvpds.first {
            content["mvpds"] = mvpds + providers.map { provider in first.merging(["id": provider, "displayName": provider]) { $1 } }
        }
        let many = home.appending(path: "settings/sandbox-many.json")
        try JSONSerialization.data(withJSONObject: content).write(to: many)
        let old = try file(home).sandbox.pid
        kill(old, SIGTERM)
        for _ in 0..<1000 where kill(old, 0) == 0 { usleep(10_000) }
        return many.path
    }

    /// Returns when the sandbox answers.
    func waitForSandbox() async throws {
        let client = HTTPExchange.makeClient()
        var answer = 0
        for _ in 0..<1000 where answer != 200 {
            answer = (try? await HTTPExchange(client: client).send("GET", file.sandbox.mvpd + "/").status) ?? 0
            if answer != 200 { try await Task.sleep(for: .milliseconds(10)) }
        }
        try await client.shutdown()
        guard answer == 200 else { throw BenchmarkFailure("the sandbox with more people did not start") }
    }

    var gateway: String { file.gateway }
    var port: Int { URL(string: file.gateway)?.port ?? 80 }
    var processes: [String: Int32] { file.services.mapValues(\.pid) }
    var sandboxProcess: Int32 { sandbox?.processID ?? file.sandbox.pid }
    var dataFolder: URL { home.appending(path: "data") }

    func statement() throws -> String {
        guard let statement = file.softwareStatements["acme-tv"] else { throw BenchmarkFailure("the cluster has no application acme-tv") }
        return statement
    }

    /// Base URL of the stand-in upstream.
    func upstream() throws -> String {
        guard let upstream = file.sandbox.upstream else { throw BenchmarkFailure("the cluster has no stand-in upstream") }
        return upstream
    }

    /// A call of the administration API.
    func administer(_ method: String, _ path: String, _ body: [String: Any]? = nil, by exchange: HTTPExchange) async throws -> [String: Any] {
        let text = try body.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
        let headers = [("Authorization", "Bearer \(file.adminToken)"), ("Content-Type", "application/json"), ("If-Match", "*")]
        let sent = method == "PUT" ? headers : Array(headers.dropLast())
        let answer = try await exchange.send(method, "\(file.admin ?? file.gateway)/admin/v1\(path)", headers: sent, body: text)
        guard (200..<300).contains(answer.status) else { throw BenchmarkFailure("\(method) \(path) was answered \(answer.status): \(answer.text)") }
        return (try? JSONSerialization.jsonObject(with: Data(answer.text.utf8))) as? [String: Any] ?? [:]
    }

    /// The key pair with which the demo's app without client registration signs.
    func signingPair() throws -> SigningPair? { file.signedRequests?["acme-legacy"] }

    /// Stops what `start` started.
    func stop() {
        guard let program else { return }
        sandbox?.stop()
        try? ChildProgram.run(program, ["down"], environment: environment)
        try? FileManager.default.removeItem(at: home)
    }

    var mvpdSandbox: String { file.sandbox.mvpd }

    /// Writes the catalogue file anew, and has it taken in.
    func changeCatalogue(_ change: (inout [String: Any]) throws -> Void) throws {
        let catalogue = home.appending(path: "catalogue.json")
        guard var content = try JSONSerialization.jsonObject(with: Data(contentsOf: catalogue)) as? [String: Any] else {
            throw BenchmarkFailure("\(catalogue.path) is no JSON object")
        }
        try change(&content)
        try JSONSerialization.data(withJSONObject: content).write(to: catalogue, options: .atomic)
        if let config = file.services["config"]?.pid { kill(config, SIGHUP) }
    }

    private static func writeTokens(_ content: inout [String: Any]) throws {
        guard var requestors = content["requestors"] as? [[String: Any]],
            let index = requestors.firstIndex(where: { $0["id"] as? String == jwsRequestor })
        else { throw BenchmarkFailure("the catalogue has no requestor \(jwsRequestor)") }
        requestors[index]["mediaTokenFormat"] = "jws"
        content["requestors"] = requestors
    }

    private static func add(_ provider: String, to content: inout [String: Any]) throws {
        guard var mvpds = content["mvpds"] as? [[String: Any]], var integrations = content["integrations"] as? [[String: Any]],
            let model = mvpds.first(where: { $0["id"] as? String == "NorthCable" })
        else { throw BenchmarkFailure("the catalogue has no NorthCable") }
        let text = String(decoding: try JSONSerialization.data(withJSONObject: model), as: UTF8.self).replacing("NorthCable", with: provider)
        var entry = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        entry["platforms"] = nil
        mvpds.append(entry)
        integrations.append(["requestor": "ACME1", "mvpd": provider])
        content["mvpds"] = mvpds
        content["integrations"] = integrations
    }
}
