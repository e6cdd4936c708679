import Catalogue
import Contracts
import Faults
import PeerDoubles

/// The catalogue that the config double serves, as a mutant sees it.
struct DoubledCatalogue: CatalogueSource {
    let config: InMemoryConfig
    var change: @Sendable (inout Configuration) -> Void = { _ in }

    func current() throws(Fault) -> Catalogue {
        var configuration = config.configuration
        change(&configuration)
        return Catalogue(configuration)
    }
}
