internal import CatalogueFiles
internal import Storage

/// Whom a version or an audit record concerns, as programmer ids in a column with a space between.
struct RecordScope {
    /// Of SQL; for the records that a reader may see.
    let condition: String
    let arguments: Arguments

    init(_ rights: Rights) {
        let programmers = rights.administrator.programmerIDs + [Self.everyone]
        let names = "' ' || programmers || ' '"
        condition = rights.isOperator ? "1 = 1" : programmers.map { _ in "replace(\(names), ?, '') <> \(names)" }.joined(separator: " OR ")
        arguments = rights.isOperator ? [] : Arguments(programmers.map { " \($0) ".stored })
    }

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
