internal import Contracts

/// Names of secrets that others keep.
extension CatalogueDocument {
    /// The member that names one, wherever it stands in an MVPD or an integration.
    static let secretMember = "clientSecretReference"

    /// The references that an entry names.
    func secretReferences(of key: EntityKey) -> [String] { self[key]?.texts(under: Self.secretMember) ?? [] }
}

extension JsonTree {
    /// Texts of all members of that name, at any depth.
    fileprivate func texts(under name: String) -> [String] {
        switch self {
        case .object(let members):
            members.flatMap { member, value -> [String] in
                if member == name, case .string(let text) = value { return text.isEmpty ? [] : [text] }
                return value.texts(under: name)
            }
        case .array(let elements): elements.flatMap { $0.texts(under: name) }
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
                    problems.append(FieldProblem(field: "\(key): \(CatalogueDocument.secretMember)", message: problem))
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
