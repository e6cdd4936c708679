import Foundation
import Synchronization

/// A guide as an operator follows it: the lines that it has for terminals and settings, and whether each was followed.
final class GuidePage: Sendable {
    /// Blocks of lines below a heading, without what they are indented by.
    private let blocks: [String: [[String]]]
    private let followed = Mutex<Set<String>>([])
    private let name: String

    /// - Parameter file: In Markdown, with blocks that are indented.
    init(_ file: URL) throws {
        name = file.lastPathComponent
        var (blocks, heading, isInside, isFenced): ([String: [[String]]], String, Bool, Bool) = ([:], "", false, false)
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            // The text between fences is for files.
            if line.hasPrefix("```") { isFenced.toggle() }
            guard line.hasPrefix("    "), !isFenced else {
                isInside = false
                if line.hasPrefix("## ") { heading = String(line.dropFirst(3)) }
                continue
            }
            var section = blocks[heading] ?? []
            let begun = isInside ? section.removeLast() : []
            section.append(begun + [line.trimmingCharacters(in: .whitespaces)])
            (blocks[heading], isInside) = (section, true)
        }
        self.blocks = blocks
    }

    /// The block whose first line begins so.
    /// - Throws: `ChaosFailure` when there is none.
    func block(_ beginning: String, under heading: String) throws -> [String] {
        guard let found = blocks[heading]?.first(where: { $0.first?.hasPrefix(beginning) == true }) else {
            throw ChaosFailure("\(name) has no block that begins with '\(beginning)' below '\(heading)'")
        }
        follow(found, heading)
        return found
    }

    /// The line that begins so.
    /// - Throws: `ChaosFailure` when there is none, or two that differ.
    func line(_ beginning: String, under heading: String) throws -> String {
        let found = Set((blocks[heading] ?? []).joined().filter { $0.hasPrefix(beginning) })
        guard let line = found.first, found.count == 1 else {
            throw ChaosFailure("\(name) has \(found.count) lines that begin with '\(beginning)' below '\(heading)', and should have one")
        }
        follow([line], heading)
        return line
    }

    /// All commands, one line for each, though the page breaks it with a backslash.
    /// - Throws: `ChaosFailure` when there is none.
    func commands(under heading: String) throws -> [String] {
        let lines = Array((blocks[heading] ?? []).joined())
        guard !lines.isEmpty else { throw ChaosFailure("\(name) has no commands below '\(heading)'") }
        follow(lines, heading)
        return lines.joined(separator: "\n").replacing("\\\n", with: "").split(separator: "\n").map(String.init)
    }

    /// Lines below these headings that nobody followed.
    func left(under headings: [String]) -> [String] {
        followed.withLock { followed in
            headings.flatMap { heading in (blocks[heading] ?? []).joined().filter { !followed.contains("\(heading): \($0)") } }
        }
    }

    private func follow(_ lines: [String], _ heading: String) { followed.withLock { $0.formUnion(lines.map { "\(heading): \($0)" }) } }
}

/// Names on a page, and what they are in a run: addresses, paths, hosts.
struct GuideNames: Sendable {
    /// Whole words of letters, digits, `.`, `_` and `-`: on the page, and here.
    let names: [(String, String)]

    /// The command with what the names are here.
    func placed(_ command: String) -> String {
        command.replacing(/\/?[A-Za-z0-9._-]+/) { match in
            let slash = match.output.hasPrefix("/") ? "/" : ""
            let word = match.output.dropFirst(slash.count)
            // A file of that name in a folder of the page is another one.
            guard let here = names.first(where: { $0.0 == word })?.1, slash.isEmpty || !here.hasPrefix("/") else { return String(match.output) }
            return slash + here
        }
    }

    /// One line for each name.
    var table: [String] { names.map { "    \($0.0) is \($0.1)" } }
}
