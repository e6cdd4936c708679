public import ArgumentParser
internal import Contracts
internal import Foundation

/// `boxoffice catalogue keys`: the keys of software statements that services of the local cluster accept.
public struct CatalogueKeysCommand: AsyncParsableCommand {
    public static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "List the keys of software statements that the running cluster accepts, or take one out.",
        discussion: """
            Every copy of config adds the keys that its files hold; none goes by itself. A key that is taken out is refused from then on with all statements \
            that it signed, and cannot come back.
            """
    )

    @Option(name: .customLong("retire"), help: ArgumentHelp("Take this key out for good.", valueName: "id"))
    var retired: String?

    public init() {}

    public func run() async throws {
        let home = ClusterHome(environment: ProcessInfo.processInfo.environment, checkout: Checkout.current)
        let cluster = try ClusterFile.required(home)
        let console = Console()
        for key in try await CatalogueImporter(cluster).statementKeys(retiring: retired) { console.line(key.line) }
    }
}

extension StatementKey {
    fileprivate var line: String {
        func moment(_ milliseconds: UInt64) -> String { Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601) }
        let since = publishedSinceMilliseconds == 0 ? "from the beginning" : "since \(moment(publishedSinceMilliseconds))"
        return "\(id)  \(since)" + (retiredAtMilliseconds == 0 ? "" : ", taken out \(moment(retiredAtMilliseconds))")
    }
}
