internal import Clocks
internal import Storage

/// The store as one transaction sees it, at one moment.
struct CatalogueLedger {
    let database: Database
    let now: Timestamp
    let documents: DocumentCache
}
