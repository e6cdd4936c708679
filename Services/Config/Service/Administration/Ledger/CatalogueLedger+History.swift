internal import Contracts
internal import Cryptography
internal import Storage

extension CatalogueLedger {
    /// Computes both chains anew (dashboard #29).
    /// - Parameter isDeep: Whether every document is read too; otherwise only the newest one is.
    func verdict(readingDocuments isDeep: Bool) throws -> HistoryVerdict {
        let versions = try versions()
        let audit = try auditEntries()
        var problems = Self.problems(versions.reversed().map { ("version \($0.version)", $0.previousSHA256, $0.recordSHA256, $0.link) })
        let start = try startOfAudit()
        problems += Self.problems(
            audit.reversed().map { ("audit record \($0.number)", $0.previousSHA256, $0.recordSHA256, $0.link) }, after: start.sha256)
        for (index, entry) in audit.reversed().enumerated() where entry.number != start.number + UInt64(index + 1) {
            problems.append("audit record \(start.number + UInt64(index + 1)): is missing")
            break
        }
        for version in isDeep ? versions[...] : versions.prefix(1) where try !isIntact(version) {
            problems.append("version \(version.version): the document was changed")
        }
        return HistoryVerdict(
            isIntact: problems.isEmpty, problems: problems, versions: UInt64(versions.count), auditRecords: UInt64(audit.count))
    }

    /// Whether a version's document is the one that was pushed.
    func isIntact(_ version: VersionRecord) throws -> Bool {
        Hex.encode(SHA256.hash(try documentBytes(version.documentSHA256))) == version.documentSHA256
    }

    private static func problems(
        _ links: [(name: String, previous: String, stored: String, computed: String)], after start: String = HashChain.start
    ) -> [String] {
        var previous = start
        var problems: [String] = []
        for link in links {
            if link.stored != link.computed { problems.append("\(link.name): the record was changed") }
            if link.previous != previous { problems.append("\(link.name): the record before it was changed or is missing") }
            previous = link.stored
        }
        return problems
    }
}
