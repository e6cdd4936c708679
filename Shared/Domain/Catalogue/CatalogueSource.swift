public import Contracts
public import Faults

/// Where a service reads the current catalogue; reading never waits.
public protocol CatalogueSource: Sendable {
    /// - Throws: `unavailable` while no version has ever been received.
    func current() throws(Fault) -> Catalogue
}

/// A catalogue that never changes.
public struct FixedCatalogue: CatalogueSource {
    private let catalogue: Catalogue

    public init(_ configuration: Configuration) { catalogue = Catalogue(configuration) }

    public func current() throws(Fault) -> Catalogue { catalogue }
}
