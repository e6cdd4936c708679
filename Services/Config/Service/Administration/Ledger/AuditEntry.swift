internal import Clocks
internal import Contracts
internal import Storage

/// What is recorded in the audit log; the raw value goes over the wire.
enum AuditAction: String, Sendable {
    case push
    case pushProposed = "push_proposed"
    case pushDeclined = "push_declined"
    case fileImport = "import"
    case degradationStarted = "degradation_started"
    case degradationRenewed = "degradation_renewed"
    case degradationEnded = "degradation_ended"
    case tempPassReset = "temp_pass_reset"
    case clientRevoked = "client_revoked"
    case statementDownloaded = "statement_downloaded"
    case secretWritten = "secret_written"
    case statementsRevoked = "statements_revoked"
}

/// Authors that are no administrators.
enum AuditAuthor {
    static let file = "catalogue file"
    static let time = "time"
}

/// One record of the audit log.
struct AuditEntry: Hashable, Sendable {
    let number: UInt64
    let createdAt: Timestamp
    let author: String
    let action: String
    let text: String
    let version: UInt64
    let programmers: [String]
    let previousSHA256: String
    var recordSHA256 = ""

    /// What the record's hash must be.
    var link: String {
        let fields = ["\(number)", "\(createdAt.milliseconds)", author, action, text, "\(version)", ProgrammerList.text(programmers)]
        return HashChain.link(fields, after: previousSHA256)
    }

    var contract: AuditRecord {
        AuditRecord(
            number: number, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds), author: author, action: action, text: text,
            version: version, recordSha256: recordSHA256)
    }
}

extension AuditEntry {
    init(_ row: Row) {
        number = UInt64(row["number"] as Int64)
        createdAt = row["created_at_ms"]
        author = row["author"]
        action = row["action"]
        text = row["text"]
        version = UInt64(row["version"] as Int64)
        programmers = ProgrammerList.read(row["programmers"])
        previousSHA256 = row["previous_sha256"]
        recordSHA256 = row["record_sha256"]
    }
}
