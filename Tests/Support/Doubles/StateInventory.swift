internal import Foundation

/// The page that says of each table what it holds and what two copies can count on.
public enum StateInventory {
    /// The tables that `Shared/Documents/State.md` lists under a heading, those of every store included.
    /// - Parameter heading: A service, for example `authentication`.
    /// - Throws: When the page cannot be read.
    public static func tables(of heading: String) throws -> Set<String> {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Shared/Documents/State.md").standardized
        let sections = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n## ").dropFirst()
        var tables: Set<String> = []
        for section in sections where [heading, "every store"].contains(String(section.prefix { $0 != "\n" })) {
            for line in section.split(separator: "\n") where line.hasPrefix("| `") {
                let cell = line.dropFirst().prefix { $0 != "|" }
                tables.formUnion(cell.split(separator: "`").map(String.init).filter { $0.allSatisfy { $0.isLetter || $0 == "_" } })
            }
        }
        return tables
    }
}
