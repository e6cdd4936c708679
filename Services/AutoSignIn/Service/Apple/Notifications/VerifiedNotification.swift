internal import Clocks

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

    /// How far Apple's clock may be ahead, in seconds.
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
