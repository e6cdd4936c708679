@testable import EntitlementClient
import Foundation

extension FakeServer {
    /// The answers of a server in order.
    func usual(_ call: Call) -> HTTPResponse {
        let now = clock.now
        var response = HTTPResponse(status: 404)
        change { state in response = Self.usual(call, &state, now, host: host) }
        return response
    }

    private static func usual(_ call: Call, _ state: inout State, _ now: Date, host: String) -> HTTPResponse {
        switch call.name {
        case .REG:
            state.registrations += 1
            return json(201, ["client_id": .string("client-\(state.registrations)"), "client_secret": "secret"])
        case .TOK:
            state.tokens += 1
            return json(201, ["access_token": .string("token-\(state.tokens)"), "expires_in": 21_600])
        case .CFG: return configuration(state)
        case .PRQ:
            let mvpd = call.request.url.lastPathComponent
            return state.degraded.contains(mvpd)
                ? json(400, ["status": 400, "message": "degraded"]) : HTTPResponse(status: 200, body: Data("PRQ".utf8))
        case .EXC:
            state.session = Person(mvpd: call.parameters["mvpd"] ?? "", expires: now.addingTimeInterval(3600))
            state.metadata["tokenSource"] = "Apple"
            return HTTPResponse(status: 204)
        case .AUN: return session(state, now)
        case .RGC:
            let times = (now.timeIntervalSince1970 * 1000, (now.timeIntervalSince1970 + state.codeLifetime) * 1000)
            return json(
                201,
                [
                    "code": "QK7M2XD", "generated": .integer(Int64(times.0)), "expires": .integer(Int64(times.1)),
                    "info": .object(["registrationURL": .string("https://\(host)/activate")]),
                ])
        case .LOG:
            let mvpd = call.parameters["mso_id"] ?? ""
            guard state.degraded.contains(mvpd) else {
                return HTTPResponse(status: 302, headers: [HTTPHeader("Location", "https://idp.example/sso")])
            }
            state.session = Person(mvpd: mvpd, userID: "guid-degraded", expires: now.addingTimeInterval(600))
            state.metadata = ["userID": "95cf93bcd183214a0000"]
            return HTTPResponse(status: 302, headers: [HTTPHeader("Location", call.parameters["redirect_url"] ?? "")])
        case .TMP:
            state.session = Person(mvpd: call.parameters["mso_id"] ?? "", userID: "temppass_1", expires: now.addingTimeInterval(600))
            return HTTPResponse(status: 204)
        default: return decisions(call, &state, now)
        }
    }

    private static func decisions(_ call: Call, _ state: inout State, _ now: Date) -> HTTPResponse {
        let resource = call.parameters["resource"] ?? ""
        switch call.name {
        case .AUZ, .MED:
            guard let session = state.session, now < session.expires else {
                return json(403, ["status": 403, "message": "User not authenticated"])
            }
            guard state.permits?.contains(resource) ?? true else {
                return json(403, ["status": 403, "message": "User not authorized", "details": "Not in your package"])
            }
            let expires = JSONValue.string("\(Int64(now.timeIntervalSince1970 * 1000) + 600_000)")
            guard call.name == .MED else { return json(200, ["resource": .string(resource), "expires": expires]) }
            return json(
                200,
                [
                    "serializedToken": .string("media-\(resource)"), "userId": .string(session.userID), "mvpdId": .string(session.mvpd),
                    "expires": expires,
                ])
        case .PRE:
            let ids = resource.split(separator: ",").map(String.init)
            guard ids.count <= 5 else { return json(403, ["status": 403, "code": "too_many_resources", "action": "configuration"]) }
            let permits = state.permits
            let list = ids.map { JSONValue.object(["id": .string($0), "authorized": .bool(permits?.contains($0) ?? true)]) }
            return json(200, ["resources": .array(list)])
        case .META:
            guard state.session != nil else { return HTTPResponse(status: 412) }
            return json(
                200, ["updated": 1, "encrypted": .array(state.encrypted.map { .string($0) }), "data": .object(state.metadata)])
        case .OUT, .OUTW:
            state.session = nil
            state.metadata = ["userID": "user-1"]
            return HTTPResponse(status: 204)
        case .redeem:
            state.session = Person(mvpd: "harbor", expires: now.addingTimeInterval(3600))
            return json(200, ["profiles": .object([:])])
        case .issue: return json(201, ["familyId": "family-1", "value": "asi1.value"])
        case .stored, .revoke: return json(200, [:])
        default: return HTTPResponse(status: 404)
        }
    }

    private static func session(_ state: State, _ now: Date) -> HTTPResponse {
        guard let session = state.session else { return HTTPResponse(status: 404) }
        guard now < session.expires else { return HTTPResponse(status: 410) }
        return json(
            200,
            [
                "mvpd": .string(session.mvpd), "userId": .string(session.userID), "requestor": "ACME1",
                "expires": .string("\(Int64(session.expires.timeIntervalSince1970 * 1000))"),
            ])
    }

    static func configuration(_ state: State) -> HTTPResponse {
        let providers = state.providers.map { provider in
            var record: [String: JSONValue] = ["id": .string(provider.id.rawValue), "displayName": .string(provider.displayName)]
            if let mapping = provider.platformMappingID {
                record["platformMappingId"] = .string(mapping)
                record["enablePlatformServices"] = .bool(provider.enablePlatformServices)
                record["displayInPlatformPicker"] = .bool(provider.displayInPlatformPicker)
                record["boardingStatus"] = provider.boardingStatus.map { .string($0.rawValue) }
                record["requiredMetadataFields"] = .array(provider.requiredMetadataFields.map { .string($0) })
            }
            if provider.isTempPass { record["isTempPass"] = true }
            if provider.requiresSafariViewController { record["requiresSafariViewController"] = true }
            return JSONValue.object(record)
        }
        let domains = state.domains.map { JSONValue.object(["name": .string($0), "mvpdInitiated": false]) }
        var response = json(
            200, ["requestor": .object(["id": "ACME1", "name": "Acme", "domains": .array(domains), "mvpds": .array(providers)])])
        if let date = state.date { response.headers.append(HTTPHeader("Date", Self.text(date))) }
        return response
    }

    private static func text(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }

    static func json(_ status: Int, _ object: [String: JSONValue]) -> HTTPResponse {
        let body = (try? JSONEncoder().encode(object)) ?? Data()
        return HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: body)
    }
}
