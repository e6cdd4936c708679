import BoxofficeCommand
import Foundation

/// A cluster on this machine: one that `boxoffice up` starts for the benchmark, or one that runs already.
struct LocalCluster {
    /// What of `cluster.json` is used.
    private struct File: Decodable {
        struct Entry: Decodable {
            var pid: Int32
        }

        var gateway: String
        var services: [String: Entry]
        var softwareStatements: [String: String]
    }

    private let file: File
    let home: URL
    private let program: String?
    private let environment: [String: String]

    /// The requestor whose media tokens are of the JWS form here; those of the others have the reference form.
    static let jwsRequestor = "ACME2"

    /// Starts one.
    /// - Parameters:
    ///   - binaries: Folder of the release build.
    ///   - home: A folder for its state.
    static func start(binaries: URL, home: URL, portBase: Int) throws -> LocalCluster {
        let program = binaries.appending(path: "boxoffice").path
        let environment = ["BOXOFFICE_HOME": home.path, "BOXOFFICE_PORT_BASE": "\(portBase)"]
        try ChildProgram.run(program, ["up", "--detach", "--no-demo"], environment: environment)
        let cluster = try LocalCluster(home: home, program: program, environment: environment)
        try cluster.chooseJwsForm()
        return cluster
    }

    /// - Parameter home: `BOXOFFICE_HOME` of a cluster that runs.
    init(home: URL) throws { try self.init(home: home, program: nil, environment: [:]) }

    private init(home: URL, program: String?, environment: [String: String]) throws {
        self.home = home
        self.program = program
        self.environment = environment
        file = try JSONDecoder().decode(File.self, from: Data(contentsOf: home.appending(path: "cluster.json")))
    }

    var gateway: String { file.gateway }
    var port: Int { URL(string: file.gateway)?.port ?? 80 }
    var processes: [String: Int32] { file.services.mapValues(\.pid) }
    var dataFolder: URL { home.appending(path: "data") }

    func statement() throws -> String {
        guard let statement = file.softwareStatements["acme-tv"] else { throw BenchmarkFailure("the cluster has no application acme-tv") }
        return statement
    }

    /// Stops what `start` started.
    func stop() {
        guard let program else { return }
        try? ChildProgram.run(program, ["down"], environment: environment)
        try? FileManager.default.removeItem(at: home)
    }

    private func chooseJwsForm() throws {
        let catalogue = home.appending(path: "catalogue.json")
        guard var content = try JSONSerialization.jsonObject(with: Data(contentsOf: catalogue)) as? [String: Any],
            var requestors = content["requestors"] as? [[String: Any]],
            let index = requestors.firstIndex(where: { $0["id"] as? String == Self.jwsRequestor })
        else { throw BenchmarkFailure("\(catalogue.path) has no requestor \(Self.jwsRequestor)") }
        requestors[index]["mediaTokenFormat"] = "jws"
        content["requestors"] = requestors
        try JSONSerialization.data(withJSONObject: content).write(to: catalogue, options: .atomic)
        if let config = file.services["config"]?.pid { kill(config, SIGHUP) }
    }
}
