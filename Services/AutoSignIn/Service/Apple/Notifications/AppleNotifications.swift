internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Storage

/// The notifications that Apple sends of its own accord (apple §2.9).
struct AppleNotifications: Sendable {
    let parts: AppleParts
    let operations: AppleOperations

    /// Returns once the effect is on disk.
    /// - Throws: `apple_notification_invalid`; `apple_unavailable` when Apple's keys cannot be had; faults of the storage.
    func receive(_ message: AppleNotification) async throws(Fault) -> AppleNotificationResponse {
        let now = parts.now()
        let catalogue = try parts.base.parts.catalogue.current()
        guard let notification = try await verify(message.payload, now), let (programmer, app) = catalogue.ownedApp(notification.audience) else {
            // Nobody knows the sender: it is counted, and neither a row nor a line of the log is kept of it.
            parts.base.parts.metrics.refusedNotification()
            throw Fault(.appleNotificationInvalid, "The notification is not accepted.")
        }
        let hadEffect = try await parts.store.change { [operations] database, touched in
            guard try database.isNew(notification, team: app.teamID, now: now) else { return false }
            guard let link = try database.appleLink(team: app.teamID, subject: notification.subject), link.programmer == programmer else {
                return false
            }
            return try database.apply(notification, to: link, of: app, operations, &touched, now: now)
        }
        if case .unknown(let type) = notification.event {
            parts.base.parts.logger.notice("apple.notification_unknown", metadata: ["type": "\(type.prefix(64).filter { $0.isLetter || $0 == "-" })"])
        }
        parts.base.outbox.wake()
        return AppleNotificationResponse(hadEffect: hadEffect)
    }

    private func verify(_ payload: String, _ now: Timestamp) async throws(Fault) -> VerifiedNotification? {
        guard let token = try? UnverifiedIdentityToken(payload), let name = token.keyName else { return nil }
        var key = try await parts.keys.key(name)
        if key != nil, (try? token.requireSignature(by: key)) == nil, let newer = await parts.keys.newerKey(name) { key = newer }
        return VerifiedNotification(token, key: key, now: now)
    }
}

extension Database {
    /// Remembers the notification for 30 days.
    /// - Returns: False when it came before.
    fileprivate func isNew(_ notification: VerifiedNotification, team: AppleTeamID, now: Timestamp) throws -> Bool {
        try run(
            """
            INSERT INTO apple_notification (team, jti, type, received_at_ms, expires_at_ms) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (team, jti) DO NOTHING
            """, [team, notification.id, notification.type, now, now + VerifiedNotification.memory + .seconds(86_400)]) == 1
    }

    /// - Returns: True when anything changed.
    fileprivate func apply(
        _ notification: VerifiedNotification, to link: AppleLinkRecord, of app: AppleApp, _ operations: AppleOperations,
        _ touched: inout Touched, now: Timestamp
    ) throws -> Bool {
        switch notification.event {
        case .mail(let isAllowed): return try setMail(isAllowed, notification, link)
        case .consentRevoked:
            let consent = link.consents[app.group.id] ?? AppleConsent(authorizedAt: link.createdAt)
            guard consent.isAffected(byEventAt: notification.happenedAt) else { return false }
            try consentEnded(link, group: app.group, &touched, now: now)
            return true
        case .accountDeleted:
            guard AppleConsent(authorizedAt: link.authorizedAt).isAffected(byEventAt: notification.happenedAt) else { return false }
            try deleted(link, notification, operations, &touched, now: now)
            return true
        case .unknown: return false
        }
    }

    private func setMail(_ isAllowed: Bool, _ notification: VerifiedNotification, _ link: AppleLinkRecord) throws -> Bool {
        var link = link
        let mail = link.mail.after(isAllowed, at: notification.happenedAt)
        guard mail != link.mail else { return false }
        let hadEffect = mail.isAllowed != link.mail.isAllowed
        link.mail = mail
        try put(link)
        return hadEffect
    }

    /// The person has no Apple Account any more: without another way in, there is nobody left whose account it is.
    private func deleted(
        _ link: AppleLinkRecord, _ notification: VerifiedNotification, _ operations: AppleOperations, _ touched: inout Touched, now: Timestamp
    ) throws {
        var link = link
        link.mail = link.mail.after(false, at: notification.happenedAt)
        try consentEnded(link, group: nil, &touched, now: now)
        guard let account = try account(link.account), account.closedAt == nil, account.logins.isEmpty,
            try appleLinks(of: account.id).allSatisfy({ $0.id == link.id || $0.isRevoked })
        else { return }
        var erasure = PersonErasureCount()
        try erase(account, operations, &touched, &erasure, now: now)
        try insert(SecurityEventRecord(at: now, kind: .accountClosed, account: account.id))
    }
}

/// A notification of Apple's whose signature and claims were checked (apple §2.9). Only the check makes one.
struct VerifiedNotification: Sendable {
    enum Event: Hashable, Sendable {
        case mail(isAllowed: Bool)
        case consentRevoked
        case accountDeleted
        case unknown(String)
    }

    /// `jti`.
    let id: String
    let audience: AppleClientID
    let event: Event
    /// As Apple spells it; for the record.
    let type: String
    let subject: String
    let happenedAt: Timestamp

    /// Apple's clock may be ahead this far, in seconds.
    private static let clockTolerance: Int64 = 60
    /// Times above this are milliseconds (apple §2.9).
    private static let largestSeconds: Int64 = 100_000_000_000
    private static let longestID = 255
    /// Older ones cannot be told from repeats: no more is remembered.
    static let memory: Duration = .seconds(30 * 86_400)

    /// - Returns: `nil` when a check fails.
    init?(_ token: UnverifiedIdentityToken, key: AppleKey?, now: Timestamp) {
        guard (try? token.requireSignature(by: key)) != nil else { return nil }
        let claims = token.claims
        guard claims.string("iss") == IdentityTokenExpectation.issuer, let audience = claims.string("aud"),
            let id = claims.string("jti"), (1...Self.longestID).contains(id.utf8.count), Self.isTimely(claims, now),
            let events = Self.events(claims["events"]), let type = events.string("type"), let subject = events.string("sub"),
            VerifiedIdentityToken.isSubject(subject), let moment = events.instant("event_time"), moment >= 0
        else { return nil }
        self.id = id
        self.audience = AppleClientID(audience)
        self.type = String(type.prefix(64))
        self.subject = subject
        event = Self.event(type)
        happenedAt = moment > Self.largestSeconds ? Timestamp(milliseconds: moment) : Timestamp(seconds: moment)
    }

    /// `exp` is not in Apple's samples, though seen.
    private static func isTimely(_ claims: JSONMembers, _ now: Timestamp) -> Bool {
        guard let start = claims.instant("iat"), start <= now.seconds + clockTolerance, start > now.seconds - memory.components.seconds else {
            return false
        }
        guard claims["exp"] != nil else { return true }
        return claims.instant("exp").map { now.seconds < $0 } ?? false
    }

    /// An object, or the text of one.
    private static func events(_ value: JSONMembers.Value?) -> JSONMembers? {
        switch value {
        case .object(let members): members
        case .string(let text): JSONMembers(Array(text.utf8))
        default: nil
        }
    }

    private static func event(_ type: String) -> Event {
        switch type {
        case "email-disabled": .mail(isAllowed: false)
        case "email-enabled": .mail(isAllowed: true)
        case "consent-revoked": .consentRevoked
        case "account-deleted", "account-delete": .accountDeleted
        default: .unknown(type)
        }
    }
}
