internal import Clocks
internal import Faults

/// Logins that other devices may be signed in from, and the sessions made so (apple §1.4).
protocol LoginStore: Sendable {
    /// Logins of these subscribers at the requestor that have not expired, and the sessions that the device has there, the newest first, also expired ones.
    func logins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])

    /// The same out of memory as far as possible: logins as they are, and the device's sessions only where memory has them.
    /// - Returns: `nil` when memory is not enough.
    func rememberedLogins(
        of subscribers: Set<Subscriber>, besides device: SessionKey, now: Timestamp
    ) async throws(Fault) -> (own: [SessionRecord], logins: [SessionRecord])?

    /// As `logins(of:besides:now:)`, for no device.
    func logins(of subscribers: Set<Subscriber>, at requestor: RequestorID, now: Timestamp) async throws(Fault) -> [SessionRecord]

    /// Stores the session in place of the newest one before.
    /// - Returns: False when the login is over, or the device has another newest session by now; nothing changed.
    func start(_ made: MadeSession, now: Timestamp) async throws(Fault) -> Bool

    /// Removes automatic sessions, and remembers the logout of each; ids of others are passed over.
    /// - Returns: How many had not expired.
    func endAutomatic(_ sessions: [SessionID], now: Timestamp) async throws(Fault) -> Int
}
