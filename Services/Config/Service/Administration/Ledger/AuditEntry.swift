internal import Clocks
internal import Contracts
internal import Storage

/// The actions in the audit log; the raw value goes over the wire.
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
    case viewerSupport = "viewer_support"
    case personalData = "personal_data"
    case upstreamOperated = "upstream_operated"
    case signInTested = "sign_in_tested"
    case statementDownloaded = "statement_downloaded"
    case secretWritten = "secret_written"
    case secretOwnerSet = "secret_owner_set"
    case statementsRevoked = "statements_revoked"
    case sessionOpened = "session_opened"
    case sessionEnded = "session_ended"
    case proxiedMvpdsReplaced = "proxied_mvpds_replaced"
    /// More than half of the former list has gone.
    case proxiedMvpdsDropped = "proxied_mvpds_dropped"
    /// A certificate of an MVPD was pinned although its validity is over or has not begun.
    case certificateConfirmed = "certificate_confirmed"
    case statementKeyRetired = "statement_key_retired"
    /// Records whose time is over were deleted.
    case auditForgotten = "audit_forgotten"
}

/// Authors that are no administrators.
enum AuditAuthor {
    static let file = "catalogue file"
    static let time = "time"
    /// A release that reads what one before it wrote.
    static let upgrade = "an upgrade"

    /// No administrator's name has a blank.
    static func application(_ id: String) -> String { "\(applications)\(id)" }

    private static let applications = "application "

    /// True when the name of a person would pass for one of these in the log.
    static func isOne(_ name: String) -> Bool {
        [file, time].contains { OctetText($0) == OctetText(name) } || name.utf8.starts(with: applications.utf8)
    }
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

    /// The hash that the record must have.
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
    /// In the order in which they are read and written.
    static let columns = "number, created_at_ms, author, action, text, version, programmers, previous_sha256, record_sha256"

    init(columns: inout ColumnReader) {
        number = UInt64(columns.next() as Int64)
        createdAt = columns.next()
        author = columns.next()
        action = columns.next()
        text = columns.next()
        version = UInt64(columns.next() as Int64)
        programmers = ProgrammerList.read(columns.next())
        previousSHA256 = columns.next()
        recordSHA256 = columns.next()
    }
}
