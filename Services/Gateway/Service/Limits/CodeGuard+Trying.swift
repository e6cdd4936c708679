internal import Faults

/// The address must wait before it may try a code again.
struct CodePause: Error {
    /// At least 1.
    let seconds: Int
}

extension CodeGuard {
    /// Does what looks a code up, unless the address must pause. Only a code that the service does not know costs anything, whatever the caller is told;
    /// other failures say nothing of the code.
    /// - Throws: `CodePause`, or what the work throws.
    func trying<Value>(_ code: String, of exchange: Exchange, _ work: () async throws -> Value) async throws -> Value {
        switch begin(code, of: exchange.facts.clientAddress) {
        case .paused(let seconds): throw CodePause(seconds: seconds)
        case .allowed(let attempt):
            do {
                let value = try await work()
                end(attempt, isWrong: false)
                return value
            } catch {
                end(attempt, isWrong: (error as? Fault)?.code == .invalidRegistrationCode)
                throw error
            }
        }
    }
}
