/// A table as CSV (RFC 4180) that no spreadsheet takes for formulas.
struct CommaSeparatedTable {
    private(set) var text = ""

    mutating func append(_ cells: [String]) {
        text += cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ value: String) -> String {
        let harmless = value.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } == true ? "'" + value : value
        guard harmless.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return harmless }
        return "\"" + harmless.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
