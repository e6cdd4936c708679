/// Why a decision point's answer was of no use; for the log.
struct DecisionPointError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
