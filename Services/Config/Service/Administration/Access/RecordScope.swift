/// Whom a version or an audit record concerns, as programmer ids.
enum RecordScope {
    /// In place of a programmer's id: MVPD records, which all share.
    static let everyone = "*"

    static func programmers(of changes: [PropertyChange], from old: CatalogueDocument, to new: CatalogueDocument) -> [String] {
        let owners = Set(changes.flatMap { [old.owner(of: $0.key), new.owner(of: $0.key)] })
        return owners.compactMap { owner in
            switch owner {
            case .programmer(let id): id.isEmpty ? nil : id
            case .everyone: everyone
            case .operators: nil
            }
        }.sorted()
    }
}
