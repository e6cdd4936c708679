internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Faults
internal import Foundation
internal import Storage
internal import Tokens

/// The result for a catalogue that somebody wrote as a whole.
struct ImportOutcome: Sendable {
    enum Verdict: Sendable {
        /// It is what was taken in last.
        case unchanged
        case taken
        /// It would replace what administrators pushed; they stay.
        case refused
    }

    let verdict: Verdict
    /// The publication for services.
    var publication: Publication
    /// True when it was refused because the file stayed behind imports of others.
    var isLeftBehind = false
    /// The versions that administrators made since the file was taken in last, newest first.
    var pushed: [UInt64] = []
    /// The changes that it makes of the newest version, or would make.
    var changes: [PropertyChange] = []
    /// The SHA-256 of the catalogue's own content beside what was there.
    var documentSHA256 = ""
}

/// A catalogue is to be taken in for one of these reasons.
enum ImportReason: Sendable {
    /// The service looked at its file: at its start, or because it changed.
    /// - Parameter former: The file's content when this copy looked last, as a SHA-256.
    case looked(former: String?)
    /// An operator asks for it.
    /// - Parameter isForced: True when it may replace pushed versions.
    case asked(isForced: Bool)

    fileprivate var isForced: Bool { if case .asked(true) = self { true } else { false } }
}

extension CatalogueLedger {
    /// The versions that people made since the catalogue file was taken in last, newest first.
    func pushedVersions() throws -> [UInt64] {
        let last = try newestImport()?.version ?? 0
        return try versions().filter { $0.version > last && $0.author != AuditAuthor.upgrade }.map(\.version)
    }

    /// True when the catalogue file said it at an import.
    private func wasImported(_ sha256: String) throws -> Bool {
        try database.hasRow(
            "SELECT 1 FROM version WHERE origin = ? AND author = ? AND document_sha256 = ?", [VersionOrigin.file.rawValue, AuditAuthor.file, sha256])
    }

    /// True when a catalogue file says by itself what it, or another copy's file, said at an import before the last one. Such a file stayed behind;
    /// it does not go back.
    /// - Parameter former: The earlier content of this copy's file, as a SHA-256; `nil`: that is not known.
    private func isLeftBehind(_ document: CatalogueDocument, former: String?) throws -> Bool {
        guard let last = try newestImport()?.documentSHA256, former != last, last != document.tree.sha256 else { return false }
        return try wasImported(document.tree.sha256)
    }

    /// True when the catalogue file says what it said at its last import, where entries that do not say their callback had one then.
    private func saysTheSame(_ document: CatalogueDocument, as last: VersionRecord?) throws -> Bool {
        guard let last else { return false }
        if last.documentSHA256 == document.tree.sha256 { return true }
        return try document.keepingCallbacks(of: self.document(last.documentSHA256)).tree.sha256 == last.documentSHA256
    }

    /// Takes in a catalogue when it is not what the file was at its last import. One that changed beside pushed versions is refused: it knows nothing
    /// of what administrators did, and would undo it. One that says the same as the newest version undoes nothing. A file that nobody asked for is
    /// also refused when its content was taken in before. Otherwise copies with different files would undo each other's imports at each start.
    /// - Parameters:
    ///   - written: As it stands there; callbacks that it does not say are those that were there.
    ///   - author: The author who brings it; the file itself by default.
    ///   - reason: Why the file is looked at.
    /// - Throws: A `DocumentRejection` as its cause, where it adds what a push may not add.
    func importCatalogue(
        _ written: CatalogueDocument, meaning meant: Configuration, keys: [JSONWebKey], author: String = AuditAuthor.file,
        reason: ImportReason = .asked(isForced: false)
    ) throws -> ImportOutcome {
        let last = try newestImport()
        let newest = try newestVersion()
        let former = try newest.map { try self.document($0.documentSHA256) } ?? CatalogueDocument(.object([:]))
        let document = written.keepingCallbacks(of: former)
        let sha256 = document.tree.sha256
        // A person's catalogue is taken in even when the file said it once.
        let isKnown = author == AuditAuthor.file ? try saysTheSame(written, as: last) : false
        if isKnown || newest?.documentSHA256 == sha256 && author != AuditAuthor.file {
            return ImportOutcome(verdict: .unchanged, publication: try publish(keys: keys), documentSHA256: last?.documentSHA256 ?? sha256)
        }
        let configuration = document == written ? meant : try DocumentCheck.configuration(of: document, self)
        let pushed = try pushedVersions()
        let changes = former.changes(to: document)
        if !reason.isForced, !changes.isEmpty {
            var isLeft = false
            if case .looked(let former) = reason { isLeft = try isLeftBehind(document, former: former) }
            if isLeft || !pushed.isEmpty {
                return ImportOutcome(
                    verdict: .refused, publication: try publish(keys: keys), isLeftBehind: isLeft, pushed: pushed, changes: changes,
                    documentSHA256: sha256)
            }
        }
        let problems =
            try newest.map { newest in
                try PushRules.additions(before: try self.configuration(of: newest), after: configuration) {
                    try formerSharers(among: $0, in: document)
                }
            } ?? []
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        let programmers = RecordScope.programmers(of: changes, from: former, to: document)
        let list = pushed.reversed().map { "\($0)" }.joined(separator: ", ")
        let name = author == AuditAuthor.file ? "The catalogue file" : "An imported catalogue"
        let description = changes.isEmpty || pushed.isEmpty ? name : "\(name), in place of pushed versions: \(list)"
        // References from before owners were kept are settled by themselves, not by the new content.
        if newest != nil { try settleFileOwners() }
        let record = try append(
            document, meaning: configuration, author: author, description: description, origin: .file, programmers: programmers)
        try settleFileOwners(in: document)
        try self.record(.fileImport, by: author, "\(description) (\(changes.count) changes)", version: record.version, programmers: programmers)
        return ImportOutcome(verdict: .taken, publication: try publish(keys: keys), pushed: pushed, changes: changes, documentSHA256: sha256)
    }
}

extension CatalogueLedger {
    /// Makes a draft the newest version; one that began with an older version is brought onto the newest first (dashboard §4).
    /// - Throws: `insufficient_role` where the newest version does not let the administrator make all of the changes; a `DocumentRejection` as its cause:
    ///   conflicts, or what is wrong with the result.
    /// - Parameters:
    ///   - rights: The rights of the deciding person: the author, or the second person.
    ///   - secrets: The known facts about them.
    func push(
        _ draft: Draft, by rights: Rights, author: String, approver: String, description: String, secrets: SecretInventory = SecretInventory()
    ) throws -> VersionRecord {
        let newest = try requireNewest()
        let live = try document(newest.documentSHA256)
        let (rebased, conflicts) = CatalogueDocument.rebased(draft.changes, from: draft.baseDocument, onto: live)
        guard conflicts.isEmpty else {
            throw DocumentRejection(.conflict, "Version \(newest.version) changes the same properties.", conflicts: conflicts.lines).fault
        }
        let document = rebased.keepingCallbacks(of: live)
        let changes = live.changes(to: document)
        // A draft may be older than the rights of its author, and than what belongs to whom.
        guard changes.allSatisfy({ rights.mayMake($0, from: live, to: document) }) else { throw Fault.insufficientRole }
        if changes.isEmpty { throw DocumentRejection.invalid("", "has no changes that version \(newest.version) lacks").fault }
        let configuration = try DocumentCheck.configuration(of: document, self, for: rights)
        let secretProblems = try secretRules(secrets, rights).problems(changes, from: live, to: document)
        let pushProblems = try PushRules.problems(changes, before: try self.configuration(of: newest), after: configuration, now: now) {
            try formerSharers(among: $0, in: document)
        }
        let problems = secretProblems + pushProblems
        if !problems.isEmpty { throw DocumentRejection.invalid(problems).fault }
        let programmers = RecordScope.programmers(of: changes, from: live, to: document)
        let record = try append(
            document, meaning: configuration, author: author, approver: approver, description: description, origin: .push, programmers: programmers)
        let approval = approver.isEmpty ? "" : ", approved by \(approver)"
        try self.record(
            .push, by: author, "\(description) (\(changes.count) changes\(approval))", version: record.version, programmers: programmers)
        return record
    }

    func secretRules(_ inventory: SecretInventory, _ rights: Rights) throws -> SecretRules {
        SecretRules(inventory: inventory, owners: try programmersOfFiles(), rights: rights)
    }

    func propose(_ draft: Draft, author: String, description: String) throws -> ProposedPush {
        let push = ProposedPush(id: UUID().uuidString.lowercased(), author: author, description: description, createdAt: now, draft: draft)
        try run(
            "INSERT INTO pending_push (id, author, description, base_version, content, created_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [push.id, author, description, Int64(draft.base.version), try storable(draft).tree.canonicalBytes, now])
        try record(.pushProposed, by: author, description, programmers: programmers(of: draft))
        return push
    }

    /// Oldest first.
    func proposedPushes() throws -> [ProposedPush] {
        let pushes = try database.all(
            "SELECT id, author, description, created_at_ms, base_version, content FROM pending_push ORDER BY created_at_ms, id"
        ) { columns in
            (
                id: columns.next() as String, author: columns.next() as String, description: columns.next() as String,
                createdAt: columns.next() as Timestamp, base: UInt64(columns.next() as Int64), content: columns.next() as [UInt8]
            )
        }
        return try pushes.map { push in
            ProposedPush(
                id: push.id, author: push.author, description: push.description, createdAt: push.createdAt,
                draft: try draft(on: push.base, push.content))
        }
    }

    func removeProposal(_ id: String) throws { try run("DELETE FROM pending_push WHERE id = ?", [id]) }

    func programmers(of draft: Draft) -> [String] {
        RecordScope.programmers(of: draft.changes, from: draft.baseDocument, to: draft.document)
    }
}

/// A push that waits for a second person.
struct ProposedPush: Sendable {
    let id: String
    let author: String
    let description: String
    let createdAt: Timestamp
    var draft: Draft

    /// Without what is not the administrator's any more.
    /// - Parameter live: The newest version's document.
    func narrowed(to rights: Rights, in live: CatalogueDocument) -> ProposedPush {
        var push = self
        push.draft = draft.narrowed(to: rights, in: live)
        return push
    }

    /// - Parameter rights: The rights of the reader, who sees the changes that are theirs to see.
    func contract(for rights: Rights) -> PendingPush {
        let seen = rights.visible(draft.baseDocument).changes(to: rights.visible(draft.document))
        return PendingPush(
            id: id, author: author, description: description, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds),
            baseVersion: draft.base.version, changes: seen.lines)
    }
}
