internal import Clocks
internal import Faults

/// People whom programmers name by service tokens, their devices, and the codes by which further ones join (rest-v2 §2.14).
protocol ServiceTokenStore: Sendable {
    /// Ties a device to the person of a name, or renews its tie; a person who is not known yet is now.
    func tie(_ tie: ServiceTokenTie, to name: ServicePersonName) async throws(Fault) -> ServiceTokenDevice

    /// The same to the person whose code it is, which it uses up.
    /// - Returns: `nil` when the programmer has no such code, or it is over; nothing changed.
    func tie(_ tie: ServiceTokenTie, by code: String) async throws(Fault) -> ServiceTokenDevice?

    /// - Returns: `nil` when the device was taken out, or is remembered no more.
    func serviceDevice(_ tie: ServiceTieID) async throws(Fault) -> ServiceTokenDevice?

    /// Notes that a device got a token now.
    /// - Parameters:
    ///   - end: Of the tie.
    ///   - personEnd: Until when its person is remembered.
    /// - Returns: False when the tie is there no more.
    func renew(_ tie: ServiceTieID, at now: Timestamp, until end: Timestamp, personUntil personEnd: Timestamp) async throws(Fault) -> Bool

    /// The devices of a person, the one that was seen last first.
    func serviceDevices(of person: ServicePersonID, now: Timestamp) async throws(Fault) -> [ServiceTokenDevice]

    /// Takes devices of a person out; what was signed in on them is the devices' own from then on.
    /// - Parameter identity: The person's.
    func untie(_ devices: [ServiceTokenDevice], of identity: ServiceIdentity) async throws(Fault)

    /// Stores a code in place of the person's code before.
    /// - Returns: False when another person of the programmer has it; the code before is gone all the same.
    func add(_ link: ServiceLinkCode, now: Timestamp) async throws(Fault) -> Bool
}
