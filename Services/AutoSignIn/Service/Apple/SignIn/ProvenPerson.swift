internal import Clocks
internal import Contracts
internal import Faults

/// A person whom Apple has proven, now or for the ticket at hand.
struct ProvenPerson: Sendable {
    let authorization: AppleAuthorization
    /// `nil`: just now.
    var ticket: AppleTickets.Issued?
}

extension AppleParts {
    /// - Throws: `ticket_invalid`; faults of the storage.
    func proven(_ secret: AppleTicketSecret, holder: String, requestor: RequestorID) async throws(Fault) -> ProvenPerson {
        let (content, issued) = try await tickets.open(secret, holder: holder)
        guard content.requestor == requestor.text else { throw AppleTickets.invalid }
        return ProvenPerson(authorization: content.authorization, ticket: issued)
    }

    /// The one at hand, which stays good, or a new one.
    func ticket(for person: ProvenPerson, _ content: @autoclosure () -> AppleTicketContent, holder: String) throws(Fault) -> AppleTickets.Issued {
        if let ticket = person.ticket { return ticket }
        return try tickets.make(content(), holder: holder)
    }
}

extension TicketIssued {
    init(_ question: AppleQuestion, _ ticket: AppleTickets.Issued) {
        self.init(
            code: question.rawValue, ticket: ticket.secret.text, expiresAtMilliseconds: UInt64(clamping: ticket.expiresAt.milliseconds))
    }
}
