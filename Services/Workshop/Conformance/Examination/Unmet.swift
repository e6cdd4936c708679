/// A requirement is not met.
struct Unmet: Error {
    /// The message that the contract requires.
    let expected: String
    /// The message that came instead.
    let came: String

    init(_ expected: String, came: String) {
        self.expected = expected
        self.came = came.isEmpty ? "nothing" : came
    }
}

/// A requirement cannot be tried here.
struct NotApplicable: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
