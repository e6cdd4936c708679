internal import Foundation

/// Names of a program's log files: `NAME.log` is written now, `NAME.log.20310304T100000000Z` was written until that moment.
package enum FormerLog {
    /// The former files of a log, oldest first.
    /// - Parameter log: The path of `NAME.log`.
    package static func names(of log: String) -> [String] {
        let (folder, name) = split(log)
        return names(in: folder).filter { self.log(of: $0) == name }.sorted()
    }

    /// The log that a former file belongs to; `nil`: it is none.
    /// - Parameter name: The name of the file, without its folder.
    package static func log(of name: String) -> String? {
        guard let dot = name.lastIndex(of: "."), isStamp(name[name.index(after: dot)...]) else { return nil }
        let log = name[..<dot]
        return log.hasSuffix(".log") && log.utf8.count > 4 ? String(log) : nil
    }

    /// The moment in a former file's name.
    static func stamp(of name: String) -> Substring { name.suffix(19) }

    static func names(in folder: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    private static func isStamp(_ text: Substring) -> Bool {
        let octets = Array(text.utf8)
        return octets.count == 19 && octets[8] == UInt8(ascii: "T") && octets[18] == UInt8(ascii: "Z")
            && octets.enumerated().allSatisfy { $0 == 8 || $0 == 18 || (0x30...0x39).contains($1) }
    }
}
