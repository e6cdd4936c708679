internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Cryptography
internal import Faults
internal import FoundationEssentials
internal import Identifiers
internal import Storage

/// Links an Apple Account to the account of somebody who is signed in, and takes links away (apple §2.8).
struct AppleLinks: Sendable {
    let parts: AppleParts

    func link(_ request: LinkAppleRequest, _ context: CallContext) async throws(Fault) -> AppleLink {
        let caller = try await parts.base.callers.device(request.call, context)
        try caller.requirePerson()
        var asked = request
        asked.call = nil
        let place = try IdempotentPlace("LinkApple", key: request.idempotencyKey, caller: caller.names + [caller.requestor.text], request: asked)
        return try await parts.base.idempotency.once(place) { remembering throws(Fault) in
            let person = try await prove(request, caller)
            return try await attach(person, caller, remembering)
        }
    }

    private func prove(_ request: LinkAppleRequest, _ caller: DeviceCaller) async throws(Fault) -> ProvenPerson {
        guard request.ticket.isEmpty else {
            return try await parts.proven(AppleTicketSecret(request.ticket), holder: caller.holder, requestor: caller.requestor)
        }
        let app = try parts.base.parts.catalogue.current().requireNativeApp(request.clientID, of: caller.programmer)
        let claim = AppleClaim(
            identityToken: request.identityToken, code: request.code, nonce: request.nonce, name: PersonName(request.user))
        return ProvenPerson(authorization: try await parts.proofs.prove(claim, app: app, tie: .nonce(holder: caller.holder)))
    }

    private func attach(_ person: ProvenPerson, _ caller: DeviceCaller, _ remembering: Remembering) async throws(Fault) -> AppleLink {
        let now = parts.now()
        let (newAccount, newLink) = (AccountID(parts.newID()), AppleLinkID(parts.newID()))
        return try await parts.store.change { [parts] database, touched in
            let account = try Self.account(of: caller, new: newAccount, in: database, &touched, now: now)
            let link = try database.appleLink(team: person.authorization.team, subject: person.authorization.subject)
            // Rule 6: a person has one account, an account has one person of a team.
            if let link {
                guard link.account == account.id else { throw AppleLinking.conflict }
            } else {
                guard try database.isFree(account.id, team: person.authorization.team) else { throw AppleLinking.conflict }
            }
            if let ticket = person.ticket { try database.take(ticket.secret, holder: caller.holder, now: now) }
            let record = try parts.linking.authorize(
                person.authorization, link, id: newLink, account: account, in: database, &touched, now: now)
            let answer = AppleLink(record)
            try remembering.keep(answer, in: database)
            return answer
        }
    }

    /// The caller's; a new one for a person at an MVPD who has none yet.
    private static func account(
        of caller: DeviceCaller, new: AccountID, in database: Database, _ touched: inout Touched, now: Timestamp
    ) throws -> AccountRecord {
        var id = caller.account
        if id == nil, let login = caller.personLogin { id = try database.accountID(of: login, programmer: caller.programmer) }
        if let id, let account = try database.account(id) {
            try account.requireUsable()
            return account
        }
        let account = AccountRecord(id: new, programmer: caller.programmer, createdAt: now, logins: caller.personLogin.map { [$0] } ?? [])
        try database.insert(account)
        touched.accounts.insert(account.id)
        return account
    }

    func unlink(_ request: UnlinkAppleRequest, _ context: CallContext) async throws(Fault) -> UnlinkAppleResponse {
        let caller = try await parts.base.callers.any(request.caller, context)
        try caller.requirePerson()
        var asked = request
        asked.caller = nil
        let place = try IdempotentPlace("UnlinkApple", key: request.idempotencyKey, caller: caller.names, request: asked)
        return try await parts.base.idempotency.once(place) { remembering throws(Fault) in
            let now = parts.now()
            try await parts.store.change { database, touched in
                let link = try Self.find(AppleLinkID(request.linkID), caller, in: database)
                guard let account = try database.account(link.account) else { throw Self.unknown }
                // Rule 7: the person would be locked out.
                guard try !account.logins.isEmpty || database.appleLinks(of: account.id).count > 1 else {
                    throw Fault(.lastMethod, "This is the account's only way in.")
                }
                try database.withdraw(link, &touched, now: now)
                try database.remove(link.id)
                try remembering.keep(UnlinkAppleResponse(), in: database)
            }
            parts.base.outbox.wake()
            return UnlinkAppleResponse()
        }
    }

    /// An empty id stands for the account's only link.
    private static func find(_ id: AppleLinkID, _ caller: CheckedCaller, in database: Database) throws -> AppleLinkRecord {
        if !id.text.isEmpty {
            guard let link = try database.appleLink(id), caller.mayReach(link.account, of: link.programmer) else { throw unknown }
            return link
        }
        let account: AccountID? =
            switch caller {
            case .device(let caller): caller.account
            case .web(let caller): caller.account
            case .backend: nil
            }
        guard let account else { throw unknown }
        let links = try database.appleLinks(of: account)
        guard let only = links.first, links.count == 1 else { throw unknown }
        return only
    }

    static var unknown: Fault { Fault(.notFound, "There is no such link.") }
}

/// A person whom Apple has proven, on the way to an account. Made of a verified token; a ticket keeps it sealed.
struct AppleAuthorization: Hashable, Sendable, Codable {
    let team: AppleTeamID
    /// The id of the group of apps that share the consent.
    let group: String
    let client: AppleClientID
    let subject: String
    let email: AppleEmail?
    let realUserStatus: RealUserStatus?
    let transferSubject: String?
    /// From the code, where one came.
    let refreshToken: AppleRefreshToken?
    /// On the first authorization only.
    let name: PersonName?

    init(_ token: VerifiedIdentityToken, app: AppleApp, refreshToken: AppleRefreshToken?, name: PersonName?) {
        team = app.teamID
        group = app.group.id
        client = app.client
        subject = token.subject
        email = token.email
        realUserStatus = token.realUserStatus
        transferSubject = token.transferSubject
        self.refreshToken = refreshToken
        self.name = name
    }
}

extension Identifier: Codable {
    init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// For what is sealed as a whole.
extension Secret: Codable {
    init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// The common parts of the operations of Sign in with Apple, beside the service's own base.
struct AppleParts: Sendable {
    let base: AutoSignInBase
    let apple: AppleIDClient
    let keys: AppleKeys
    let proofs: AppleProofs
    let tickets: AppleTickets
    let linking: AppleLinking
    let sessions: AppleSessionStart

    init(_ base: AutoSignInBase, _ apple: AppleIDClient) {
        let parts = base.parts
        self.base = base
        self.apple = apple
        keys = AppleKeys(apple: apple, store: parts.store, clock: parts.clock, logger: parts.logger)
        proofs = AppleProofs(keys: keys, apple: apple, store: parts.store, clock: parts.clock)
        tickets = AppleTickets(store: parts.store, seal: parts.keys.seal(for: .tickets), clock: parts.clock, random: parts.random)
        linking = AppleLinking(seal: parts.keys.seal(for: .appleTokens), random: parts.random)
        sessions = AppleSessionStart(logins: parts.logins, clock: parts.clock, random: parts.random)
    }

    var store: AutoSignInStore { base.parts.store }

    func now() -> Timestamp { base.parts.clock.now() }

    func newID() -> String { base.parts.random.uuid(madeAt: now()) }
}

extension AppleIDClient {
    init(_ parts: AutoSignInParts) {
        self.init(
            server: parts.settings.apple.identityURL, transport: parts.transport,
            secrets: AppleClientSecrets(keys: parts.appleKeys, clock: parts.clock), logger: parts.logger)
    }
}

extension DeviceCaller {
    /// The holder who may use the values given out to this app on this device.
    var holder: String { names.joined(separator: " ") }

    /// The person's own login at the MVPD; `nil`: none, or a session that was made for the device.
    var personLogin: TVLogin? {
        guard let login, streaming == nil, [.regular, .platform, .shared].contains(login.kind) else { return nil }
        return login.person
    }
}

extension AccountRecord {
    /// - Throws: `account_locked`.
    func requireUsable() throws(Fault) {
        guard !isLocked, closedAt == nil else { throw Fault(.accountLocked, "The account is locked.") }
    }
}

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
