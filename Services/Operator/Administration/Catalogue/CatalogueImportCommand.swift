internal import ArgumentParser
internal import CatalogueFiles
internal import ClusterCommands
internal import CommandKit
internal import Contracts
internal import Foundation

/// `boxoffice catalogue import`: makes a file the newest version of the local cluster's catalogue.
struct CatalogueImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
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

    func run() async throws {
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
}
