internal import Clocks

/// A call to another party that has to be made sooner or later, whatever happens to this process.
struct OutboxLetter: Hashable, Sendable {
    /// Letters of one lane go out strictly in order.
    let lane: String
    let kind: OutboxKind
    /// A family, or an Apple link; empty where neither is meant.
    let subject: String
    /// Ids, or sealed bytes: never a value in clear.
    let payload: [UInt8]
}

enum OutboxKind: String, Hashable, Sendable, CaseIterable {
    /// Another value for one on an Apple Account (apple §1.3).
    case update
    /// No value there any more.
    case delete
    /// The end of an authorization at Apple's identity server (apple §2.5).
    case revoke
    /// The end of authn tokens at `authentication`.
    case endSessions = "end_sessions"

    var isForStoreKit: Bool { self == .update || self == .delete }
}

extension OutboxLetter {
    static func lane(of family: FamilyID) -> String { "family:\(family)" }

    static func update(_ family: FamilyID, from old: TokenID, to new: TokenID) -> OutboxLetter {
        OutboxLetter(lane: lane(of: family), kind: .update, subject: family.text, payload: Array("\(old) \(new)".utf8))
    }

    static func delete(_ family: FamilyID, _ token: TokenID) -> OutboxLetter {
        OutboxLetter(lane: lane(of: family), kind: .delete, subject: family.text, payload: Array(token.text.utf8))
    }

    /// - Parameter payload: What the courier of these letters needs; sealed.
    static func revoke(_ link: AppleLinkID, _ payload: SealedBytes) -> OutboxLetter {
        OutboxLetter(lane: "link:\(link)", kind: .revoke, subject: link.text, payload: payload.bytes)
    }

    /// - Parameter sessions: At least one.
    static func endSessions(_ sessions: [StreamingSessionID]) -> OutboxLetter {
        let lane = "sessions:" + (sessions.first?.text ?? "")
        return OutboxLetter(lane: lane, kind: .endSessions, subject: "", payload: Array(sessions.map(\.text).joined(separator: " ").utf8))
    }

    /// The ids in the payload; none when it is sealed.
    var ids: [String] {
        kind == .revoke ? [] : String(decoding: payload, as: UTF8.self).split(separator: " ").map(String.init)
    }
}

/// A letter on its way.
struct OutboxItem: Hashable, Sendable {
    let id: Int64
    let letter: OutboxLetter
    let programmer: ProgrammerID
    var progress: DeliveryProgress
    let createdAt: Timestamp
    /// When it is tried next; of a letter that is under way the end of its lease.
    var nextAt: Timestamp
    /// `nil`: it still waits.
    let givenUpAt: Timestamp?
}

/// What was tried so far.
struct DeliveryProgress: Hashable, Sendable {
    /// Since when it is tried.
    var beganAt: Timestamp
    var attempts = 0
    /// How often the other side refused our credentials.
    var refusedCredentials = 0
    /// An earlier try may have had its effect without our knowing.
    var isUnclear = false
    /// Status of the last answer; 0: none.
    var lastStatus = 0
}
