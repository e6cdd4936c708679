internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Storage

/// One administrator's changes: a document of its own, and the version that it began with.
struct Draft: Sendable {
    let base: VersionRecord
    private(set) var baseDocument: CatalogueDocument
    var document: CatalogueDocument
    /// Entries that stand in both documents as they are in the newest version: they belong to others by now.
    private(set) var lost: [EntityKey] = []

    init(base: VersionRecord, baseDocument: CatalogueDocument, document: CatalogueDocument) {
        self.base = base
        self.baseDocument = baseDocument
        self.document = document
    }

    var changes: [PropertyChange] { baseDocument.changes(to: document) }

    /// Changes with every change; of a draft that has any.
    var etag: String { HashChain.link(["\(base.version)"], after: document.tree.sha256) }

    var contract: CatalogueDraft {
        let changes = changes
        return CatalogueDraft(baseVersion: base.version, changes: changes.lines, etag: changes.isEmpty ? "" : etag)
    }

    /// Without what has come to another programmer since the draft was begun: the draft neither shows nor changes it any more (dashboard §4).
    /// - Parameter live: The newest version's document.
    func narrowed(to rights: Rights, in live: CatalogueDocument) -> Draft {
        var narrowed = self
        narrowed.lost = rights.lost([baseDocument, document], in: live)
        for key in narrowed.lost {
            narrowed.baseDocument[key] = live[key]
            narrowed.document[key] = live[key]
        }
        return narrowed
    }
}

extension Rights {
    /// The entries that were the administrator's in one of the documents, and are another programmer's in the newest one.
    fileprivate func lost(_ documents: [CatalogueDocument], in live: CatalogueDocument) -> [EntityKey] {
        guard !isOperator else { return [] }
        func foreign(_ section: CatalogueSection) -> Set<EntityKey> {
            Set(live.entries(section).filter { !sees(programmer: $0.tree["programmer"]?.text ?? "") }.map(\.key))
        }
        var lost: Set<EntityKey> = []
        for section in [CatalogueSection.requestors, .applications] {
            let foreign = foreign(section)
            for document in documents {
                let own = document.entries(section).filter { sees(programmer: $0.tree["programmer"]?.text ?? "") }
                lost.formUnion(own.map(\.key).filter(foreign.contains))
            }
        }
        let requestors = Set(lost.filter { $0.section == .requestors }.map { OctetText($0.id) })
        if !requestors.isEmpty {
            for document in documents + [live] {
                lost.formUnion(document.entries(.integrations).map(\.key).filter { requestors.contains(OctetText($0.requestor)) })
            }
        }
        return Array(lost)
    }
}

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

    /// The hash that the record must have.
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

/// Links records so that none can be changed, taken out or put in without the ones after it showing it.
enum HashChain {
    /// The hash before the first record.
    static let start = String(repeating: "0", count: 64)

    /// SHA-256 of a record's fields and of the record before it.
    static func link(_ fields: [String], after previous: String) -> String {
        JsonTree.array((fields + [previous]).map(JsonTree.string)).sha256
    }
}
