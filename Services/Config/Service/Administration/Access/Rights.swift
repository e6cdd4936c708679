internal import CatalogueFiles
internal import Contracts
internal import Faults
internal import Storage

/// The rights of an administrator (dashboard §1).
struct Rights: Sendable {
    enum Action: Sendable, CaseIterable {
        case read
        /// Drafts and pushes.
        case edit
        case degrade
        case downloadStatement
        case resetTempPass
        case revokeStatement
        case revokeClient
        case support
        /// Calls to upstreams, and ends of our clients there.
        case upstream
        case verifyHistory
        /// The MVPDs that a proxy lists.
        case listProxied
        /// To export and erase everything about a person.
        case handlePersonalData
    }

    let administrator: Administrator

    var name: String { administrator.name }

    var isOperator: Bool { administrator.role == .operator }

    func allows(_ action: Action) -> Bool {
        if action == .handlePersonalData { return isOperator || administrator.rights.contains(AdministratorSettings.Right.personalData.rawValue) }
        return switch (administrator.role, action) {
        case (.operator, _), (.viewer, .read), (.editor, .read), (.editor, .edit), (.editor, .degrade), (.editor, .downloadStatement),
            (.editor, .resetTempPass), (.editor, .support), (.proxy, .listProxied):
            true
        default: false
        }
    }

    /// - Throws: `insufficient_role`.
    func require(_ action: Action) throws(Fault) {
        guard allows(action) else { throw .insufficientRole }
    }

    /// A proxy keeps its own list alone.
    func mayList(behind proxy: String) -> Bool { isOperator || !proxy.isEmpty && administrator.proxyMvpdID == proxy }

    /// True when the administrator may write entries of a section: an editor neither makes programmers nor touches what all programmers share.
    func mayWrite(_ section: CatalogueSection, isReplacement: Bool) -> Bool {
        switch section {
        case .requestors, .integrations, .applications: true
        case .programmers: isOperator || isReplacement
        case .mvpds, .platformIdentityIssuers, .serviceTokenIssuers, .upstreams: isOperator
        }
    }

    func sees(programmer: String) -> Bool { isOperator || administrator.programmerIDs.contains(programmer) }

    func sees(_ key: EntityKey, in document: CatalogueDocument) -> Bool {
        if isOperator { return true }
        return switch document.owner(of: key) {
        case .programmer(let id): sees(programmer: id)
        case .everyone: true
        case .operators: isOperator
        }
    }

    /// True for an entry of another programmer's, also for one that is not there where it could only be another programmer's.
    func isForeign(_ key: EntityKey, in document: CatalogueDocument) -> Bool {
        guard !isOperator, case .programmer(let id) = document.owner(of: key), !id.isEmpty else { return false }
        return !sees(programmer: id)
    }

    /// The part of a document that the administrator sees. An entry that comes from another programmer is new to them, and one that goes to another
    /// is gone.
    func visible(_ document: CatalogueDocument) -> CatalogueDocument {
        if isOperator { return document }
        let own = document.entries(.requestors).filter { sees(programmer: $0.tree["programmer"]?.text ?? "") }
        let requestors = Set(own.map { OctetText($0.key.id) })
        return document.filtered { key in key.section == .integrations ? requestors.contains(OctetText(key.requestor)) : sees(key, in: document) }
    }

    /// True for a record that touches a programmer of the administrator's, or what all share.
    func sees(record programmers: [String]) -> Bool {
        isOperator || programmers.contains { $0 == RecordScope.everyone || administrator.programmerIDs.contains($0) }
    }
}

extension Fault {
    static let insufficientRole = Fault(.insufficientRole, "The administrator's role does not allow this.")

    static func notFound(_ noun: String) -> Fault { Fault(.notFound, "There is no such \(noun).") }
}

/// The programmers that a version or an audit record concerns, as programmer ids in a column with a space between.
struct RecordScope {
    /// The condition in SQL, for the records that a reader may see.
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
