public import ArgumentParser
internal import CatalogueFiles
internal import Contracts
internal import Foundation

/// `boxoffice catalogue import`: makes a file the newest version of the local cluster's catalogue.
public struct CatalogueImportCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make a catalogue file the newest version of the running cluster's catalogue.",
        discussion: """
            A file that would undo what administrators have pushed since the last import is refused, with what it would change; \
            --force imports it. The versions that it replaces stay in the history and can be restored. The cluster's own file stays as it is.
            """
    )

    @Argument(
        help: "A catalogue file (Services/Config/README.md describes it). Default: the cluster's own, which is refused when it changed beside pushes."
    )
    var file: String?

    @Flag(help: "Replace what administrators pushed.")
    var force = false

    @Flag(help: "Print JSON.")
    var json = false

    public init() {}

    public func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let console = Console(isQuiet: json)
        let importer = try CatalogueImporter(cluster)
        let answer = try await importer.bring(try file.map { try OwnCatalogue(file: $0, home: home) }, isForced: force)
        for line in try answer.told(of: file ?? home.catalogue.path) { console.line(line) }
        if json { try JsonOutput.show(answer.members) }
    }
}

extension CatalogueImport {
    /// For programs.
    fileprivate var members: [String: Any] {
        var members: [String: Any] = ["isNew": isNew, "changeCount": changeCount, "changes": changes.map { ["line": $0.text] }]
        switch outcome {
        case .version(let version): members["version"] = version.version
        case .pending(let push): members["push"] = push.id
        default: break
        }
        members["replaced"] = pushedVersions
        return members
    }

    /// At most so many changes are printed.
    private static let most = 50

    /// What a person reads of it.
    /// - Throws: `CommandFailure` when it was refused.
    func told(of file: String) throws -> [String] {
        switch outcome {
        case .version(let version) where isNew:
            return ["\(file) is version \(version.version)\(replaced), with \(changeCount) changes:"] + lines
        case .version(let version): return ["\(file) says what version \(version.version) says: nothing is changed"]
        case .pending(let push): return ["\(file) waits for a second person as push \(push.id), with \(changeCount) changes:"] + lines
        case .refusal(let refusal) where refusal.reason == .conflict:
            let versions = pushedVersions.map { "\($0)" }.joined(separator: ", ")
            let problem = (["\(file) is not taken in: it would undo what administrators pushed (\(versions))"] + lines).joined(separator: "\n")
            throw CommandFailure(
                problem, advice: "'boxoffice catalogue import \(file) --force' takes it in all the same; the versions can be restored")
        case .refusal(let refusal):
            let problems = refusal.problems.map { "\n  \($0.field) \($0.message)" }.joined()
            throw CommandFailure("\(file) is not taken in: \(refusal.message)\(problems)")
        case nil: throw CommandFailure("config answered without an outcome", advice: "it is of another release: restart it")
        }
    }

    private var replaced: String {
        pushedVersions.isEmpty || changes.isEmpty ? "" : ", in place of " + pushedVersions.map { "\($0)" }.joined(separator: ", ")
    }

    private var lines: [String] {
        let left = changeCount - min(changeCount, UInt64(min(changes.count, Self.most)))
        return changes.prefix(Self.most).map { "    \($0.text)" } + (left > 0 ? ["    and \(left) more"] : [])
    }
}
