internal import CatalogueFiles

/// Links records so that none can be changed, taken out or put in without the ones after it showing it.
enum HashChain {
    /// What stands before the first record.
    static let start = String(repeating: "0", count: 64)

    /// SHA-256 of a record's fields and of the record before it.
    static func link(_ fields: [String], after previous: String) -> String {
        JsonTree.array((fields + [previous]).map(JsonTree.string)).sha256
    }
}
