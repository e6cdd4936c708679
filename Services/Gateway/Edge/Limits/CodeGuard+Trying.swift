internal import Contracts
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

    /// The same for a link code, of which a programmer's people have six digits each: beside the address the client pays for a wrong one.
    /// - Parameters:
    ///   - client: The client whose bearer holds.
    ///   - programmer: One of the catalogue.
    /// - Throws: `CodePause`, or what the work throws.
    func tryingLink<Value>(
        _ code: String, by client: VerifiedClient, of programmer: String, _ exchange: Exchange, _ work: () async throws -> Value
    ) async throws -> Value {
        // No registration code begins so.
        try await trying("link" + code, of: exchange) {
            switch links.begin(client.clientID, sharedAt: client.isShared ? exchange.facts.clientAddress : nil, of: programmer) {
            case .paused(let seconds): throw CodePause(seconds: seconds)
            case .allowed(let attempt):
                do {
                    let value = try await work()
                    links.end(attempt, isWrong: false)
                    return value
                } catch {
                    links.end(attempt, isWrong: (error as? Fault)?.code == .invalidRegistrationCode)
                    throw error
                }
            }
        }
    }
}
