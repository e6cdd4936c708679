internal import Clocks
internal import ContractRuntime
internal import Cryptography
internal import Faults
internal import FoundationEssentials
internal import Identifiers
internal import Storage

enum AppleTicketSubject {}
/// Stands for a proven person until a decision is made (apple §2.8).
typealias AppleTicketSecret = Secret<AppleTicketSubject>

/// The question that a person has to decide first.
enum AppleQuestion: String, Hashable, Sendable, Codable {
    /// An account with the same e-mail is there: they may prove that it is theirs and link it.
    case accountExists = "account_exists"
    /// A new account would be made.
    case confirmationRequired = "confirmation_required"
}

/// The sealed content of a ticket.
struct AppleTicketContent: Hashable, Sendable, Codable {
    let authorization: AppleAuthorization
    let requestor: String
    /// The browser of a web sign-in goes here at last; empty for devices.
    let returnURL: String
}

/// Tickets: for one use, by the client and device, or the browser, that got them.
struct AppleTickets: Sendable {
    static let lifetime: Duration = .seconds(600)

    let store: AutoSignInStore
    let seal: TokenSeal
    let clock: any WallClock
    let random: any RandomSource

    struct Issued: Sendable {
        let secret: AppleTicketSecret
        let holder: String
        let sealed: SealedBytes
        let expiresAt: Timestamp
    }

    func make(_ content: AppleTicketContent, holder: String) throws(Fault) -> Issued {
        let secret = AppleTicketSecret.random(from: random)
        do {
            let sealed = try seal.close(Array(try JSONEncoder().encode(content)), "ticket", of: holder)
            return Issued(secret: secret, holder: holder, sealed: sealed, expiresAt: clock.now() + Self.lifetime)
        } catch {
            throw .unexpected(error)
        }
    }

    /// Looks at a ticket without using it up.
    /// - Throws: `ticket_invalid`; faults of the storage.
    func open(_ secret: AppleTicketSecret, holder: String) async throws(Fault) -> (content: AppleTicketContent, ticket: Issued) {
        let now = clock.now()
        guard let found = try await store.appleTicket(secret.digest, holder: holder, now: now),
            let text = seal.open(found.sealed, "ticket", of: holder),
            let content = try? JSONDecoder().decode(AppleTicketContent.self, from: Data(text))
        else { throw Self.invalid }
        return (content, Issued(secret: secret, holder: holder, sealed: found.sealed, expiresAt: found.expiresAt))
    }

    static var invalid: Fault { Fault(.ticketInvalid, "The ticket is used, over, or of another device.") }
}

extension Database {
    func insert(_ ticket: AppleTickets.Issued) throws {
        try run(
            "INSERT INTO apple_ticket (digest, holder, sealed, expires_at_ms) VALUES (?, ?, ?, ?)",
            [ticket.secret.digest, ticket.holder, ticket.sealed, ticket.expiresAt])
    }

    /// Uses the ticket up.
    /// - Throws: `ticket_invalid`.
    func take(_ ticket: AppleTicketSecret, holder: String, now: Timestamp) throws {
        let taken = try run("DELETE FROM apple_ticket WHERE digest = ? AND holder = ? AND expires_at_ms > ?", [ticket.digest, holder, now])
        guard taken == 1 else { throw AppleTickets.invalid }
    }
}

extension AutoSignInStore {
    /// - Throws: Faults of the storage.
    func appleTicket(_ digest: Digest, holder: String, now: Timestamp) async throws(Fault) -> (sealed: SealedBytes, expiresAt: Timestamp)? {
        let live: Statement = "SELECT sealed, expires_at_ms FROM apple_ticket WHERE digest = ? AND holder = ? AND expires_at_ms > ?"
        return try await store.first(live, [digest, holder, now]) { ($0.next(), $0.next()) }
    }
}
