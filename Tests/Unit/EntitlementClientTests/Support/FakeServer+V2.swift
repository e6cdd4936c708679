@testable import EntitlementClient
import Foundation

/// The answers of a server of rest-v2 in order, in the shapes that the reference documents.
extension FakeServer {
    static let degradedUser = "95cf93bcd183214a0000"

    func usualV2(_ call: Call) -> HTTPResponse {
        let now = clock.now
        var response = HTTPResponse(status: 404)
        change { state in response = Self.usualV2(call, &state, now) }
        return response
    }

    private static func usualV2(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        if call.name == .LOG { return login(&state, now) }
        guard call.request.header("Authorization")?.hasPrefix("Bearer ") == true else {
            return refusal(401, "invalid_access_token_client_application", "application-registration")
        }
        guard device(call) != nil else { return refusal(400, "invalid_header_device_identifier") }
        switch call.name {
        case .CFG: return configuration(state)
        case .RGC: return session(call, &state, now)
        case .PRQ: return partnerSession(call, &state, now)
        case .EXC: return partnerProfile(call, &state, now)
        case .AUN, .META: return profiles(call, &state, now)
        case .AUZ, .PRE: return decisions(call, state, now)
        case .OUT: return logout(call, &state)
        default: return HTTPResponse(status: 404)
        }
    }

    static func refusal(_ status: Int, _ code: String, _ action: String = "none") -> HTTPResponse { json(status, error(status, code, action)) }

    /// An enhanced error (§3).
    private static func error(_ status: Int, _ code: String, _ action: String, details: String? = nil) -> [String: JSONValue] {
        var error: [String: JSONValue] = [
            "action": .string(action), "status": .integer(Int64(status)), "code": .string(code), "message": "For developers.",
            "helpUrl": "https://tv.example/help", "trace": "0b6f5d1c-0000-4000-8000-000000000001",
        ]
        error["details"] = details.map { .string($0) }
        return error
    }

    private static func device(_ call: Call) -> String? {
        let parts = call.request.header("AP-Device-Identifier")?.split(separator: " ") ?? []
        guard parts.count == 2, parts[0] == "fingerprint", let id = Data(base64Encoded: String(parts[1])), !id.isEmpty else { return nil }
        return String(decoding: id, as: UTF8.self)
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }

    // MARK: - Sessions (§2.2, §2.5, §2.12)

    private static func session(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        let form = call.parameters
        guard let mvpd = state.providers.first(where: { $0.id.rawValue == form["mvpd"] }) else { return refusal(400, "invalid_parameter_mvpd") }
        let id = mvpd.id.rawValue
        state.login = form
        if let known = state.session, known.isRead, known.mvpd == id, known.type == "regular", now < known.expires {
            return authorize(id, "authenticated")
        }
        if mvpd.isTempPass { return authorize(id, "temporary") }
        if state.degraded.contains(id) { return authorize(id, "degraded") }
        let missing = ["domainName", "redirectUrl"].filter { form[$0, default: ""].isEmpty }
        var body = begun(missing.isEmpty ? "authenticate" : "resume", missing.isEmpty ? "interactive" : "direct", "none", state, now)
        body["mvpd"] = .string(id)
        body["url"] = .string(missing.isEmpty ? "/api/v2/authenticate/ACME1/QK7M2XD" : "/api/v2/ACME1/sessions/QK7M2XD")
        if !missing.isEmpty { body["missingParameters"] = .array(missing.map { .string($0) }) }
        return json(200, body)
    }

    private static func begun(_ action: String, _ type: String, _ reason: String, _ state: State, _ now: Date) -> [String: JSONValue] {
        [
            "actionName": .string(action), "actionType": .string(type), "reasonType": .string(reason), "code": "QK7M2XD",
            "sessionId": "1b614390-6610-4d14-9421-6565f6e75958", "serviceProvider": "ACME1", "notBefore": .string("\(milliseconds(now))"),
            "notAfter": .string("\(milliseconds(now.addingTimeInterval(state.codeLifetime)))"),
        ]
    }

    private static func authorize(_ mvpd: String, _ reason: String) -> HTTPResponse {
        json(
            200,
            [
                "actionName": "authorize", "actionType": "direct", "reasonType": .string(reason),
                "url": .string("/api/v2/ACME1/decisions/authorize/\(mvpd)"), "sessionId": "1b614390-6610-4d14-9421-6565f6e75958",
                "serviceProvider": "ACME1", "mvpd": .string(mvpd),
            ])
    }

    /// In a browser, without a bearer.
    private static func login(_ state: inout State, _ now: Date) -> HTTPResponse {
        let mvpd = state.login["mvpd"] ?? ""
        guard state.degraded.contains(mvpd) else {
            return HTTPResponse(status: 302, headers: [HTTPHeader("Location", "https://idp.example/sso")])
        }
        state.session = degraded(mvpd, now)
        return HTTPResponse(status: 302, headers: [HTTPHeader("Location", state.login["redirectUrl"] ?? "")])
    }

    private static func degraded(_ mvpd: String, _ now: Date) -> Person {
        Person(mvpd: mvpd, userID: degradedUser, expires: now.addingTimeInterval(60), type: "degraded")
    }

    private static func partnerSession(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        let form = call.parameters
        guard let status = frameworkStatus(call, now), let name = status.id else {
            var body = begun("resume", "direct", "pfs_fallback", state, now)
            body["url"] = "/api/v2/ACME1/sessions/QK7M2XD"
            body["missingParameters"] = .array(["mvpd"])
            return json(200, body)
        }
        guard let mvpd = state.providers.first(where: { $0.platformMappingID == name }) else { return refusal(400, "invalid_integration") }
        let id = mvpd.id.rawValue
        if let known = state.session, known.isRead, known.mvpd == id, now < known.expires { return authorize(id, "authenticated") }
        if state.degraded.contains(id) { return authorize(id, "degraded") }
        guard form["domainName"]?.isEmpty == false, form["redirectUrl"]?.isEmpty == false else {
            return json(200, begun("resume", "direct", "missing_parameters_fallback", state, now))
        }
        guard mvpd.enablePlatformServices, mvpd.boardingStatus == .supported else {
            var body = begun("authenticate", "interactive", "configuration_fallback", state, now)
            body["url"] = "/api/v2/authenticate/ACME1/QK7M2XD"
            return json(200, body)
        }
        return json(
            200,
            [
                "actionName": "partner_profile", "actionType": "direct", "reasonType": "none", "url": "/api/v2/ACME1/profiles/sso/Apple",
                "sessionId": "1b614390-6610-4d14-9421-6565f6e75958", "serviceProvider": "ACME1", "mvpd": .string(id),
                "authenticationRequest": .object([
                    "type": "saml", "request": "PRQ", "attributesNames": .array(mvpd.requiredMetadataFields.map { .string($0) }),
                ]),
            ])
    }

    struct FrameworkStatus {
        let id: String?
        let expires: Date?
    }

    /// - Returns: `nil` for none, or one without permission, or whose login has ended.
    static func frameworkStatus(_ call: Call, _ now: Date) -> FrameworkStatus? {
        struct Form: Decodable {
            struct Permission: Decodable { let accessStatus: String }
            struct Provider: Decodable {
                let id: String?
                let expirationDate: String?
            }
            let frameworkPermissionInfo: Permission
            let frameworkProviderInfo: Provider
        }
        guard let text = call.request.header("AP-Partner-Framework-Status"), let data = Data(base64Encoded: text),
            let form = try? JSONDecoder().decode(Form.self, from: data), form.frameworkPermissionInfo.accessStatus == "granted"
        else { return nil }
        let end = form.frameworkProviderInfo.expirationDate.flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0 / 1000) }
        if let end, end <= now { return nil }
        return FrameworkStatus(id: form.frameworkProviderInfo.id, expires: end)
    }

    // MARK: - Profiles (§2.6 to §2.8, §2.13)

    private static func profiles(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        if let session = state.session, now < session.expires, call.name == .AUN || call.subject == session.mvpd {
            guard session.type != "appleSSO" || frameworkStatus(call, now) != nil else { return json(200, ["profiles": .object([:])]) }
            state.session?.isRead = true
            return json(200, ["profiles": .object([session.mvpd: profile(session, state, now)])])
        }
        guard call.name == .META, let mvpd = state.providers.first(where: { $0.id.rawValue == call.subject }) else {
            return json(200, ["profiles": .object([:])])
        }
        if let code = state.usedUp[call.subject] { return refusal(403, code, "authentication") }
        if mvpd.isTempPass {
            guard !state.promotional.contains(call.subject) || identity(call) != nil else {
                return refusal(400, "invalid_header_identity_for_temporary_access")
            }
            let trial = Person(mvpd: call.subject, userID: "temppass_1", expires: now.addingTimeInterval(600), type: "temporary")
            return json(200, ["profiles": .object([call.subject: profile(trial, state, now)])])
        }
        guard state.degraded.contains(call.subject) else { return json(200, ["profiles": .object([:])]) }
        return json(200, ["profiles": .object([call.subject: profile(degraded(call.subject, now), state, now)])])
    }

    static func identity(_ call: Call) -> String? {
        call.request.header("AP-TempPass-Identity").flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func profile(_ person: Person, _ state: State, _ now: Date) -> JSONValue {
        var attributes: [String: JSONValue] = [:]
        var values = state.metadata
        values["userID"] = .string(person.userID)
        if person.type == "appleSSO" { values["tokenSource"] = "Apple" }
        if person.type == "temporary" { values["expiration_date"] = .integer(milliseconds(person.expires)) }
        for (name, value) in values {
            attributes[name] = .object(["value": value, "state": state.encrypted.contains(name) ? "enc" : "plain"])
        }
        let issuer =
            switch person.type {
            case "appleSSO": "Apple"
            case "degraded", "temporary": "Adobe"
            default: person.mvpd
            }
        return .object([
            "notBefore": .integer(milliseconds(now)), "notAfter": .integer(milliseconds(person.expires)), "issuer": .string(issuer),
            "type": .string(person.type), "attributes": .object(attributes),
        ])
    }

    private static func partnerProfile(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        guard call.parameters["SAMLResponse"]?.isEmpty == false else { return refusal(400, "invalid_parameter_saml_response") }
        guard let status = frameworkStatus(call, now) else { return refusal(400, "invalid_header_pfs_permission_access_not_present") }
        guard status.expires != nil else { return refusal(400, "invalid_header_pfs_provider_info_expired") }
        guard let mvpd = state.providers.first(where: { $0.platformMappingID == status.id })?.id.rawValue else {
            return refusal(400, "invalid_header_pfs_provider_id_not_determined")
        }
        var person = Person(mvpd: mvpd, expires: now.addingTimeInterval(3600), type: "appleSSO")
        person.isRead = true
        state.session = person
        return json(201, ["profiles": .object([mvpd: profile(person, state, now)])])
    }

    // MARK: - Decisions (§2.9, §2.10)

    private static func decisions(_ call: Call, _ state: State, _ now: Date) -> HTTPResponse {
        let resources = call.resources
        guard !resources.isEmpty, call.request.header("Content-Type") == "application/json" else {
            return refusal(400, "invalid_parameter_resources")
        }
        return json(200, ["decisions": .array(resources.map { .object(decision($0, call, state, now)) })])
    }

    private static func decision(_ resource: String, _ call: Call, _ state: State, _ now: Date) -> [String: JSONValue] {
        let mvpd = call.subject
        var decision: [String: JSONValue] = [
            "resource": .string(resource), "serviceProvider": "ACME1", "mvpd": .string(mvpd), "source": .string(source(mvpd, state)),
        ]
        if let refusal = refusal(resource, call, state, now) {
            decision["authorized"] = false
            decision["error"] = .object(refusal)
            return decision
        }
        decision["authorized"] = true
        guard call.name == .AUZ else { return decision }
        let (start, end) = (milliseconds(now), milliseconds(now.addingTimeInterval(600)))
        decision["notBefore"] = .integer(start)
        decision["notAfter"] = .integer(end)
        decision["token"] = .object([
            "notBefore": .integer(start), "notAfter": .integer(start + 420_000), "serializedToken": .string("media-\(resource)"),
        ])
        return decision
    }

    private static func source(_ mvpd: String, _ state: State) -> String {
        if state.providers.contains(where: { $0.id.rawValue == mvpd && $0.isTempPass }) { return "temppass" }
        return state.degraded.contains(mvpd) ? "degradation" : "mvpd"
    }

    /// Why not, at one resource.
    private static func refusal(_ resource: String, _ call: Call, _ state: State, _ now: Date) -> [String: JSONValue]? {
        guard call.resources.count <= (call.name == .AUZ ? 1 : 5) else { return error(403, "too_many_resources", "configuration") }
        if let code = state.usedUp[call.subject] { return error(403, code, "authentication") }
        if state.promotional.contains(call.subject), identity(call) == nil {
            return error(400, "invalid_header_identity_for_temporary_access", "none")
        }
        if source(call.subject, state) != "mvpd" { return nil }
        guard let session = state.session, session.mvpd == call.subject, session.type != "appleSSO" || frameworkStatus(call, now) != nil else {
            return error(403, "authenticated_profile_missing", "authentication")
        }
        guard now < session.expires else { return error(403, "authenticated_profile_expired", "authentication") }
        guard state.permits?.contains(resource) ?? true else {
            let code = call.name == .AUZ ? "authorization_denied_by_mvpd" : "preauthorization_denied_by_mvpd"
            return error(403, code, "none", details: "Not in your package")
        }
        return nil
    }

    // MARK: - Logout (§2.11)

    private static func logout(_ call: Call, _ state: inout State) -> HTTPResponse {
        guard let returnAddress = call.parameters["redirectUrl"], URL(string: returnAddress)?.scheme != nil else {
            return refusal(400, "invalid_parameter_redirect_url")
        }
        let session = state.session
        if session?.mvpd == call.subject { state.session = nil }
        let (name, type) =
            switch session?.mvpd == call.subject ? session?.type : nil {
            case nil: ("invalid", "none")
            case "appleSSO": ("partner_logout", "partner_interactive")
            case "regular": ("logout", "interactive")
            default: ("complete", "none")
            }
        var logout: [String: JSONValue] = ["mvpd": .string(call.subject), "actionName": .string(name), "actionType": .string(type)]
        if name == "logout" { logout["url"] = "https://idp.example/logout?RelayState=7" }
        return json(200, ["logouts": .object([call.subject: .object(logout)])])
    }
}
