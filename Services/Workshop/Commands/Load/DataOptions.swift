internal import ArgumentParser
internal import CommandKit
internal import LoadTool

/// Own data for the requests.
struct DataOptions: ParsableArguments {
    @Option(
        help: "The request of --method as JSON, or @FILE; an array is several requests. 'boxoffice call SERVICE METHOD --template' shows its fields.")
    var data: String?

    @Option(help: "CSV with a header row, or JSON Lines: one row per request for the placeholders in --data, --path, --header and --body.")
    var dataFile: String?

    @Option(help: "How many different requests are made from places, at least.")
    var requests = 1000

    @Option(help: "Of a method that is answered by a stream: how many items end a call; the first comes at once. (default: 1)")
    var items: Int?

    /// - Returns: How many items end a call; `nil`: the method has one answer.
    /// - Throws: `BadOption` when the text is no number.
    func streamItems(isStream: Bool) throws(BadOption) -> Int? {
        guard isStream else { return nil }
        let items = items ?? 1
        guard (1...1_000_000).contains(items) else { throw BadOption("--items \(items)", "give 1 to 1000000") }
        return items
    }

    func file() throws -> DataFile {
        guard (1...1_000_000).contains(requests) else { throw BadOption("--requests \(requests)", "give 1 to 1000000") }
        return try dataFile.map { try DataFile(TextFile.read($0), name: $0) } ?? .none
    }
}
