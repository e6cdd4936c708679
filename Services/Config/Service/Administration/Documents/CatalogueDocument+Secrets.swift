internal import CatalogueFiles
internal import Contracts

/// Names of secrets that others keep.
extension CatalogueDocument {
    /// The members that name one, wherever they stand in an entry.
    static let secretMembers = [
        "clientSecretReference", "secret", "statementReference", "passwordReference", "signInKeyReference", "purchaseKeyReference",
    ]

    /// The members for files at the autosignin service, which nobody lists and no call writes.
    fileprivate static let keyFileMembers: Set<OctetText> = ["signInKeyReference", "purchaseKeyReference"]

    private static let members = Set(texts: secretMembers)

    /// The references that an entry names.
    func secretReferences(of key: EntityKey) -> [SecretName] { self[key]?.secretNames(under: Self.members) ?? [] }

    /// Every reference that is named, and whose the entries are that do.
    func secretHolders() -> [OctetText: Set<Owner>] {
        let programmers = Dictionary(entries(.requestors).map { (OctetText($0.key.id), $0.tree["programmer"]?.text ?? "") }) { first, _ in first }
        var holders: [OctetText: Set<Owner>] = [:]
        for entry in CatalogueSection.allCases.flatMap(entries) {
            let names = entry.tree.secretNames(under: Self.members)
            guard !names.isEmpty else { continue }
            let owner: Owner =
                entry.key.section == .integrations ? .programmer(programmers[OctetText(entry.key.requestor)] ?? "") : owner(of: entry.key)
            for name in names { holders[OctetText(name.reference), default: []].insert(owner) }
        }
        return holders
    }
}

/// A reference where it stands.
struct SecretName: Hashable, Sendable {
    let reference: String
    /// True when a file at the autosignin service is named.
    let isKeyFile: Bool
}

extension JsonTree {
    /// Texts of all members of those names, at any depth.
    fileprivate func secretNames(under names: Set<OctetText>) -> [SecretName] {
        switch self {
        case .object(let members):
            members.flatMap { member, value -> [SecretName] in
                if names.contains(OctetText(member)), case .string(let text) = value {
                    return text.isEmpty ? [] : [SecretName(reference: text, isKeyFile: CatalogueDocument.keyFileMembers.contains(OctetText(member)))]
                }
                return value.secretNames(under: names)
            }
        case .array(let elements): elements.flatMap { $0.secretNames(under: names) }
        case .null, .bool, .number, .string: []
        }
    }
}

/// The secrets that a push may name (clients §2).
struct SecretRules {
    let inventory: SecretInventory
    /// Programmers of files; a file that is not here is operators'.
    let owners: [OctetText: String]
    /// The rights of the administrator who pushes.
    let rights: Rights

    /// The problems of the references that these changes make; earlier references stay editable.
    func problems(_ changes: [PropertyChange], from old: CatalogueDocument, to new: CatalogueDocument) -> [FieldProblem] {
        var problems: [FieldProblem] = []
        for key in Set(changes.map(\.key)) {
            let former = Set(texts: old.secretReferences(of: key).map(\.reference))
            for name in new.secretReferences(of: key) where !former.contains(OctetText(name.reference)) {
                if let problem = problem(name, new.owner(of: key)) {
                    problems.append(FieldProblem(field: "\(key): secret", message: problem))
                }
            }
        }
        return problems.sorted { ($0.field, $0.message) < ($1.field, $1.message) }
    }

    private func problem(_ name: SecretName, _ holder: CatalogueDocument.Owner) -> String? {
        // A service that does not list secrets has files alone.
        if name.isKeyFile || inventory.knowledge == .untold { return problem(file: name, holder) }
        guard inventory.knowledge != .away else {
            return "names the secret '\(name.reference)', and the service that keeps secrets does not answer; push again in a moment"
        }
        guard let known = inventory.secrets.first(where: { OctetText($0.reference) == OctetText(name.reference) }) else { return absence(of: name) }
        if known.isFile { return problem(file: name, holder) }
        // Operators' secrets are for what operators write; a programmer's are for that programmer's entries alone.
        switch holder {
        case .programmer(let id): return known.programmerID == id ? nil : absence(of: name)
        case .everyone, .operators: return known.programmerID.isEmpty ? nil : Self.foreign(name)
        }
    }

    /// A file that is operators' may be named for a programmer by an operator, and by nobody else.
    private func problem(file name: SecretName, _ holder: CatalogueDocument.Owner) -> String? {
        let owner = owners[OctetText(name.reference)] ?? ""
        switch holder {
        case .programmer(let id) where owner == id && !id.isEmpty: return nil
        case .programmer: return rights.isOperator ? (owner.isEmpty ? nil : Self.foreign(name)) : absence(of: name)
        case .everyone, .operators: return owner.isEmpty ? nil : Self.foreign(name)
        }
    }

    private static func foreign(_ name: SecretName) -> String {
        "names the secret '\(name.reference)', which is a programmer's own ('boxoffice secret owner' says whose a file is)"
    }

    /// The message for a secret that one may not name: it counts as absent.
    private func absence(of name: SecretName) -> String {
        name.isKeyFile
            ? "names the key file '\(name.reference)', which is not there; ask an operator for it"
            : "names the secret '\(name.reference)', which is not there; write it first (POST /admin/v1/secrets/\(name.reference))"
    }
}
