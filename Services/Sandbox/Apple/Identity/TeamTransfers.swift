internal import Clocks

/// Groups of apps that went from one team to another (apple §2.10).
struct TeamTransfers: Sendable {
    /// How long after the acceptance names can be exchanged.
    static let window = Duration.seconds(60 * 86_400)

    struct Transfer: Sendable, Equatable {
        let group: String
        let from: String
        let to: String
        let acceptedAt: Timestamp
    }

    private(set) var transfers: [Transfer] = []
    /// People by the transfer subjects that were told, with the team that receives.
    private(set) var people: [String: (account: String, target: String)] = [:]

    mutating func accept(_ transfer: Transfer) { transfers.append(transfer) }

    mutating func tell(_ subject: String, of account: String, to target: String) { people[subject] = (account, target) }

    /// The transfer that still counts for a group in its new team.
    func current(group: String, team: String, now: Timestamp) -> Transfer? {
        transfers.last { $0.group == group && $0.to == team && now < $0.acceptedAt + Self.window }
    }

    /// The user of a transfer subject, as long as the receiving team may ask for it.
    func person(_ subject: String, team: String, now: Timestamp) -> String? {
        guard let person = people[subject], person.target == team,
            transfers.contains(where: { $0.to == team && now < $0.acceptedAt + Self.window })
        else { return nil }
        return person.account
    }
}
