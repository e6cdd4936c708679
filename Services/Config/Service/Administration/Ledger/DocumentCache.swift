internal import CatalogueFiles
internal import Contracts
internal import Synchronization

/// Documents that were read before, and what they mean, by their SHA-256: a document never changes.
final class DocumentCache: Sendable {
    /// Documents; the newest one and those that are compared with it.
    private static let most = 4

    private struct Item {
        let sha256: String
        let document: CatalogueDocument
        var configuration: Configuration?
    }

    private let items = Mutex<[Item]>([])

    func document(_ sha256: String) -> CatalogueDocument? { items.withLock { items in items.first { $0.sha256 == sha256 }?.document } }

    func configuration(_ sha256: String) -> Configuration? { items.withLock { items in items.first { $0.sha256 == sha256 }?.configuration } }

    /// - Parameter configuration: What the document means, where that is known.
    func keep(_ document: CatalogueDocument, _ sha256: String, _ configuration: Configuration? = nil) {
        items.withLock { items in
            let known = items.first { $0.sha256 == sha256 }?.configuration
            items.removeAll { $0.sha256 == sha256 }
            items.insert(Item(sha256: sha256, document: document, configuration: configuration ?? known), at: 0)
            if items.count > Self.most { items.removeLast() }
        }
    }
}
