internal import ArgumentParser
internal import CatalogueFiles
internal import ClusterCommands
internal import CommandKit
internal import Contracts
internal import Faults
internal import Foundation

/// `boxoffice catalogue promote`: what another cluster has becomes a draft here.
struct CataloguePromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Make a draft of what another cluster's catalogue has otherwise.",
        discussion: """
            The source is the administration address of the other cluster, with an administrator's token for it, or a file: a catalogue file, or one \
            that the other cluster's console exported (History, a version, Download). References of secrets stay as they are here, and so do the lists of \
            MVPD proxies; '--keep endpoints' leaves the addresses, keys and clients at MVPDs alone. Entries that only this cluster has stay, \
            unless --remove is there: the token must see the whole catalogue then. Nothing is live before 'boxoffice draft push'.
            """)

    /// The parts that stay as they are here.
    enum Kept: String, ExpressibleByArgument, CaseIterable { case endpoints }

    @Option(help: "The other cluster's administration address, or a file with its catalogue.")
    var from: String

    @Option(help: "A file with an administrator's token for the other cluster.")
    var tokenFile: String?

    @Option(help: "What else stays as it is here: endpoints.")
    var keep: [Kept] = []

    @Flag(help: "Also remove the entries that only this cluster has.")
    var remove = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let catalogue = try await source(home)
        let draft = try await CatalogueImporter(cluster).promote(
            catalogue, keepsEndpoints: keep.contains(.endpoints), keepsOthers: !remove)
        try tell(draft)
    }

    private func source(_ home: ClusterHome) async throws -> String {
        guard from.hasPrefix("http://") || from.hasPrefix("https://") else {
            let text = try TextFile.read(from)
            // A catalogue file may name others beside it.
            return (try? OwnCatalogue(file: from, home: home).text) ?? text
        }
        guard let tokenFile else {
            throw CommandFailure("\(from) wants to know who asks", advice: "pass --token-file, or a file that its console exported")
        }
        let token = try TextFile.read(tokenFile).trimmingCharacters(in: .whitespacesAndNewlines)
        return try await OtherCluster(address: from.hasSuffix("/") ? String(from.dropLast()) : from, token: token).catalogue()
    }

    private func tell(_ draft: CatalogueDraft) throws {
        if json {
            let changes = draft.changes.map { ["line": $0.text] }
            return print(try AdministrationCall.json(["baseVersion": draft.baseVersion, "changes": changes] as [String: Any]))
        }
        let console = Console()
        guard !draft.changes.isEmpty else { return console.line("the catalogues say the same, but for what stays: there is no draft") }
        console.line("the draft has \(draft.changes.count) changes; 'boxoffice draft show' lists all, 'boxoffice draft push' makes them live:")
        for change in draft.changes.prefix(50) { console.line("    \(change.text)") }
        if draft.changes.count > 50 { console.line("    and \(draft.changes.count - 50) more") }
    }
}

/// Another cluster, as one of its administrators sees it.
private struct OtherCluster {
    let address: String
    let token: String

    /// Its newest version.
    func catalogue() async throws -> String {
        try await HTTPExchange.once { exchange in
            let versions = try await get("/versions?size=1", exchange)
            guard let newest = (versions.object["versions"] as? [[String: Any]])?.first?["version"] as? Int else {
                throw CommandFailure("\(address) has no version of a catalogue that the token may see")
            }
            return try await get("/versions/\(newest)", exchange).text
        }
    }

    private func get(_ path: String, _ exchange: HTTPExchange) async throws -> HTTPAnswer {
        let answer = try await exchange.send("GET", "\(address)/admin/v1\(path)", headers: [("Authorization", "Bearer \(token)")])
        guard answer.status == 200 else {
            let message = (answer.object["error"] as? [String: Any])?["message"] as? String
            throw CommandFailure(
                "\(address) answered \(answer.status)\(message.map { ": \($0)" } ?? "")", advice: "is it the administration address, and its token?")
        }
        return answer
    }
}

extension CatalogueImporter {
    /// - Throws: `CommandFailure` when it is refused.
    func promote(_ catalogue: String, keepsEndpoints: Bool, keepsOthers: Bool) async throws -> CatalogueDraft {
        let request = PromoteCatalogueRequest(token: token, catalogue: catalogue, keepEndpoints: keepsEndpoints, keepOthers: keepsOthers)
        let outcome: DraftOutcome
        do {
            outcome = try await ask { try await AdministrationClient(caller: $0).promoteCatalogue(request, context: $1) }
        } catch let fault as Fault {
            throw CommandFailure(
                "config does not make a draft of it: \(fault.message)", advice: "a message has at most limits.frameBytes of its settings (4 MiB)")
        }
        switch outcome.outcome {
        case .draft(let draft): return draft
        case .refusal(let refusal) where refusal.reason == .preconditionFailed:
            throw CommandFailure(
                "no draft is made, as there is one with other changes",
                advice: "'boxoffice draft show' lists them; 'boxoffice draft push' makes them live, 'boxoffice draft dismiss' forgets them")
        case .refusal(let refusal):
            let problems = refusal.problems.map { "\n  \($0.field) \($0.message)" }.joined()
            throw CommandFailure("no draft is made: \(refusal.message)\(problems)")
        case nil: throw CommandFailure("config answered without an outcome", advice: "it is of another release: restart it")
        }
    }
}
