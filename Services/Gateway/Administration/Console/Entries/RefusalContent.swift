internal import Contracts

/// Why a change was not made, as the templates want it.
struct RefusalContent {
    let content: [String: Any]

    init(_ refusal: Refusal) {
        var content: [String: Any] = [
            "refusedText": refusal.message,
            "refusedProblems": refusal.problems.map { problem in problem.field.isEmpty ? problem.message : "\(problem.field): \(problem.message)" },
            "references": refusal.references.map { reference -> [String: Any] in
                let collection = ConsoleCollection.of(reference.kind)
                var link: [String: Any] = ["referenceText": "\(reference.kind.word) \(reference.id)"]
                if let collection { link["referenceAddress"] = collection.address(of: reference.id) }
                return link
            },
        ]
        content["confirmables"] = Self.confirmables(refusal.problems)
        if !refusal.conflicts.isEmpty { content["conflicts"] = ["changes": ChangeRows(refusal.conflicts).rows] }
        self.content = content
    }

    /// The certificates that may be taken nevertheless, for the form that was refused.
    static func confirmables(_ problems: [FieldProblem]) -> [[String: String]] {
        problems.filter { !$0.confirmableCertificate.isEmpty }.map {
            ["confirmableSha256": $0.confirmableCertificate, "confirmableField": $0.field]
        }
    }
}
