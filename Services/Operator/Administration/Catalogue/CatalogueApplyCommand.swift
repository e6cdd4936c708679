internal import ArgumentParser
internal import CatalogueFiles
internal import ClusterCommands
internal import CommandKit
internal import Foundation
internal import StrictJson

/// `boxoffice catalogue apply`: makes the running cluster's catalogue what files say.
struct CatalogueApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Make the entries of catalogue files live: a plan in words, then a push.",
        discussion: """
            Each FILE has the form of the catalogue (Services/Config/README.md), and may hold a part of it: some lists, some entries. An entry becomes \
            what its file says, as a whole; entries that no FILE names stay. With --prune they go, in the lists that a FILE has. The same files twice \
            change nothing. --dry-run prints the plan alone. Your draft must be empty: it is used, and empty again when something is refused.
            """)

    @Argument(help: "Catalogue files; an entry stands in one of them.")
    var files: [String]

    @Flag(help: "Print the plan, and change nothing.")
    var dryRun = false

    @Flag(help: "Also remove the entries that only the cluster has, in the lists that the files have.")
    var prune = false

    @Option(help: "What the push is for, up to 500 characters. Default: the names of the files.")
    var description: String?

    @Flag(help: "Print JSON.")
    var json = false

    func validate() throws {
        if let description, !(1...500).contains(description.count) { throw ValidationError("--description takes 1 to 500 characters.") }
    }

    func run() async throws {
        let wanted = try WantedCatalogue(files: files)
        let cluster = try ClusterFile.required(ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current))
        let live = try await Self.live()
        let removals = prune ? wanted.removals(from: live) : []
        let document = wanted.document(over: live)
        let plan = CataloguePlan(from: live, to: document, removing: removals)
        let problems = try wanted.problems(over: live, removing: removals)
        guard problems.isEmpty else { throw Self.refusal(problems) }
        guard !plan.isEmpty, !dryRun else { return try tell(plan, .none) }
        try await OpenDraft.requireEmpty()
        tellPlan(plan)
        let version = try await push(document, plan, live, CatalogueImporter(cluster))
        try tell(plan, version.map { Outcome.version($0) } ?? .waits)
    }

    /// The result of the command.
    private enum Outcome {
        case none
        case version(Int)
        /// For a second person.
        case waits
    }

    // MARK: What is there

    private static func live() async throws -> CatalogueDocument {
        let versions = try await AdministrationCall.send("GET", "/versions?size=1").object["versions"] as? [[String: Any]]
        guard let newest = versions?.first?["version"] as? Int else {
            throw CommandFailure("the cluster has no catalogue yet", advice: "'boxoffice catalogue import FILE' brings a first one")
        }
        let answer = try await AdministrationCall.send("GET", "/versions/\(newest)")
        guard let root = try? JsonDocument(parsing: answer.body).root, let document = JsonTree(root)["document"] else {
            throw CommandFailure("the cluster's answer has no catalogue", advice: "is it of this release?", exit: .unreachable)
        }
        return CatalogueDocument(document)
    }

    private static let mostProblems = 50

    private static func refusal(_ problems: [String]) -> CommandFailure {
        let left = problems.count - mostProblems
        let shown = problems.prefix(mostProblems).map { "\n  \($0)" }.joined() + (left > 0 ? "\n  and \(left) more" : "")
        return CommandFailure("nothing is changed: the result would be no catalogue\(shown)", exit: .usage)
    }

    // MARK: The push

    /// - Returns: The version; nil: it waits for a second person.
    private func push(
        _ document: CatalogueDocument, _ plan: CataloguePlan, _ live: CatalogueDocument, _ importer: CatalogueImporter
    ) async throws -> Int? {
        do {
            if plan.added + plan.changed > 0 {
                _ = try await importer.promote(document.tree.canonical, keepsEndpoints: false, keepsOthers: true)
            }
            for key in plan.references {
                guard let tree = document[key] else { continue }
                _ = try await AdministrationCall.send("PUT", key.path, body: tree.canonical, ifMatch: "*")
            }
            for key in plan.removed {
                guard let tree = live[key] else { continue }
                _ = try await AdministrationCall.send("DELETE", key.path, ifMatch: "\"\(tree.sha256)\"")
            }
            return try await AdministrationCall.push(description ?? Self.usualDescription(files))
        } catch {
            // The draft was empty before.
            _ = try? await AdministrationCall.send("DELETE", "/draft")
            throw error
        }
    }

    static func usualDescription(_ files: [String]) -> String {
        let names = files.map { URL(fileURLWithPath: $0).lastPathComponent }.joined(separator: ", ")
        return String("catalogue apply: \(names)".prefix(500))
    }

    // MARK: What is told

    private func tellPlan(_ plan: CataloguePlan) {
        guard !json else { return }
        let console = Console()
        console.line("plan: \(plan.headline)")
        for line in plan.lines { console.line("  \(line)") }
    }

    private func tell(_ plan: CataloguePlan, _ outcome: Outcome) throws {
        guard !json else {
            var object: [String: Any] = ["changes": plan.lines]
            switch outcome {
            case .none: object["pushed"] = false
            case .version(let version):
                object["pushed"] = true
                object["version"] = version
            case .waits: object["waits"] = true
            }
            return try JsonOutput.show(object)
        }
        let console = Console()
        switch outcome {
        case .none where plan.isEmpty: console.line("nothing to change: the catalogue says what the files say")
        case .none:
            tellPlan(plan)
            console.line("nothing is changed yet: leave out --dry-run to push it")
        case .version(let version): console.line("pushed: version \(version)")
        case .waits: console.line("the push waits for a second person")
        }
    }
}
