internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Storage

/// A call to another party that has to be made sooner or later, whatever happens to this process.
struct OutboxLetter: Hashable, Sendable {
    /// Letters of one queue go out strictly in order.
    let partition: String
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
    static func partition(of family: FamilyID) -> String { "family:\(family)" }

    static func update(_ family: FamilyID, from old: TokenID, to new: TokenID) -> OutboxLetter {
        OutboxLetter(partition: partition(of: family), kind: .update, subject: family.text, payload: Array("\(old) \(new)".utf8))
    }

    static func delete(_ family: FamilyID, _ token: TokenID) -> OutboxLetter {
        OutboxLetter(partition: partition(of: family), kind: .delete, subject: family.text, payload: Array(token.text.utf8))
    }

    /// - Parameter payload: The sealed data that the courier of these letters needs.
    static func revoke(_ link: AppleLinkID, _ payload: SealedBytes) -> OutboxLetter {
        OutboxLetter(partition: "link:\(link)", kind: .revoke, subject: link.text, payload: payload.bytes)
    }

    /// - Parameter sessions: At least one.
    static func endSessions(_ sessions: [StreamingSessionID]) -> OutboxLetter {
        let partition = "sessions:" + (sessions.first?.text ?? "")
        return OutboxLetter(partition: partition, kind: .endSessions, subject: "", payload: Array(sessions.map(\.text).joined(separator: " ").utf8))
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
    /// It is tried next at this time; of a letter that is under way the end of its lease.
    var nextAt: Timestamp
    /// `nil`: it still waits.
    let givenUpAt: Timestamp?
}

/// The tries so far.
struct DeliveryProgress: Hashable, Sendable {
    /// Since when it is tried.
    var beganAt: Timestamp
    var attempts = 0
    /// The other side refused our credentials this often.
    var refusedCredentials = 0
    /// An earlier try may have had its effect without our knowing.
    var isUnclear = false
    /// Status of the last answer; 0: none.
    var lastStatus = 0
}

/// Takes letters of some kinds to where they belong.
protocol OutboxCourier: Sendable {
    /// Tries once. After refused credentials the item's progress says so: then new ones are made.
    func deliver(_ item: OutboxItem) async -> DeliveryOutcome
    /// The effects of a letter's end on our own state, in the commit that takes it out of the queue.
    func settle(_ item: OutboxItem, _ end: DeliveryEnd, in database: Database, _ touched: inout Touched, now: Timestamp) throws
    /// An operator sends a dead letter again: undoes what giving up did.
    /// - Returns: False when there is nothing left to send.
    func reopen(_ item: OutboxItem, in database: Database, _ touched: inout Touched, now: Timestamp) throws -> Bool
}

extension OutboxCourier {
    func settle(_ item: OutboxItem, _ end: DeliveryEnd, in database: Database, _ touched: inout Touched, now: Timestamp) throws {}

    func reopen(_ item: OutboxItem, in database: Database, _ touched: inout Touched, now: Timestamp) throws -> Bool { true }
}

/// A letter left the queue in one of these ways.
enum DeliveryEnd: Hashable, Sendable {
    case done
    /// The other side never had what was to be changed.
    case absent
    /// An earlier try, which seemed lost, must have worked.
    case assumed
    /// - Parameter isUnclear: A try may have had its effect all the same.
    case givenUp(isUnclear: Bool)
}

/// Tells `authentication` which authn tokens are over.
struct SessionCourier: OutboxCourier {
    let logins: any Logins

    func deliver(_ item: OutboxItem) async -> DeliveryOutcome {
        do {
            let context = CallContext(deadline: .now.advanced(by: .seconds(10)), idempotencyKey: "outbox-\(item.id)")
            _ = try await logins.endAutomaticSessions(EndAutomaticSessionsRequest(sessionIDs: item.letter.ids), context: context)
            return .accepted
        } catch {
            // To end what has ended changes nothing, so that it does not matter whether the try had its effect.
            return .busy(status: 0, retryAfter: (error as? Fault)?.retryAfter)
        }
    }
}
