public import Catalogue
public import Faults
internal import Synchronization

/// What is published, as services see it; its indexes are made once for each version.
public final class PublishedCatalogueIndex: CatalogueSource {
    private let published: PublishedCatalogue
    private let made: Mutex<Catalogue>

    public init(_ published: PublishedCatalogue) {
        self.published = published
        made = Mutex(Catalogue(published.configuration))
    }

    public func current() throws(Fault) -> Catalogue {
        let configuration = try published.edition().configuration
        return made.withLock { made in
            if made.version != configuration.version { made = Catalogue(configuration) }
            return made
        }
    }
}
