internal import Clocks
internal import Synchronization

/// Which clients were noted as used within the last day, so that a client costs one write a day.
final class ClientUses: Sendable {
    private static let capacity = 65_536
    /// How exactly the last use is known.
    static let interval: Duration = .seconds(86_400)

    private let noted = Mutex<[ClientID: Timestamp]>([:])

    /// - Returns: True once a day for each client; more often when there are more of them than can be remembered.
    func isNews(_ client: ClientID, now: Timestamp) -> Bool {
        noted.withLock { noted in
            if let last = noted[client], now - last < Self.interval { return false }
            if noted.count >= Self.capacity {
                noted = noted.filter { now - $0.value < Self.interval }
                if noted.count >= Self.capacity { noted = [:] }
            }
            noted[client] = now
            return true
        }
    }
}
