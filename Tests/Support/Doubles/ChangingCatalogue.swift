public import Catalogue
public import Contracts
public import Faults
internal import Synchronization

/// A catalogue that a test changes while a service reads it; empty means that no version was received yet.
public final class ChangingCatalogue: CatalogueSource {
    private let catalogue: Mutex<Catalogue?>

    public init(_ configuration: Configuration?) { catalogue = Mutex(configuration.map { Catalogue($0) }) }

    public func publish(_ configuration: Configuration?) {
        catalogue.withLock { $0 = configuration.map { Catalogue($0) } }
    }

    /// Changes the current configuration in place; its version grows by one.
    public func change(_ body: (inout Configuration) -> Void) {
        catalogue.withLock { catalogue in
            var configuration = catalogue?.configuration ?? Configuration()
            body(&configuration)
            configuration.version += 1
            catalogue = Catalogue(configuration)
        }
    }

    public func current() throws(Fault) -> Catalogue {
        guard let catalogue = catalogue.withLock({ $0 }) else {
            throw Fault(.unavailable, "The catalogue has not been received yet.", retryAfter: .seconds(1))
        }
        return catalogue
    }
}
