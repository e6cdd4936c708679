internal import CatalogueFiles
internal import Clocks
package import CommandKit
internal import Cryptography
package import Foundation

/// The files that somebody brings to a cluster in place of the demo: a catalogue, and settings of programs.
struct OwnFiles: Sendable {
    /// Path of a catalogue file.
    var catalogue: String?
    /// Path of a folder with `SERVICE.json` files.
    var settings: String?

    /// The copied files.
    struct Copied {
        /// Services whose settings say something else now.
        var services: Set<ClusterService> = []
        /// Files of somebody's that stood in the place are now here.
        var kept: [URL] = []
        /// Files that are now what was brought.
        var brought: [URL] = []
    }

    /// Checks all of it, and only then copies it into the home; a file of somebody's that it replaces is kept under another name.
    /// - Parameters:
    ///   - programs: Those that check their own settings.
    ///   - written: The files that are the demo's, and may go.
    /// - Throws: `CommandFailure` with everything that is wrong; nothing was copied then.
    func copy(to home: ClusterHome, ports: PortPlan, programs: [ClusterService: ProgramFile], written: inout WrittenFiles) throws -> Copied {
        let catalogue = try catalogue.map { try OwnCatalogue(file: $0, home: home) }
        let services = try settings.map { try OwnSettings(folder: $0) }
        // A program that checks its settings also reads the catalogue that they name: the one that is brought, where there is none yet.
        let isFirst = !FileManager.default.fileExists(atPath: home.catalogue.path)
        if isFirst, let catalogue { try WrittenFiles.replace(home.catalogue, with: catalogue.copy) }
        do {
            try services?.check(in: home, ports: ports, programs: programs)
        } catch {
            if isFirst, catalogue != nil { try? FileManager.default.removeItem(at: home.catalogue) }
            throw error
        }
        var copied = Copied()
        var files: [(URL, Data)] = (services?.files ?? [:]).map { (home.settings(of: $0.key), $0.value) }
        if let catalogue { files.append((home.catalogue, catalogue.copy)) }
        for (file, content) in files.sorted(by: { $0.0.path < $1.0.path }) {
            copied.brought.append(file)
            guard FileManager.default.contents(atPath: file.path) != content else { continue }
            if let place = try written.giveWay(file) { copied.kept.append(place) }
            try WrittenFiles.replace(file, with: content)
            if let service = ClusterService.allCases.first(where: { home.settings(of: $0) == file }) { copied.services.insert(service) }
        }
        return copied
    }
}

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

    /// The program's complaints about its settings; paths in it that are relative count from the home's folder of settings.
    private func complaints(_ program: ProgramFile, _ service: ClusterService, _ content: Data, _ home: ClusterHome) throws -> [String] {
        let trial = home.settings.appendingPathComponent(".\(service.rawValue).trial.json")
        try WrittenFiles.replace(trial, with: content)
        defer { try? FileManager.default.removeItem(at: trial) }
        let file = "\(folder)/\(service.rawValue).json"
        return try program.complaints(of: trial.path, environment: service.environment).map { $0.replacingOccurrences(of: trial.path, with: file) }
    }
}

/// Certificate and key that a person gave for the gateway's HTTPS.
struct HttpsFiles: Sendable {
    /// Absolute paths.
    let certificate: String
    let key: String

    init(certificate: String, key: String) {
        self.certificate = URL(fileURLWithPath: certificate).standardizedFileURL.path
        self.key = URL(fileURLWithPath: key).standardizedFileURL.path
    }
}

/// A catalogue file that somebody brings, without problems.
package struct OwnCatalogue: Sendable {
    package let file: String
    /// The text that goes over the wire: JSON that needs no other file.
    package let text: String
    /// The content for a copy of the file in another folder: the file as it is, unless it names files beside it.
    let copy: Data

    /// - Parameter home: Where the file may have come from: what it names is looked for beside it, and otherwise there.
    /// - Throws: `CommandFailure` with every problem and its place.
    package init(file: String, home: ClusterHome) throws {
        self.file = file
        let octets = try TextFile.content(file)
        do throws(CatalogueRejection) {
            let content = try CatalogueFile(path: file).read(now: SystemClock().now())
            text = content.text
            copy = content.namesFiles ? Data((content.text + "\n").utf8) : octets
        } catch {
            guard let content = Self.read(octets, in: home) else {
                throw CommandFailure(error.lines.joined(separator: "\n"), advice: "Services/Config/README.md describes the file")
            }
            text = content.text
            copy = octets
        }
    }

    /// The same text as the catalogue of the home.
    private static func read(_ octets: Data, in home: ClusterHome) -> CatalogueFile.Content? {
        let trial = home.root.appendingPathComponent(".catalogue.trial.json")
        defer { try? FileManager.default.removeItem(at: trial) }
        guard (try? octets.write(to: trial, options: .atomic)) != nil else { return nil }
        return try? CatalogueFile(path: trial.path).read(now: SystemClock().now())
    }
}

/// The files of a cluster's home that this command wrote, and their content. A file that somebody has changed since is theirs and stays as it is.
package struct WrittenFiles {
    /// The result for a file.
    enum Outcome: Equatable {
        /// It was missing, or as this command had left it.
        case written
        /// It says already what would be written.
        case same
        /// It is somebody's, and says something else.
        case kept
    }

    /// By the file's name; a digest of the content.
    private var digests: [String: String]
    private let record: URL

    /// - Parameter record: Where the digests are kept. A home of an earlier release has none: all its files are somebody's then.
    init(record: URL) {
        self.record = record
        let content = FileManager.default.contents(atPath: record.path)
        digests = content.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) } ?? [:]
    }

    /// Writes the file as a whole unless it is somebody's.
    /// - Throws: `CommandFailure` naming the file that cannot be written.
    mutating func write(_ content: Data, to file: URL) throws -> Outcome {
        if let there = FileManager.default.contents(atPath: file.path) {
            if there == content {
                digests[file.lastPathComponent] = Self.digest(content)
                return .same
            }
            guard digests[file.lastPathComponent] == Self.digest(there) else { return .kept }
        }
        try Self.replace(file, with: content)
        digests[file.lastPathComponent] = Self.digest(content)
        return .written
    }

    /// Makes room for a file that somebody brings.
    /// - Returns: Where the file is now, if it was somebody's: beside its place, with a number.
    /// - Throws: `CommandFailure` when it cannot be moved.
    mutating func giveWay(_ file: URL) throws -> URL? {
        guard let there = FileManager.default.contents(atPath: file.path) else { return nil }
        guard digests.removeValue(forKey: file.lastPathComponent) != Self.digest(there) else { return nil }
        for number in 1...1000 {
            let place = file.deletingLastPathComponent().appendingPathComponent("\(file.lastPathComponent).\(number)")
            guard !FileManager.default.fileExists(atPath: place.path) else { continue }
            do {
                try FileManager.default.moveItem(at: file, to: place)
            } catch {
                throw CommandFailure("cannot keep \(file.path) as \(place.path)", advice: PlainReason.of(error))
            }
            return place
        }
        throw CommandFailure("\(file.path) has a thousand former versions beside it", advice: "remove some of them")
    }

    /// - Throws: `CommandFailure` when it cannot be written.
    func save() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try Self.replace(record, with: try encoder.encode(digests))
    }

    package static func replace(_ file: URL, with content: Data) throws {
        do {
            try content.write(to: file, options: .atomic)
        } catch {
            throw CommandFailure("cannot write \(file.path)", advice: "check its permissions and the free space (\(PlainReason.of(error)))")
        }
    }

    private static func digest(_ content: Data) -> String { Hex.encode(SHA256.hash(Array(content))) }
}
