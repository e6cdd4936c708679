/// A decision point's answer was of no use for this reason; for the log.
struct DecisionPointError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
