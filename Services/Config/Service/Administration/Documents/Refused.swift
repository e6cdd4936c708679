internal import CatalogueFiles
internal import Contracts
internal import Faults

/// Why a change is not made; travels as the cause of a fault, so that the transaction it arose in is undone.
struct Refused: Error, Sendable {
    let refusal: Refusal

    init(
        _ reason: RefusalReason, _ message: String, problems: [FieldProblem] = [], conflicts: [CatalogueChange] = [], references: [EntityKey] = []
    ) {
        refusal = Refusal(
            reason: reason, message: message, problems: problems, conflicts: conflicts, references: references.map(\.reference))
    }

    /// The refusal of an entry that is not as it must be.
    static func invalid(_ problems: [FieldProblem]) -> Refused {
        Refused(.invalid, problems.count == 1 ? "One thing is wrong." : "\(problems.count) things are wrong.", problems: problems)
    }

    static func invalid(_ field: String, _ message: String) -> Refused { invalid([FieldProblem(field: field, message: message)]) }

    var fault: Fault { Fault(.invalidRequest, refusal.message, cause: self) }
}

extension Fault {
    /// The refusal that the fault carries.
    var refusal: Refusal? { (cause as? Refused)?.refusal }
}
