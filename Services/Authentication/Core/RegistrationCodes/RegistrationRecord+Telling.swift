internal import Clocks
internal import Faults

/// What a code still tells, to whom and for how long (clients §1.14).
extension RegistrationRecord {
    /// Whoever looks on may have seen a code on a screen; only its maker goes on asking for it after that.
    enum Teller {
        /// The record itself.
        case record
        /// Whether somebody has signed in through the code.
        case session
    }

    /// How long after its use a code tells others of its session.
    static let told: Duration = .seconds(600)
    /// How long a code is remembered after its end: its maker's last polls are no guesses.
    static let remembrance: Duration = .seconds(3600)

    /// - Parameter caller: `nil` for a caller without an access token.
    func isMadeBy(_ caller: ClientID?) -> Bool { caller == clientID }

    /// - Throws: `invalid_registration_code` when the code is nothing to the caller; `registration_code_spent` when it was something.
    func requireTold(_ what: Teller, to caller: ClientID?, now: Timestamp) throws(Fault) {
        guard expiresAt > now else { throw isMadeBy(caller) ? RegistrationCodes.spentCode : RegistrationCodes.unknownCode }
        guard isUsed, !isMadeBy(caller) else { return }
        guard what == .session, let usedAt, now < usedAt + Self.told else { throw RegistrationCodes.spentCode }
    }
}
