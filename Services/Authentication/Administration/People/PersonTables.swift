internal import AuthenticationCore
internal import Contracts
internal import Storage
internal import StrictJson

/// The tables that hold rows of people, as they are told.
struct PersonTables: Sendable {
    /// Opens what an upstream told with a session.
    let attributes: @Sendable ([UInt8], String) -> String?

    /// Each table, and where a person's rows in it are.
    func places(of person: FoundPerson, _ owned: OwnedRows) -> [(ExportedTable, [(condition: String, arguments: Arguments)])] {
        func at<Value: ColumnValue>(_ column: String, _ values: [Value]) -> [(condition: String, arguments: Arguments)] {
            values.map { ("\(column) = ?", [$0]) }
        }
        let (sessions, devices) = (person.sessions.map(\.id), person.devices)
        return [
            (Self.session, at("id", sessions)),
            (Self.providerToken, at("session_id", sessions)),
            (bridgeSession, at("session_id", sessions) + at("device_id", devices)),
            (Self.bridgePending, at("record_id", owned.records) + at("device_id", devices)),
            (Self.bridgeSlot, at("name", owned.slots)),
            (Self.bridgeLostSlot, at("device", devices.map(\.slotDigest))),
            (Self.registrationCode, at("id", owned.records)),
            (Self.pendingSignIn, at("record_id", owned.records)),
            (Self.logout, at("device_id", devices)),
            (
                Self.pendingLogout,
                person.sessions.filter { !$0.subject.name.value.isEmpty }.map { ("name_id = ? AND mvpd = ?", [$0.subject.name.value, $0.mvpd]) }
            ),
            (Self.trial, at("id", owned.trials)),
            (Self.trialDevice, at("device_id", devices)),
            (Self.trialUser, at("trial", owned.trials)),
            (Self.trialResource, at("trial", owned.trials)),
            (Self.servicePerson, at("id", owned.servicePeople)),
            (Self.serviceDevice, at("device_id", devices)),
            (Self.serviceLink, at("person", owned.servicePeople)),
        ]
    }

    private static let session = ExportedTable(
        "session",
        [
            .text("id"), .text("device_id"), .text("requestor"), .text("mvpd"), .text("record_id"), .text("app_id"), .text("device_user"),
            .text("client_id"), .text("user_id"), .text("upstream_user_id"), .text("name_id"), .text("name_format"), .text("name_qualifier"),
            .text("sp_name_qualifier"), .text("sp_provided_id"), .text("session_index"), .number("is_home_based"),
            .json("attributes") { bytes, _ in (try? ProviderSubject.attributes(column: bytes)).map(json) }, .number("created_at_ms"),
            .number("expires_at_ms"), .number("kind"), .text("rule"), .text("identity"), .text("trial"), .number("authenticated_at_ms"),
            .number("updated_at_ms"), device, .text("upstream"), .number("number"), .text("service_identity"), .text("household"),
        ])

    private static let providerToken = ExportedTable(
        "upstream_token",
        [
            .text("session_id"), .text("requestor"), .text("mvpd"), .sealed("refresh_token"), .sealed("access_token"),
            .number("access_expires_at_ms"), .number("expires_at_ms"), .number("refreshing_until_ms"), .sealed("identity_token"),
        ])

    private var bridgeSession: ExportedTable {
        ExportedTable(
            "bridge_session",
            [
                .text("session_id"), .text("device_id"), .text("requestor"), .text("mvpd"), .text("upstream"), .text("service_provider"),
                .text("their_mvpd"), .text("slot"), .text("kind"), .number("starts_at_ms"), .number("expires_at_ms"), .number("confirmed_at_ms"),
                .number("is_suspect"), .text("encrypted_names"), .json("attributes", attributes), Self.device, .text("user_agent"),
                .number("logout_ms"), .number("next_try_ms"), .number("tries"),
            ])
    }

    private static let bridgePending = ExportedTable(
        "bridge_pending",
        [
            .text("record_id"), .digest("handle"), .text("code"), .text("device_id"), .text("requestor"), .text("app_id"), .text("device_user"),
            .text("client_id"), device, .text("user_agent"), .text("mvpd"), .text("upstream"), .text("service_provider"), .text("their_mvpd"),
            .text("slot"), .sealed("upstream_code"), .text("redirect_url"), .number("is_own"), .number("started_at_ms"), .number("expires_at_ms"),
            .number("state"), .digest("browser_secret"),
        ])

    private static let bridgeSlot = ExportedTable(
        "bridge_slot",
        [
            .text("name"), .text("upstream"), .text("client_id"), .sealed("secret"), .text("scopes"), .sealed("bearer"), .number("bearer_end_ms"),
            .number("bearer_life_s"), .number("lease_until_ms"), .number("expires_at_ms"),
        ])

    private static let bridgeLostSlot = ExportedTable(
        "bridge_lost_slot",
        [
            .text("name"), .text("device"), .text("upstream"), .text("client_id"), .sealed("secret"), .text("scopes"), .number("lost_at_ms"),
            .number("expires_at_ms"),
        ])

    private static let registrationCode = ExportedTable(
        "registration_code",
        [
            .text("id"), .text("code"), .text("requestor"), .text("mvpd"), .number("generated_at_ms"), .number("expires_at_ms"), .text("device_id"),
            device, .text("user_agent"), .text("device_type"), .text("app_id"), .text("device_user"), .text("registration_url"), .text("client_id"),
            .number("is_used"), .text("identity"), .number("used_at_ms"), .number("api"), .text("domain_name"), .text("redirect_url"),
            .number("kept_until_ms"), .text("service_identity"), .sealed("platform_tokens"),
        ])

    private static let pendingSignIn = ExportedTable(
        "pending_sign_in",
        [
            .text("request_id"), .digest("relay_state"), .text("record_id"), .digest("browser_secret"), .text("code"), .text("requestor"),
            .text("mvpd"), .text("issuer_sent"), .text("redirect_url"), .number("started_at_ms"), .number("expires_at_ms"), .number("way"),
            .number("number"), .text("callback"), .text("callback_of"),
        ])

    private static let logout = ExportedTable(
        "logout", [.text("device_id"), .text("requestor"), .number("logged_out_at_ms"), .number("expires_at_ms")])

    private static let pendingLogout = ExportedTable(
        "pending_logout",
        [
            .text("name_id"), .digest("handle"), .text("request_id"), .text("requestor"), .text("mvpd"), .text("name_format"),
            .text("name_qualifier"), .text("sp_name_qualifier"), .text("sp_provided_id"), .text("session_index"), .text("redirect_url"),
            .number("expires_at_ms"), .sealed("hint"),
        ])

    private static let trial = ExportedTable(
        "trial", [.text("id"), .text("requestor"), .text("mvpd"), .number("started_at_ms"), .number("expires_at_ms")])
    private static let trialDevice = ExportedTable("trial_device", [.text("device_id"), .text("requestor"), .text("mvpd"), .text("trial")])
    private static let trialUser = ExportedTable("trial_user", [.text("user"), .text("requestor"), .text("mvpd"), .text("trial")])
    private static let trialResource = ExportedTable("trial_resource", [.text("trial"), .text("resource"), .number("used_at_ms"), .number("number")])
    private static let servicePerson = ExportedTable(
        "service_person", [.text("id"), .text("programmer"), .digest("name_digest"), .number("expires_at_ms")])
    private static let serviceDevice = ExportedTable(
        "service_device",
        [.text("tie"), .text("person"), .text("device_id"), device, .number("seen_at_ms"), .number("expires_at_ms")])
    private static let serviceLink = ExportedTable("service_link", [.text("programmer"), .text("code"), .text("person"), .number("expires_at_ms")])

    private static let device = ExportedTable.Column.json("device") { bytes, _ in
        (try? DeviceInformation(serialized: bytes)).map { device -> String in
            let members: [(String, String)] = [
                ("type", device.type), ("model", device.model), ("version", device.version), ("manufacturer", device.manufacturer),
                ("vendor", device.vendor), ("osName", device.osName), ("osFamily", device.osFamily), ("osVendor", device.osVendor),
                ("osVersion", device.osVersion), ("browserName", device.browserName), ("browserVendor", device.browserVendor),
                ("browserVersion", device.browserVersion), ("userAgent", device.userAgent), ("displayWidth", device.displayWidth),
                ("displayHeight", device.displayHeight), ("displayPpi", device.displayPpi), ("diagonalScreenSize", device.diagonalScreenSize),
                ("connectionIp", device.connectionIP), ("connectionPort", device.connectionPort), ("connectionType", device.connectionType),
                ("connectionSecure", device.connectionSecure),
            ]
            return JsonWriter.object { json in
                for (name, text) in members where !text.isEmpty {
                    json.name(name)
                    json.string(text)
                }
            }.text
        }
    }

    static func json(_ attributes: [UserAttribute]) -> String {
        JsonWriter.object { json in
            for attribute in attributes {
                json.name(attribute.key)
                json.beginArray()
                for value in attribute.values { json.string(value) }
                json.endArray()
            }
        }.text
    }
}
