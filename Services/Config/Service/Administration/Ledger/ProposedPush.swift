internal import CatalogueFiles
internal import Clocks
internal import Contracts

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

    /// - Parameter rights: Whose reader sees the changes that are theirs to see.
    func contract(for rights: Rights) -> PendingPush {
        let seen = rights.visible(draft.baseDocument).changes(to: rights.visible(draft.document))
        return PendingPush(
            id: id, author: author, description: description, createdAtMilliseconds: UInt64(clamping: createdAt.milliseconds),
            baseVersion: draft.base.version, changes: seen.lines)
    }
}
