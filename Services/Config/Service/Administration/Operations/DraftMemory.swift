internal import CatalogueFiles
internal import Contracts
internal import Cryptography
internal import Faults
internal import Storage
internal import Synchronization

/// Drafts as they were read last, by the digest of what is stored: pages ask for a draft again and again, and a large one takes long to read and to compare.
final class DraftMemory: Sendable {
    /// Drafts; as many administrators work at once.
    private static let most = 8

    /// What is stored of a draft.
    struct Key: Hashable {
        let base: UInt64
        let digest: [UInt8]
    }

    private struct Item {
        let key: Key
        let draft: Draft
        var contract: CatalogueDraft?
    }

    private let items = Mutex<[Item]>([])

    func draft(_ key: Key) -> Draft? { items.withLock { items in items.first { $0.key == key }?.draft } }

    func keep(_ draft: Draft, _ key: Key) {
        items.withLock { items in
            items.removeAll { $0.key == key }
            items.insert(Item(key: key, draft: draft), at: 0)
            if items.count > Self.most { items.removeLast() }
        }
    }

    /// With what it changes, which is compared once.
    func contract(of draft: Draft, _ key: Key) -> CatalogueDraft {
        // What others have by now is not of what is stored.
        guard draft.lost.isEmpty else { return draft.contract }
        if let known = items.withLock({ items in items.first { $0.key == key }?.contract }) { return known }
        let contract = draft.contract
        items.withLock { items in
            guard let index = items.firstIndex(where: { $0.key == key }) else { return }
            items[index].contract = contract
        }
        return contract
    }
}

extension CatalogueLedger {
    /// The administrator's draft, for reading, without what is not theirs any more: one that was read before is not read again.
    /// - Returns: `nil`: there is none.
    func keptDraft(of rights: Rights, _ memory: DraftMemory) throws -> (draft: Draft, key: DraftMemory.Key)? {
        guard let (draft, key) = try storedDraft(of: rights.name, memory) else { return nil }
        return (draft.narrowed(to: rights, in: try newestDocument()), key)
    }

    private func storedDraft(of author: String, _ memory: DraftMemory) throws -> (draft: Draft, key: DraftMemory.Key)? {
        let kept = try database.first("SELECT base_version, content FROM draft WHERE author = ?", [author]) {
            (base: UInt64($0.next() as Int64), content: $0.next() as [UInt8])
        }
        guard let kept else { return nil }
        let key = DraftMemory.Key(base: kept.base, digest: SHA256.hash(kept.content))
        if let known = memory.draft(key) { return (known, key) }
        let draft = try draft(on: kept.base, kept.content)
        memory.keep(draft, key)
        return (draft, key)
    }
}
