internal import CatalogueFiles
internal import Clocks
internal import Contracts
internal import Synchronization

/// Documents that were read before, and what they mean, by their SHA-256: a document never changes. And what was checked a moment ago, which waits to
/// be stored.
final class DocumentCache: Sendable {
    /// Documents; the newest one, drafts, and those that are compared with it.
    private static let most = 6

    private struct Item {
        let sha256: String
        let document: CatalogueDocument
        var configuration: Configuration?
    }

    private struct Checked {
        let sha256: String
        let reading: DocumentCheck.Reading
        let time: Timestamp
    }

    /// Certificates end; a check counts for so long.
    private static let life: Duration = .seconds(60)

    private let items = Mutex<[Item]>([])
    private let checked = Mutex<[Checked]>([])

    func reading(_ sha256: String, now: Timestamp) -> DocumentCheck.Reading? {
        checked.withLock { $0.first { $0.sha256 == sha256 && $0.time <= now && now < $0.time + Self.life }?.reading }
    }

    func keep(_ reading: DocumentCheck.Reading, _ sha256: String, now: Timestamp) {
        checked.withLock { checked in
            checked.removeAll { $0.sha256 == sha256 }
            checked.insert(Checked(sha256: sha256, reading: reading, time: now), at: 0)
            if checked.count > Self.most { checked.removeLast() }
        }
    }

    func document(_ sha256: String) -> CatalogueDocument? { items.withLock { items in items.first { $0.sha256 == sha256 }?.document } }

    func configuration(_ sha256: String) -> Configuration? { items.withLock { items in items.first { $0.sha256 == sha256 }?.configuration } }

    /// - Parameter configuration: The meaning of the document, where that is known.
    func keep(_ document: CatalogueDocument, _ sha256: String, _ configuration: Configuration? = nil) {
        items.withLock { items in
            let known = items.first { $0.sha256 == sha256 }?.configuration
            items.removeAll { $0.sha256 == sha256 }
            items.insert(Item(sha256: sha256, document: document, configuration: configuration ?? known), at: 0)
            if items.count > Self.most { items.removeLast() }
        }
    }
}
