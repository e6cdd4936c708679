internal import Contracts
internal import GatewayEdge

/// What Automatic Sign-In and Sign in with Apple answer, as documents.
enum AutoSignInDocuments {
    static func issued(_ token: IssuedToken) -> Document {
        Document(
            "token",
            [
                .init("familyId", .text(token.familyID)), .init("accountId", .text(token.accountID)), .init("value", .text(token.value)),
                .init("expiresAt", .number(token.expiresAtMilliseconds)),
            ])
    }

    static func status(_ status: OptInStatus) -> Document {
        Document(
            "status",
            [
                .init("accountId", .text(status.accountID)), .init("families", .list(status.families.map { .object(family($0)) }, item: "family")),
                .init("appleLinks", .list(status.appleLinks.map { .object(link($0)) }, item: "appleLink")),
            ])
    }

    static func family(_ family: TokenFamily) -> [Document.Member] {
        [
            .init("familyId", .text(family.id)), .init("state", .text(word(family.state))), .init("bundleId", .text(family.bundleID)),
            .init("environment", .text(family.environment == .sandbox ? "sandbox" : "production")),
            .init("deviceLabel", .text(family.deviceLabel)), .init("createdAt", .number(family.createdAtMilliseconds)),
            .init("lastUsedAt", instant(family.lastUsedAtMilliseconds)), .init("revokedAt", instant(family.revokedAtMilliseconds)),
            .init("reason", .optional(family.revocationReason)),
            .init("devices", .list(family.devices.map { .object(device($0)) }, item: "device")),
        ]
    }

    static func link(_ link: AppleLink) -> [Document.Member] {
        [
            .init("linkId", .text(link.id)), .init("teamId", .text(link.teamID)), .init("accountId", .text(link.accountID)),
            .init("state", .text(link.state == .active ? "active" : "revoked")), .init("authorizedAt", .number(link.authorizedAtMilliseconds)),
            .init("mailAllowed", .flag(link.isMailAllowed)),
        ]
    }

    /// A session as its device gets it: the profile map of the successor API, and what is the session's own (apple §4).
    static func session(_ session: StreamingSession) -> [Document.Member] {
        [
            .init("profiles", .object(profiles(session.tv))), .init("accountId", .text(session.accountID)), .init("sessionId", .text(session.id)),
            .init("scopes", .list(session.scopes.map { .text($0) }, item: "scope")), .init("expiresAt", .number(session.expiresAtMilliseconds)),
        ]
    }

    /// rest-v2 §4.
    private static func profiles(_ tv: AutomaticSession?) -> [Document.Member] {
        guard let tv, let session = tv.session else { return [] }
        return [
            .init(
                session.mvpd,
                .object([
                    .init("notBefore", .number(session.createdAtMilliseconds)), .init("notAfter", .number(session.expiresAtMilliseconds)),
                    .init("issuer", .text(session.mvpd)), .init("type", .text("regular")), .init("attributes", .object(attributes(tv, session))),
                ]))
        ]
    }

    private static func attributes(_ tv: AutomaticSession, _ session: Session) -> [Document.Member] {
        let metadata = tv.metadata ?? UserMetadata()
        let told = metadata.data.compactMap { entry in
            entry.value.map { attribute(entry.key, MetadataEndpoint.value($0), isEncrypted: metadata.encrypted.contains(entry.key)) }
        }
        // The one that every profile has.
        return told.contains { $0.name == "userID" } ? told : [attribute("userID", .text(session.userID), isEncrypted: false)] + told
    }

    private static func attribute(_ name: String, _ value: Document.Value, isEncrypted: Bool) -> Document.Member {
        .init(name, .object([.init("value", value), .init("state", .text(isEncrypted ? "enc" : "plain"))]))
    }

    private static func device(_ device: SignedInDevice) -> [Document.Member] {
        [
            .init("sessionId", .text(device.sessionID)), .init("label", .text(device.label)), .init("requestor", .text(device.requestor)),
            .init("signedInAt", .number(device.signedInAtMilliseconds)), .init("expiresAt", .number(device.expiresAtMilliseconds)),
        ]
    }

    static func word(_ state: FamilyState) -> String {
        switch state {
        case .pending: "pending"
        case .active: "active"
        case .absent: "absent"
        case .revoked, .unknown, .unrecognized: "revoked"
        }
    }

    /// 0 stands for never.
    private static func instant(_ milliseconds: UInt64) -> Document.Value { milliseconds == 0 ? .null : .number(milliseconds) }
}
