internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Faults
internal import Foundation
internal import Storage

extension CatalogueLedger {
    /// Makes a draft the newest version; one that began with an older version is brought onto the newest first (dashboard §4).
    /// - Throws: `insufficient_role` where the newest version does not let the administrator make all of the changes; a `Refused` as its cause: conflicts, or what is
    ///   wrong with the result.
    /// - Parameters:
    ///   - rights: Of whoever decides: the author, or the second person.
    ///   - secrets: What is known of them.
    func push(
        _ draft: Draft, by rights: Rights, author: String, approver: String, description: String, secrets: SecretInventory = SecretInventory()
    ) throws -> VersionRecord {
        let newest = try requireNewest()
        let live = try document(newest.documentSHA256)
        let (rebased, conflicts) = CatalogueDocument.rebased(draft.changes, from: draft.baseDocument, onto: live)
        guard conflicts.isEmpty else {
            throw Refused(.conflict, "Version \(newest.version) changes the same properties.", conflicts: conflicts.lines).fault
        }
        let document = rebased.keepingCallbacks(of: live)
        let changes = live.changes(to: document)
        // A draft may be older than the rights of its author, and than what belongs to whom.
        guard changes.allSatisfy({ rights.mayMake($0, from: live, to: document) }) else { throw Fault.insufficientRole }
        if changes.isEmpty { throw Refused.invalid("", "has no changes that version \(newest.version) lacks").fault }
        let configuration = try DocumentCheck.configuration(of: document, self, for: rights)
        let secretProblems = try secretRules(secrets, rights).problems(changes, from: live, to: document)
        let pushProblems = try PushRules.problems(changes, before: try self.configuration(of: newest), after: configuration, now: now) {
            try formerSharers(among: $0, in: document)
        }
        let problems = secretProblems + pushProblems
        if !problems.isEmpty { throw Refused.invalid(problems).fault }
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
