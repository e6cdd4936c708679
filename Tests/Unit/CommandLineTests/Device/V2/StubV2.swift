import Clocks
import Cryptography
import Foundation
import Synchronization
import Tokens

/// REST v2 of one service provider, as its documents have it. Every answer has the documented members and no other rule than those that the flows
/// meet.
final class StubV2: Sendable {
    struct Login {
        var client: String
        var device: String
        var mvpd: String?
        var domainName: String?
        var redirectURL: String?
        var platform: String?
        var service: String?
        var owner: String?
    }

    struct Profile {
        let client: String
        let device: String
        let mvpd: String
        var type = "regular"
        var platform: String?
        var service: String?
        let end: Int64
    }

    struct State {
        var clients: [String: String] = [:]
        var logins: [String: Login] = [:]
        var profiles: [Profile] = []
        var rules: Set<String> = []
        /// Service tokens by link code.
        var links: [String: String] = [:]
        var tries: [String: Set<String>] = [:]
        var log: [String] = []
    }

    let state = Mutex(State())
    let issuer: MediaTokenIssuer
    let certificate: String

    static let sharedKey = Result { try RSAPrivateKey.generate() }

    init() throws {
        let key = try Self.sharedKey.get()
        certificate = try CertifiedKey.selfSigned(commonName: "media tokens", key: .rsa(key)).certificate.pem()
        issuer = MediaTokenIssuer(
            referenceKey: ReferenceSigningKey(key), jwsKeys: SigningKeys(SigningKeyRing(current: JoseSigningKey(try .generate()))),
            pool: SigningPool(threads: 1))
    }

    /// Method and path of each call.
    var log: [String] { state.withLock { $0.log } }

    func answer(_ request: StubRequest) async -> StubAnswer {
        state.withLock { $0.log.append("\(request.method) \(request.path)") }
        if request.path.hasPrefix("/api/v2/ACME1/decisions/") { return await decide(request) }
        return state.withLock { Self.answer(request, &$0) }
    }

    static func answer(_ request: StubRequest, _ state: inout State) -> StubAnswer {
        let parts = request.path.split(separator: "/").map(String.init)
        switch (request.method, parts.first) {
        case ("POST", "o"): return registration(request, parts, &state)
        case (_, "control"): return control(request, parts, &state)
        case (_, "platform"): return platform(request, parts)
        case (_, "login"): return login(request, &state)
        case (_, "logged-out"): return StubAnswer(status: 302, headers: [("Location", request.values["to"] ?? "")])
        case ("POST", "api") where parts == ["api", "ACME1", "serviceToken"]: return serviceToken(request, &state)
        case ("POST", "api") where parts == ["api", "ACME1", "link"]: return link(request, &state)
        case ("GET", "api") where parts.starts(with: ["api", "v2", "authenticate", "ACME1"]): return page(parts[4])
        case (_, "api") where parts.starts(with: ["api", "v2", "ACME1"]):
            guard let client = client(request, state), let device = request.header("ap-device-identifier")?.split(separator: " ").last else {
                return refuse(401, "invalid_access_token_client_application", "application-registration")
            }
            return v2(request, Array(parts.dropFirst(3)), client, String(device), &state)
        default: return StubAnswer(status: 404)
        }
    }

    // MARK: - Clients

    static func registration(_ request: StubRequest, _ parts: [String], _ state: inout State) -> StubAnswer {
        if parts.last == "register" {
            let statement = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: String])?["software_statement"] ?? ""
            let id = "client-\(state.clients.count)"
            state.clients[id] = statement
            return .json(201, ["client_id": id, "client_secret": "s", "grant_types": ["client_credentials"]])
        }
        return .json(201, ["access_token": "token-\(request.values["client_id"] ?? "")", "token_type": "bearer", "expires_in": 21600])
    }

    static func client(_ request: StubRequest, _ state: State) -> String? {
        request.header("authorization").map { String($0.dropFirst("Bearer token-".count)) }.flatMap { state.clients[$0] == nil ? nil : $0 }
    }

    // MARK: - REST v2

    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1000) }
    static var mvpds: [[String: Any]] {
        [
            [
                "id": "NorthCable", "displayName": "North Cable", "logoUrl": "https://north.example/logo.png", "isTempPass": false, "isProxy": false,
                "boardingStatus": "SUPPORTED", "platformMappingId": "north-cable", "enablePlatformServices": true,
            ],
            ["id": "Preview10", "displayName": "Free preview", "logoUrl": "", "isTempPass": true, "isProxy": false],
            ["id": "PromoVod", "displayName": "Three for free", "logoUrl": "", "isTempPass": true, "isProxy": false],
        ]
    }

    static func v2(_ request: StubRequest, _ parts: [String], _ client: String, _ device: String, _ state: inout State) -> StubAnswer {
        switch (request.method, parts.first, parts.count) {
        case ("GET", "configuration", 1):
            return .json(
                [
                    "device": "TV", "clientType": "TV", "os": "Linux", "time": now(),
                    "requestor": [
                        "id": "ACME1", "name": "Acme One", "domains": [["name": "acme.example", "mvpdInitiated": false]], "mvpds": mvpds,
                    ],
                ] as [String: Any])
        case ("POST", "sessions", 1): return create(request, client, device, &state)
        case ("POST", "sessions", 2): return resume(request, parts[1], &state)
        case ("GET", "sessions", 2): return read(parts[1], state)
        case ("POST", "sessions", 3): return partnerSession(request)
        case ("POST", "profiles", 3):
            guard request.values["SAMLResponse"] == Data("<answer/>".utf8).base64EncodedString(), request.header("ap-partner-framework-status") != nil
            else { return refuse(400, "invalid_parameter_saml_response") }
            state.profiles.append(Profile(client: client, device: device, mvpd: "NorthCable", type: "appleSSO", end: now() + 9_000_000))
            return .json(201, profiles(found(request, client, device, state)))
        case ("GET", "profiles", 1): return .json(profiles(found(request, client, device, state)))
        case ("GET", "profiles", 2): return profile(request, parts[1], client, device, state)
        case ("GET", "profiles", 3):
            guard let login = state.logins[parts[2]] else { return refuse(400, "invalid_authentication_session") }
            return .json(profiles(login.owner == nil ? [] : found(request, login.client, login.device, state)))
        case ("GET", "logout", 2): return logout(request, parts[1], client, device, &state)
        default: return StubAnswer(status: 404)
        }
    }

    static func create(_ request: StubRequest, _ client: String, _ device: String, _ state: inout State) -> StubAnswer {
        let mvpd = request.values["mvpd"]
        if let mvpd {
            let reason =
                found(request, client, device, state).contains { $0.mvpd == mvpd }
                ? "authenticated" : mvpd.hasPrefix("P") ? "temporary" : state.rules.contains("authnAll") ? "degraded" : nil
            if let reason {
                return .json([
                    "actionName": "authorize", "actionType": "direct", "reasonType": reason, "sessionId": UUID().uuidString,
                    "url": "/api/v2/ACME1/decisions/authorize/\(mvpd)", "serviceProvider": "ACME1", "mvpd": mvpd,
                ])
            }
        }
        let code = "C\(100_000 + state.logins.count)"
        state.logins[code] = Login(
            client: client, device: device, mvpd: mvpd, domainName: request.values["domainName"], redirectURL: request.values["redirectUrl"],
            platform: request.header("adobe-subject-token"), service: request.header("ad-service-token"))
        return session(code, state, incomplete: "resume")
    }

    static func resume(_ request: StubRequest, _ code: String, _ state: inout State) -> StubAnswer {
        guard state.logins[code] != nil else { return refuse(400, "invalid_authentication_session") }
        for (name, path) in [("mvpd", \Login.mvpd), ("domainName", \Login.domainName), ("redirectUrl", \Login.redirectURL)] {
            if let value = request.values[name] { state.logins[code]?[keyPath: path] = value }
        }
        return session(code, state, incomplete: "retry")
    }

    static func missing(_ login: Login) -> [String] {
        [("mvpd", login.mvpd), ("domainName", login.domainName), ("redirectUrl", login.redirectURL)].filter { $0.1 == nil }.map(\.0)
    }

    static func session(_ code: String, _ state: State, incomplete: String) -> StubAnswer {
        guard let login = state.logins[code] else { return refuse(400, "invalid_authentication_session") }
        let missing = missing(login)
        var answer: [String: Any] = [
            "actionName": missing.isEmpty ? "authenticate" : incomplete, "actionType": missing.isEmpty ? "interactive" : "direct",
            "reasonType": "none", "url": missing.isEmpty ? "/api/v2/authenticate/ACME1/\(code)" : "/api/v2/ACME1/sessions/\(code)", "code": code,
            "sessionId": UUID().uuidString, "serviceProvider": "ACME1", "notBefore": "\(now())", "notAfter": "\(now() + 1_800_000)",
        ]
        answer["mvpd"] = login.mvpd
        if !missing.isEmpty { answer["missingParameters"] = missing }
        return .json(answer)
    }

    static func read(_ code: String, _ state: State) -> StubAnswer {
        guard let login = state.logins[code] else { return refuse(400, "invalid_authentication_session") }
        var known = ["serviceProvider": "ACME1"]
        (known["mvpd"], known["domainName"], known["redirectUrl"]) = (login.mvpd, login.domainName, login.redirectURL)
        let version: [String: Any] = ["major": 1, "minor": 0, "patch": 0, "profile": ""]
        return .json(
            [
                "existingParameters": known, "missingParameters": missing(login), "device": ["type": "TV", "model": "x", "version": version],
                "notBefore": "\(now())", "notAfter": "\(now() + 1_800_000)",
            ] as [String: Any])
    }

    static func partnerSession(_ request: StubRequest) -> StubAnswer {
        let asked =
            #"<AuthnRequest ID="_1" AssertionConsumerServiceURL="https://sp.example/acs"><Issuer>https://saml.sp.example</Issuer></AuthnRequest>"#
        return .json(
            [
                "actionName": "partner_profile", "actionType": "direct", "reasonType": "none", "url": "/api/v2/ACME1/profiles/sso/Apple",
                "sessionId": UUID().uuidString, "serviceProvider": "ACME1", "mvpd": "NorthCable",
                "authenticationRequest": [
                    "type": "saml", "request": Data(asked.utf8).base64EncodedString(), "attributesNames": ["userID", "householdID"],
                ] as [String: Any],
            ] as [String: Any])
    }

    // MARK: - Profiles

    static func found(_ request: StubRequest, _ client: String, _ device: String, _ state: State) -> [Profile] {
        let (platform, service) = (request.header("adobe-subject-token"), request.header("ad-service-token"))
        let own = state.profiles.filter { $0.client == client && $0.device == device }
        let isPartner = request.header("ap-partner-framework-status") != nil
        let shared = state.profiles.compactMap { profile -> Profile? in
            var copy = profile
            if let platform, profile.platform == platform {
                copy.type = "platformSSO"
            } else if let service, profile.service == service {
                copy.type = "serviceTokenSSO"
            } else {
                return nil
            }
            return copy
        }
        let visible = own.filter { $0.type != "appleSSO" || isPartner }
        return visible + shared.filter { profile in !visible.contains { $0.mvpd == profile.mvpd } }
    }

    static func profiles(_ found: [Profile]) -> [String: Any] {
        let pairs = found.map { profile in
            (
                profile.mvpd,
                [
                    "notBefore": now(), "notAfter": profile.end, "issuer": profile.type == "appleSSO" ? "Apple" : profile.mvpd, "type": profile.type,
                    "attributes": [
                        "userID": ["value": "u-4471", "state": "plain"], "channelID": ["value": ["c1", "c2"], "state": "plain"],
                        "maxRating": ["value": ["MPAA": "PG"], "state": "plain"], "zip": ["state": "enc", "error": ["code": "x"]],
                    ] as [String: Any],
                ] as [String: Any]
            )
        }
        return ["profiles": Dictionary(pairs) { first, _ in first }]
    }

    static func profile(_ request: StubRequest, _ mvpd: String, _ client: String, _ device: String, _ state: State) -> StubAnswer {
        let own = found(request, client, device, state).filter { $0.mvpd == mvpd }
        if !own.isEmpty { return .json(profiles(own)) }
        var attributes: [String: Any]
        let type: String
        if mvpd == "NorthCable", state.rules.contains("authnAll") {
            (type, attributes) = ("degraded", ["userID": ["value": "95cf93bcd183214a00", "state": "plain"]])
        } else if mvpd.hasPrefix("P") {
            type = "temporary"
            attributes = ["userID": ["value": "temppass_1", "state": "plain"], "expiration_date": ["value": now() + 600_000, "state": "plain"]]
            if mvpd == "PromoVod" {
                attributes["remaining_resources"] = ["value": 2, "state": "plain"]
                attributes["used_assets"] = ["value": ["ACME1-NEWS"], "state": "plain"]
            }
        } else {
            return .json(["profiles": [String: Any]()])
        }
        return .json([
            "profiles": [
                mvpd: ["notBefore": now(), "notAfter": now() + 60_000, "issuer": "Adobe", "type": type, "attributes": attributes] as [String: Any]
            ]
        ])
    }

    static func logout(_ request: StubRequest, _ mvpd: String, _ client: String, _ device: String, _ state: inout State) -> StubAnswer {
        guard let to = request.values["redirectUrl"] else { return refuse(400, "invalid_parameter_redirect_url") }
        let (platform, service) = (request.header("adobe-subject-token"), request.header("ad-service-token"))
        let removed = state.profiles.filter {
            $0.mvpd == mvpd
                && ($0.client == client && $0.device == device || platform != nil && $0.platform == platform
                    || service != nil && $0.service == service)
        }
        state.profiles.removeAll { profile in
            removed.contains { $0.client == profile.client && $0.device == profile.device && $0.mvpd == profile.mvpd }
        }
        var answer = ["mvpd": mvpd]
        if removed.contains(where: { $0.type == "appleSSO" }) {
            (answer["actionName"], answer["actionType"]) = ("partner_logout", "partner_interactive")
        } else if state.rules.contains("authnAll") {
            (answer["actionName"], answer["actionType"]) = ("complete", "none")
        } else if removed.isEmpty {
            (answer["actionName"], answer["actionType"]) = ("invalid", "none")
        } else {
            (answer["actionName"], answer["actionType"]) = ("logout", "interactive")
            answer["url"] =
                "http://\(request.header("host") ?? "")/logged-out?to=\(to.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        return .json(["logouts": [mvpd: answer]])
    }

    // MARK: - What stands around it

    static func page(_ code: String) -> StubAnswer {
        StubAnswer(
            headers: [("Content-Type", "text/html")],
            body: #"<form method="post" action="/login?code=\#(code)"><input name="username"><input name="password"></form>"#)
    }

    static func login(_ request: StubRequest, _ state: inout State) -> StubAnswer {
        guard let code = request.values["code"], let login = state.logins[code], let mvpd = login.mvpd, let to = login.redirectURL else {
            return StubAnswer(status: 400)
        }
        state.logins[code]?.owner = request.values["username"]
        state.profiles.append(
            Profile(
                client: login.client, device: login.device, mvpd: mvpd, platform: login.platform, service: login.service, end: now() + 9_000_000))
        return StubAnswer(status: 302, headers: [("Location", to)])
    }

    static func link(_ request: StubRequest, _ state: inout State) -> StubAnswer {
        let code = "40291\(state.links.count)"
        state.links[code] = request.header("ad-service-token")
        return .json(201, ["status": "CREATED", "code": code, "link": code, "notBefore": now(), "notAfter": now() + 1_800_000] as [String: Any])
    }

    static func serviceToken(_ request: StubRequest, _ state: inout State) -> StubAnswer {
        let linked = request.header("x-sso-link").flatMap { state.links.removeValue(forKey: $0) }
        guard let token = request.header("x-sso-id").map({ "service-\($0)" }) ?? linked else {
            return .json(400, ["status": "BAD_REQUEST", "error": failure(400, "header_missing", "check_headers")] as [String: Any])
        }
        return .json(
            201, ["status": "CREATED", "serviceToken": token, "jws": token, "notBefore": now(), "notAfter": now() + 3_600_000] as [String: Any])
    }

    static func platform(_ request: StubRequest, _ parts: [String]) -> StubAnswer {
        switch parts.last {
        case "identity-token": .json(["token": "platform-token"])
        case "metadata": .json(["samlAttributeQueryResponse": "<answer/>"])
        default: StubAnswer(status: 204)
        }
    }

    static func control(_ request: StubRequest, _ parts: [String], _ state: inout State) -> StubAnswer {
        let office = request.header("authorization").map { String($0.dropFirst("Bearer token-".count)) }
        guard office.flatMap({ state.clients[$0] }) == "office", parts.starts(with: ["control", "v3", "degradation", "acme"]) else {
            return .json(403, ["error": "insufficient_scope"])
        }
        if request.method == "DELETE" {
            state.rules.remove(parts[4])
            return StubAnswer(status: 204)
        }
        state.rules.insert(parts[4])
        return .json(201, ["degradation-measure": [[String: Any]]()])
    }

    static func failure(_ status: Int, _ code: String, _ action: String) -> [String: Any] {
        [
            "action": action, "status": status, "code": code, "message": "m", "helpUrl": "https://help.example",
            "trace": "0b7c7c1e-6a4b-4a52-9d1b-000000000001",
        ]
    }

    static func refuse(_ status: Int, _ code: String, _ action: String = "none") -> StubAnswer {
        .json(status, failure(status, code, action))
    }
}
