internal import Contracts
internal import Faults

extension AppleEnvironment {
    /// True when it is one of the two that Apple has.
    var isKnown: Bool { self == .production || self == .sandbox }

    /// - Throws: `invalid_request`.
    func required() throws(Fault) -> AppleEnvironment {
        guard isKnown else { throw Fault(.invalidRequest, "Required 'environment' is not 'production' or 'sandbox'.") }
        return self
    }
}
