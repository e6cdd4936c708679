internal import Clocks
internal import Contracts

/// A push that waits for a second person.
struct ProposedPush: Sendable {
    let id: String
    let author: String
    let description: String
    let createdAt: Timestamp
    let draft: Draft

    /// - Parameter rights: Whose reader sees the changes that are theirs to see.
    func contract(for rights: Rights) -> PendingPush {
        let seen = draft.changes.filter { rights.sees($0, from: draft.baseDocument, to: draft.document) }
        return PendingPush(
            id: id, author: author, description: description, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds),
            baseVersion: draft.base.version, changes: seen.lines)
    }
}
