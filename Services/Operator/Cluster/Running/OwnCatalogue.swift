internal import CatalogueFiles
internal import Clocks
package import CommandKit
internal import Foundation

/// A catalogue file that somebody brings, without problems.
package struct OwnCatalogue: Sendable {
    package let file: String
    /// What goes over the wire: JSON that needs no other file.
    package let text: String
    /// What a copy of the file in another folder must say: the file as it is, unless it names files beside it.
    let copy: Data

    /// - Parameter home: Where the file may have come from: what it names is looked for beside it, and otherwise there.
    /// - Throws: `CommandFailure` with every problem and its place.
    package init(file: String, home: ClusterHome) throws {
        self.file = file
        let octets = try TextFile.content(file)
        do throws(CatalogueRefused) {
            let content = try CatalogueFile(path: file).read(now: SystemClock().now())
            text = content.text
            copy = content.namesFiles ? Data((content.text + "\n").utf8) : octets
        } catch {
            guard let content = Self.read(octets, in: home) else {
                throw CommandFailure(error.lines.joined(separator: "\n"), advice: "Services/Config/README.md describes the file")
            }
            text = content.text
            copy = octets
        }
    }

    /// The same text as the catalogue of the home.
    private static func read(_ octets: Data, in home: ClusterHome) -> CatalogueFile.Content? {
        let trial = home.root.appendingPathComponent(".catalogue.trial.json")
        defer { try? FileManager.default.removeItem(at: trial) }
        guard (try? octets.write(to: trial, options: .atomic)) != nil else { return nil }
        return try? CatalogueFile(path: trial.path).read(now: SystemClock().now())
    }
}
