/// The checks that a message passed and the one that it failed: enough to explain a failure, without any value of the message.
public struct CheckTrace: Hashable, Sendable {
    /// One check and how it went.
    public struct Entry: Hashable, Sendable {
        public let check: Check
        public let passed: Bool
        /// The value that was checked, or its fault; plain words.
        public let note: String
    }

    /// In the order in which they were made. A check appears again for each signature and for a decrypted assertion.
    public private(set) var entries: [Entry] = []

    /// Room for the checks of an ordinary message.
    init() { entries.reserveCapacity(32) }

    mutating func pass(_ check: Check, _ note: String = "") {
        entries.append(Entry(check: check, passed: true, note: note))
    }

    /// Notes the failure and returns it, to be thrown.
    mutating func fail(_ check: Check, _ reason: RejectionReason, _ explanation: String, clock: OwnClock? = nil) -> SamlRejection {
        entries.append(Entry(check: check, passed: false, note: explanation))
        return SamlRejection(reason, explanation, clock: clock)
    }

    /// Passes the check, or throws the rejection.
    mutating func require(
        _ condition: Bool, _ check: Check, _ reason: RejectionReason, _ explanation: @autoclosure () -> String
    ) throws(SamlRejection) {
        guard condition else { throw fail(check, reason, explanation()) }
        pass(check)
    }
}
