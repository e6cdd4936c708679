internal import Faults

/// The address must wait before it may try a code again.
struct CodePause: Error {
    /// At least 1.
    let seconds: Int
}

extension CodeGuard {
    /// Does what needs a code, unless the address must pause. Only `invalid_registration_code` leaves a charge: other failures say nothing of the code.
    /// - Throws: `CodePause`, or what the work throws.
    func tryingCode<Value>(of exchange: Exchange, _ work: () async throws -> Value) async throws -> Value {
        switch begin(exchange.facts.clientAddress) {
        case .paused(let seconds): throw CodePause(seconds: seconds)
        case .allowed(let attempt):
            do {
                let value = try await work()
                takeBack(attempt)
                return value
            } catch {
                if (error as? Fault)?.code != .invalidRegistrationCode { takeBack(attempt) }
                throw error
            }
        }
    }
}
