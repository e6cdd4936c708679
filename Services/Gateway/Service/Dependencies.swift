internal import Catalogue
internal import Contracts
internal import Faults

/// What the endpoints work with.
struct Dependencies: Sendable {
    let settings: GatewaySettings
    let pages: Pages
    let authentication: any Authentication
    let authorization: any Authorization
    let administration: any Administration
    let operations: any AuthenticationOperations
    let catalogue: any CatalogueSource
    let codes: CodeGuard
}
