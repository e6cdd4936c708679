internal import EntitlementClient
internal import StrictJson

/// Reads the JSON files that `boxoffice device` takes.
enum DeviceFile {
    /// Problems beyond this number are counted, not told.
    private static let toldProblems = 10

    /// - Parameters:
    ///   - file: The name of the file, for messages.
    ///   - kind: What it should be: `script`, `scenario`.
    ///   - read: Makes it of the outermost object, and notes what does not fit.
    /// - Throws: `DeviceFailure` that names each mistake with its line and column.
    static func read<Content>(json: String, file: String, as kind: String, _ read: (JsonObject) -> Content) throws -> Content {
        let document: JsonDocument
        do {
            document = try JsonDocument(parsing: Array(json.utf8))
        } catch {
            throw DeviceFailure(.usage, nil, "\(file): \(error)")
        }
        let problems = JsonProblems(of: document)
        let content = problems.root.object(read)
        guard problems.list.isEmpty, let content else {
            var lines = problems.list.prefix(toldProblems).map { "  \($0)" }
            if problems.list.count > toldProblems { lines.append("  and \(problems.list.count - toldProblems) more") }
            throw DeviceFailure(.usage, nil, "\(file) is no \(kind):\n\(lines.joined(separator: "\n"))")
        }
        return content
    }
}
