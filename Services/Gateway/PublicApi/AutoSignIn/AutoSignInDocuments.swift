internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The answers of Automatic Sign-In and Sign in with Apple, as documents.
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

/// Public error codes of Automatic Sign-In and Sign in with Apple with their actions and statuses (apple §2.2, §2.11, §4; rest-v2 §3).
enum AutoSignInErrors {
    /// The row of a fault's code; a code that these calls do not list becomes `internal_server_error`.
    static func row(for code: Fault.Code) -> ErrorTable.Row {
        if code.isTransient { return unavailable }
        return byCode[names[code] ?? code.rawValue] ?? internalError
    }

    /// The status is the first one of a row.
    static func status(_ row: ErrorTable.Row) -> HTTPResponse.Status { HTTPResponse.Status(code: row.statuses[0]) }

    static let invalidRequest = ErrorTable.Row(code: "invalid_request", action: "none", statuses: [400])
    static let methodNotAllowed = ErrorTable.Row(code: "method_not_allowed", action: "none", statuses: [405])
    static let notFound = ErrorTable.Row(code: "not_found", action: "none", statuses: [404])
    static let requestTimeout = ErrorTable.Row(code: "request_timeout", action: "retry", statuses: [408])
    static let requestTooLarge = ErrorTable.Row(code: "request_too_large", action: "none", statuses: [413])
    static let accountExists = ErrorTable.Row(code: "account_exists", action: "authentication", statuses: [409])
    static let confirmationRequired = ErrorTable.Row(code: "confirmation_required", action: "none", statuses: [409])
    private static let unavailable = ErrorTable.Row(code: "service_unavailable", action: "retry", statuses: [503])
    private static let internalError = ErrorTable.Row(code: "internal_server_error", action: "none", statuses: [500])

    static let rows: [ErrorTable.Row] = general + automaticSignIn + signInWithApple

    private static let general = [
        invalidRequest, notFound, methodNotAllowed, requestTimeout, requestTooLarge,
        ErrorTable.Row(code: "invalid_parameter_service_provider", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_header_device_identifier", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_header_device_info", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_integration", action: "none", statuses: [400]),
        ErrorTable.Row(code: "invalid_access_token_client_application", action: "application-registration", statuses: [401]),
        ErrorTable.Row(code: "invalid_access_token_service_provider", action: "application-registration", statuses: [401]),
        ErrorTable.Row(code: "authenticated_profile_missing", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "authenticated_profile_expired", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "authenticated_profile_invalidated", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "step_up_required", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "idempotency_key_reused", action: "none", statuses: [409]),
        ErrorTable.Row(code: "rate_limited", action: "retry", statuses: [429]),
        unavailable, internalError,
    ]

    private static let automaticSignIn = [
        ErrorTable.Row(code: "opt_in_required", action: "none", statuses: [403]),
        ErrorTable.Row(code: "session_not_fresh", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "subscription_required", action: "authentication", statuses: [403]),
        ErrorTable.Row(code: "too_many_families", action: "none", statuses: [409]),
        ErrorTable.Row(code: "family_unknown", action: "none", statuses: [404]),
        ErrorTable.Row(code: "session_unknown", action: "none", statuses: [404]),
        ErrorTable.Row(code: "token_invalid", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "token_revoked", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "token_replayed", action: "authentication", statuses: [401]),
        ErrorTable.Row(code: "account_locked", action: "none", statuses: [403]),
        ErrorTable.Row(code: "environment_mismatch", action: "none", statuses: [400]),
        ErrorTable.Row(code: "rotation_in_progress", action: "retry", statuses: [409]),
    ]

    private static let signInWithApple =
        [
            "apple_token_malformed", "apple_token_algorithm", "apple_key_unknown", "apple_token_signature", "apple_token_issuer",
            "apple_token_audience", "apple_token_expired", "apple_nonce_mismatch", "apple_token_subject", "apple_token_replayed",
            "apple_grant_invalid", "ticket_invalid",
        ].map { ErrorTable.Row(code: $0, action: "authentication", statuses: [401]) } + [
            ErrorTable.Row(code: "client_unknown", action: "configuration", statuses: [400]),
            accountExists, confirmationRequired,
            ErrorTable.Row(code: "link_conflict", action: "none", statuses: [409]),
            ErrorTable.Row(code: "last_method", action: "none", statuses: [409]),
            ErrorTable.Row(code: "apple_request_invalid", action: "none", statuses: [502]),
            ErrorTable.Row(code: "apple_unavailable", action: "retry", statuses: [503]),
            ErrorTable.Row(code: "apple_notification_invalid", action: "none", statuses: [400]),
            ErrorTable.Row(code: "state_invalid", action: "authentication", statuses: [400]),
            ErrorTable.Row(code: "transfer_window_closed", action: "none", statuses: [410]),
        ]

    private static let byCode = Dictionary(uniqueKeysWithValues: rows.map { ($0.code, $0) })

    /// The successor API has another name here (rest-v2 §6).
    private static let names: [Fault.Code: String] = [
        .accessDenied: "invalid_access_token_client_application", .invalidClient: "invalid_access_token_client_application",
        .insufficientScope: "invalid_access_token_service_provider", .invalidRequestor: "invalid_parameter_service_provider",
        .invalidDeviceID: "invalid_header_device_identifier", .invalidDeviceInformation: "invalid_header_device_info",
        .unknownIntegration: "invalid_integration", .authenticationSessionMissing: "authenticated_profile_missing",
        .authenticationSessionExpired: "authenticated_profile_expired", .authenticationSessionInvalidated: "authenticated_profile_invalidated",
        .tooManyRequests: "rate_limited", .invalidMessage: "invalid_request",
    ]
}
