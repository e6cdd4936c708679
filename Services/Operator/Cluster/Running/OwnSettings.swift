internal import CommandKit
internal import Foundation

/// A folder with settings of programs that somebody wrote.
struct OwnSettings: Sendable {
    let folder: String
    /// The content of each.
    let files: [ClusterService: Data]

    /// - Throws: `CommandFailure` when the folder cannot be read, has none, or has JSON files of other names.
    init(folder: String) throws {
        self.folder = folder
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
        } catch {
            throw CommandFailure("cannot read the folder \(folder)", advice: PlainReason.of(error))
        }
        let known = Dictionary(uniqueKeysWithValues: ClusterService.allCases.map { ("\($0.rawValue).json", $0) })
        // The record that 'up' makes in a folder of settings is no settings.
        let foreign = names.filter { known[$0] == nil && $0 != "written.json" }
        guard foreign.isEmpty else {
            throw CommandFailure("\(folder) has \(foreign.joined(separator: ", ")), which no program reads", advice: Self.expected)
        }
        var files: [ClusterService: Data] = [:]
        for (name, service) in known where names.contains(name) { files[service] = try TextFile.content("\(folder)/\(name)") }
        guard !files.isEmpty else { throw CommandFailure("\(folder) has no settings", advice: Self.expected) }
        self.files = files
    }

    private static let expected = "settings are " + ClusterService.allCases.map { "\($0.rawValue).json" }.joined(separator: ", ")

    /// Lets each program check its own, in the place where it will read it, and compares ports with those of the cluster.
    /// - Throws: `CommandFailure` with everything that is wrong.
    func check(in home: ClusterHome, ports: PortPlan, programs: [ClusterService: ProgramFile]) throws {
        var problems: [String] = []
        for (service, content) in files.sorted(by: { $0.key.index < $1.key.index }) {
            let file = "\(folder)/\(service.rawValue).json"
            guard let settings = try? JSONSerialization.jsonObject(with: content) as? [String: Any] else {
                problems.append("\(file) is not a JSON object")
                continue
            }
            problems += portProblems(settings, service, ports).map { "\(file): \($0)" }
            if let program = programs[service] { problems += try complaints(program, service, content, home) }
        }
        guard problems.isEmpty else { throw CommandFailure(problems.joined(separator: "\n"), advice: "nothing was copied") }
    }

    private func portProblems(_ settings: [String: Any], _ service: ClusterService, _ ports: PortPlan) -> [String] {
        var problems: [String] = []
        var expected = [("listen", ports.main(service))]
        if service != .sandbox { expected.append(("debug", ports.debug(service))) }
        for (key, port) in expected {
            guard let given = (settings[key] as? [String: Any])?["port"] as? Int, given != port else { continue }
            problems.append("\(key).port is \(given), but in this cluster it is \(port): change it, or set BOXOFFICE_PORT_BASE")
        }
        if service == .gateway, let listen = (settings["gateway"] as? [String: Any])?["listen"] as? String,
            !listen.hasSuffix(":\(ports.main(.gateway))")
        {
            problems.append(
                "gateway.listen is \(listen), but in this cluster the port is \(ports.main(.gateway)): change it, or set BOXOFFICE_PORT_BASE")
        }
        return problems
    }

    /// What the program says of its settings; paths in it that are relative count from the home's folder of settings.
    private func complaints(_ program: ProgramFile, _ service: ClusterService, _ content: Data, _ home: ClusterHome) throws -> [String] {
        let trial = home.settings.appendingPathComponent(".\(service.rawValue).trial.json")
        try WrittenFiles.replace(trial, with: content)
        defer { try? FileManager.default.removeItem(at: trial) }
        let file = "\(folder)/\(service.rawValue).json"
        return try program.complaints(of: trial.path, environment: service.environment).map { $0.replacingOccurrences(of: trial.path, with: file) }
    }
}
