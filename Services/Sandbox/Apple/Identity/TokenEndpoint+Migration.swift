internal import Clocks

extension TokenEndpoint {
    private struct Sent: Encodable {
        let transferSubject: String

        private enum CodingKeys: String, CodingKey {
            case transferSubject = "transfer_sub"
        }
    }

    private struct Received: Encodable {
        let sub: String
        var email: String?
        var isPrivateEmail: Bool?

        private enum CodingKeys: String, CodingKey {
            case sub, email
            case isPrivateEmail = "is_private_email"
        }
    }

    /// The sending team asks for a person's transfer subject.
    static func sent(
        _ subject: String, to target: String, _ client: AppleClient, _ content: inout AppleMemory.Content
    ) throws -> AppleAnswer {
        let team = client.group.team
        guard target != team, content.directory.teams[target] != nil else { throw AppleRefusal(.invalidRequest, "target is no other team") }
        let accounts = Set(content.ledger.consents.keys.map(\.account)).union(content.users.keys)
        guard let account = accounts.first(where: { content.names.subject($0, team: team) == subject }) else {
            throw AppleRefusal(.invalidRequest, "nobody has this sub in the team")
        }
        let transferSubject = content.names.transferSubject(account, from: team, to: target)
        content.transfers.tell(transferSubject, of: account, to: target)
        return try .json(Sent(transferSubject: transferSubject), outcome: "sent", isKept: false)
    }

    /// The receiving team asks for the person of a transfer subject.
    static func received(_ subject: String, _ client: AppleClient, _ content: AppleMemory.Content, _ now: Timestamp) throws -> AppleAnswer {
        let team = client.group.team
        guard let account = content.transfers.person(subject, team: team, now: now) else {
            throw AppleRefusal(.invalidRequest, "transfer_sub is unknown or its time is over")
        }
        var received = Received(sub: content.names.subject(account, team: team))
        switch content.user(account).mail {
        case .real: received.email = content.user(account).email
        case .relay: (received.email, received.isPrivateEmail) = (content.names.relayAddress(account, team: team), true)
        case .missing, .empty: break
        }
        return try .json(received, outcome: "received", isKept: false)
    }
}
