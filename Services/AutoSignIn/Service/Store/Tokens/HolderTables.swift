internal import Storage

/// The tables that hold rows of people, as they are told.
enum HolderTables {
    /// Each table, and where the rows of these accounts and devices in it are.
    static func places(
        of accounts: [AccountID], _ devices: [DeviceID], _ database: Database
    ) throws -> [(ToldTable, [(condition: String, arguments: Arguments)])] {
        func at<Value: ColumnValue>(_ column: String, _ values: [Value]) -> [(condition: String, arguments: Arguments)] {
            values.map { ("\(column) = ?", [$0]) }
        }
        let families = try accounts.flatMap { try database.families(of: $0) }.map(\.id)
        let links = try accounts.flatMap { try database.appleLinks(of: $0) }.map(\.id)
        // Rows of a device in the person's own families are there already.
        let elsewhere = devices.map { device -> (condition: String, arguments: Arguments) in
            let known = families.map { _ in "AND family_id <> ?" }.joined(separator: " ")
            return ("device_id = ? \(known)", [device] + Arguments(families.map(\.stored)))
        }
        return [
            (account, at("id", accounts)), (login, at("account_id", accounts)), (family, at("id", families)), (version, at("family_id", families)),
            (redemption, at("family_id", families) + elsewhere), (session, at("account_id", accounts)), (event, at("account_id", accounts)),
            (webLink, at("account_id", accounts)), (webSession, at("account_id", accounts)), (link, at("id", links)),
            (consent, at("link_id", links)), (grant, at("link_id", links)), (transfer, at("account_id", accounts)),
        ]
    }

    private static let account = ToldTable(
        "account",
        [
            .text("id"), .text("programmer"), .number("created_at_ms"), .number("is_locked"), .number("closed_at_ms"), .text("given_name"),
            .text("family_name"), .text("email"), .number("is_email_verified"), .number("is_email_private"),
        ])
    private static let login = ToldTable(
        "account_login", [.text("programmer"), .text("mvpd"), .text("user_id"), .text("account_id"), .number("attached_at_ms")])
    private static let family = ToldTable(
        "family",
        [
            .text("id"), .text("account_id"), .text("programmer"), .text("bundle_id"), .number("environment"), .number("state"), .text("link_id"),
            .text("device_id"), .text("device_label"), .number("created_at_ms"), .number("last_used_at_ms"), .number("idle_at_ms"),
            .number("revoked_at_ms"), .text("reason"), .number("forget_at_ms"),
        ])
    private static let version = ToldTable(
        "token_version",
        [
            .text("id"), .text("family_id"), .number("number"), .digest("comparison"), .sealed("sealed"), .number("state"),
            .number("created_at_ms"), .number("activated_at_ms"), .number("rotate_at_ms"), .number("superseded_at_ms"), .number("forget_at_ms"),
        ])
    private static let redemption = ToldTable(
        "redemption",
        [
            .text("family_id"), .text("device_id"), .digest("address_hash"), .text("outcome"), .number("at_ms"), .number("expires_at_ms"),
        ])
    private static let session = ToldTable(
        "streaming_session",
        [
            .text("id"), .text("account_id"), .text("programmer"), .text("requestor"), .text("device_id"), .text("device_label"),
            .text("client_id"), .text("family_id"), .text("link_id"), .text("apple_client_id"), .text("scopes"), .number("has_tv_session"),
            .number("created_at_ms"), .number("last_used_at_ms"), .number("expires_at_ms"),
        ])
    private static let event = ToldTable(
        "security_event",
        [
            .text("kind"), .number("at_ms"), .text("family_id"), .text("account_id"), .text("requestor"), .number("expires_at_ms"),
            .number("number"),
        ])
    private static let webLink = ToldTable(
        "web_link", [.text("account_id"), .digest("handle"), .text("programmer"), .text("requestor"), .number("expires_at_ms")])
    private static let webSession = ToldTable(
        "web_session", [.text("account_id"), .digest("secret"), .text("programmer"), .text("requestor"), .number("expires_at_ms")])
    private static let link = ToldTable(
        "apple_link",
        [
            .text("id"), .text("programmer"), .text("team"), .text("subject"), .text("account_id"), .number("real_user_status"),
            .number("is_mail_allowed"), .number("mail_changed_at_ms"), .number("created_at_ms"), .number("authorized_at_ms"),
        ])
    private static let consent = ToldTable(
        "apple_consent", [.text("link_id"), .text("group_id"), .number("authorized_at_ms"), .number("revoked_at_ms")])
    private static let grant = ToldTable(
        "apple_grant",
        [
            .text("link_id"), .text("client_id"), .text("group_id"), .sealed("sealed"), .number("validated_at_ms"), .number("next_check_at_ms"),
            .number("unclear_since_ms"),
        ])
    private static let transfer = ToldTable(
        "apple_transfer", [.text("team"), .text("transfer_subject"), .text("programmer"), .text("account_id"), .number("accepted_at_ms")])
}
