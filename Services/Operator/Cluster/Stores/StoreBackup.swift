internal import CommandKit
internal import Foundation

/// What a backup's folder holds: `backup.json`.
struct BackupManifest: Codable {
    struct Store: Codable {
        let service: String
        let engine: String
        /// In the folder.
        let file: String
        /// Steps that the schema has had, and that a program must know.
        let steps: [String]
        let least: Int
        /// Rows of each table.
        let tables: [String: Int]
    }

    /// RFC 3339.
    let madeAt: String
    /// Of the program that made it.
    let software: String
    let stores: [Store]

    private static let name = "backup.json"
    private static let sums = "SHA256SUMS"

    /// Writes it, and the sums of all files, into the folder.
    func write(to folder: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try WrittenFiles.replace(folder.appendingPathComponent(Self.name), with: try encoder.encode(self))
        let sums = try Subprocess.run(
            "/bin/sh", ["-c", #"cd "$1" && shift && sha256sum "$@" >SHA256SUMS && sync -f ."#, "sh", folder.path, Self.name] + stores.map(\.file))
        guard sums.status == 0 else { throw CommandFailure("cannot write \(folder.path)/\(Self.sums)", advice: sums.complaint) }
        for name in [Self.name, Self.sums] {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.appendingPathComponent(name).path)
        }
    }

    /// Reads it, and compares the files with their sums.
    /// - Throws: `CommandFailure` when the folder holds no whole backup.
    static func read(_ folder: URL) throws -> BackupManifest {
        guard let content = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path),
            let manifest = try? JSONDecoder().decode(BackupManifest.self, from: content)
        else { throw CommandFailure("\(folder.path) holds no backup", advice: "name a folder that 'boxoffice store backup' has made") }
        let check = try Subprocess.run("/bin/sh", ["-c", #"cd "$1" && sha256sum --check --quiet SHA256SUMS"#, "sh", folder.path])
        guard check.status == 0 else {
            let changed = String(decoding: check.output, as: UTF8.self).split(separator: "\n").joined(separator: "; ")
            throw CommandFailure("the backup in \(folder.path) is damaged", advice: changed.isEmpty ? check.complaint : changed)
        }
        return manifest
    }
}
