internal import ArgumentParser
internal import ClusterCommands
internal import CommandKit
internal import Contracts
internal import Foundation

/// `boxoffice catalogue keys`: the keys of software statements that services of the local cluster accept.
struct CatalogueKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys of software statements that the running cluster accepts, or take one out.",
        discussion: """
            Every copy of config adds the keys that its files hold; none goes by itself. A key that is taken out is refused from then on with all statements \
            that it signed, and cannot come back.
            """
    )

    @Option(name: .customLong("retire"), help: ArgumentHelp("Take this key out for good.", valueName: "id"))
    var retired: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let console = Console()
        let keys = try await CatalogueImporter(cluster).statementKeys(retiring: retired)
        guard !json else { return try JsonOutput.show(["keys": keys.map(\.members)]) }
        for key in keys { console.line(key.line) }
    }
}

extension StatementKey {
    fileprivate var line: String {
        let since = publishedSinceMilliseconds == 0 ? "from the beginning" : "since \(Self.moment(publishedSinceMilliseconds))"
        return "\(id)  \(since)" + (retiredAtMilliseconds == 0 ? "" : ", taken out \(Self.moment(retiredAtMilliseconds))")
    }

    private static func moment(_ milliseconds: UInt64) -> String { Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601) }

    /// For programs; a key from the beginning has no `publishedSince`.
    fileprivate var members: [String: Any] {
        var members: [String: Any] = ["id": id]
        if publishedSinceMilliseconds != 0 { members["publishedSince"] = Self.moment(publishedSinceMilliseconds) }
        if retiredAtMilliseconds != 0 { members["retiredAt"] = Self.moment(retiredAtMilliseconds) }
        return members
    }
}
