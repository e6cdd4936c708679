internal import CatalogueFiles
internal import Contracts

/// Names of secrets that others keep.
extension CatalogueDocument {
    /// The members that name one, wherever they stand in an MVPD, an integration, an application or an upstream.
    static let secretMembers: Set<OctetText> = ["clientSecretReference", "secret", "statementReference", "passwordReference"]

    /// The references that an entry names.
    func secretReferences(of key: EntityKey) -> [String] { self[key]?.texts(under: Self.secretMembers) ?? [] }
}

extension JsonTree {
    /// Texts of all members of those names, at any depth.
    fileprivate func texts(under names: Set<OctetText>) -> [String] {
        switch self {
        case .object(let members):
            members.flatMap { member, value -> [String] in
                if names.contains(OctetText(member)), case .string(let text) = value { return text.isEmpty ? [] : [text] }
                return value.texts(under: names)
            }
        case .array(let elements): elements.flatMap { $0.texts(under: names) }
        case .null, .bool, .number, .string: []
        }
    }
}

/// What a push may name.
struct SecretRules {
    let inventory: SecretInventory

    /// What is wrong with the references that these changes make; what was there before stays editable.
    func problems(_ changes: [PropertyChange], from old: CatalogueDocument, to new: CatalogueDocument) -> [FieldProblem] {
        guard inventory.knowledge != .untold else { return [] }
        var problems: [FieldProblem] = []
        for key in Set(changes.map(\.key)) {
            let former = old.secretReferences(of: key)
            for reference in new.secretReferences(of: key) where !former.contains(reference) {
                if let problem = problem(reference, in: key, new) {
                    problems.append(FieldProblem(field: "\(key): secret", message: problem))
                }
            }
        }
        return problems.sorted { $0.field < $1.field }
    }

    private func problem(_ reference: String, in key: EntityKey, _ document: CatalogueDocument) -> String? {
        guard inventory.knowledge != .away else {
            return "names the secret '\(reference)', and the service that keeps secrets does not answer; push again in a moment"
        }
        guard let known = inventory.secrets.first(where: { $0.reference == reference }) else {
            return "names the secret '\(reference)', which is not there; write it first (POST /admin/v1/secrets/\(reference))"
        }
        // Operators' secrets are for what operators write; a programmer's are for that programmer's entries alone.
        switch document.owner(of: key) {
        case .programmer(let id) where !known.isFile && known.programmerID != id:
            return "names the secret '\(reference)', which is not there; write it first (POST /admin/v1/secrets/\(reference))"
        case .everyone, .operators: return known.programmerID.isEmpty ? nil : "names the secret '\(reference)', which is a programmer's own"
        case .programmer: return nil
        }
    }
}
