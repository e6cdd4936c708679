internal import Clocks
internal import Contracts
internal import Storage

/// A version of the catalogue without its document.
struct VersionRecord: Hashable, Sendable {
    var version: UInt64
    var createdAt: Timestamp
    var author: String
    var approver = ""
    var description: String
    var origin: VersionOrigin
    var documentSHA256: String
    var programmers: [String]
    var previousSHA256 = HashChain.start
    var recordSHA256 = ""

    /// What the record's hash must be.
    var link: String {
        let fields = [
            "\(version)", "\(createdAt.milliseconds)", author, approver, description, "\(origin.rawValue)", documentSHA256,
            programmers.joined(separator: " "),
        ]
        return HashChain.link(fields, after: previousSHA256)
    }

    func contract(current: UInt64, published: UInt64) -> CatalogueVersion {
        CatalogueVersion(
            version: version, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds), author: author, approver: approver,
            description: description, origin: origin, status: version <= published ? .success : .pending, documentSha256: documentSHA256,
            previousSha256: previousSHA256, recordSha256: recordSHA256, isCurrent: version == current)
    }
}

extension VersionRecord {
    init(_ row: Row) {
        version = UInt64(row["version"] as Int64)
        createdAt = row["created_at_ms"]
        author = row["author"]
        approver = row["approver"]
        description = row["description"]
        origin = VersionOrigin(rawValue: row["origin"])
        documentSHA256 = row["document_sha256"]
        programmers = ProgrammerList.read(row["programmers"])
        previousSHA256 = row["previous_sha256"]
        recordSHA256 = row["record_sha256"]
    }
}

/// Ids of programmers in one column: ids hold no space.
enum ProgrammerList {
    static func text(_ programmers: [String]) -> String { programmers.joined(separator: " ") }

    static func read(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
