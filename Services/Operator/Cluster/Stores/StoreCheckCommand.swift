internal import ArgumentParser
internal import CommandKit
internal import Foundation

/// `boxoffice store check`.
struct StoreCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Look at the stores, beside services that run or without them; changes nothing.",
        discussion: """
            Says what is damaged, how far the schema is, what each table holds, since when its oldest row should have been removed, and how safely a server \
            keeps what it acknowledges. Ends with 0 when every store is sound, with 1 when one is not or cannot be reached.
            """)

    @Flag(help: "Also read every row, and compare indexes with their tables; a large store takes minutes.")
    var deep = false

    @Flag(help: "Print JSON.")
    var json = false

    @OptionGroup var stores: StoreOptions

    private struct Answer: Encodable {
        let isSound: Bool
        let stores: [StoreReport]
    }

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let reports = try stores.descriptions(home).map { StoreExamination(description: $0, isDeep: deep).report() }
        let isSound = reports.allSatisfy(\.isSound)
        let console = Console()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            console.line(String(decoding: try encoder.encode(Answer(isSound: isSound, stores: reports)), as: UTF8.self))
        } else {
            for line in reports.flatMap({ $0.lines(console) }) { console.line(line) }
        }
        guard isSound else { throw CommandExit.failed.exitCode }
    }
}
