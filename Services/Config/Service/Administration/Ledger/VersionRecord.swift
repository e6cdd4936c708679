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
    /// In the order in which they are read and written.
    static let columns = """
        version, created_at_ms, author, approver, description, origin, document_sha256, programmers, previous_sha256, record_sha256
        """

    init(columns: inout ColumnReader) {
        version = UInt64(columns.next() as Int64)
        createdAt = columns.next()
        author = columns.next()
        approver = columns.next()
        description = columns.next()
        origin = VersionOrigin(rawValue: columns.next())
        documentSHA256 = columns.next()
        programmers = ProgrammerList.read(columns.next())
        previousSHA256 = columns.next()
        recordSHA256 = columns.next()
    }
}

/// Ids of programmers in one column: ids hold no space.
enum ProgrammerList {
    static func text(_ programmers: [String]) -> String { programmers.joined(separator: " ") }

    static func read(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
