package import CommandKit
package import Foundation
internal import TextEncodings

/// The bare calls of a streaming app on a TV (rest-v1 §4.1, §4.2, §4.5), for load and tests of the API: apps have ``EntitlementClient``.
package struct StreamingApp: Sendable {
    package struct Code: Sendable {
        package let code: String
        let expires: Date
        let registrationURL: String?
    }

    package struct MediaToken: Sendable {
        package let serialized: String
        package let mvpd: String
        let userID: String
    }

    package let exchange: HTTPExchange
    package let gateway: String
    package let requestor: String
    package let deviceID: String
    let hardware: SimulatedHardware
    package private(set) var accessToken = ""

    /// - Parameter accessToken: Empty: it has to register first.
    package init(
        exchange: HTTPExchange, gateway: String, requestor: String, deviceID: String, hardware: SimulatedHardware = .television,
        accessToken: String = ""
    ) {
        self.accessToken = accessToken
        self.exchange = exchange
        self.gateway = gateway
        self.requestor = requestor
        self.deviceID = deviceID
        self.hardware = hardware
    }

    /// The same app, with its access token, on another device.
    package init(_ app: StreamingApp, deviceID: String) {
        (exchange, gateway, requestor, hardware, accessToken) = (app.exchange, app.gateway, app.requestor, app.hardware, app.accessToken)
        self.deviceID = deviceID
    }

    /// Registers as a client and gets an access token (rest-v1 §3.1, §3.2).
    /// - Parameter statement: The software statement of the app's registration.
    package mutating func register(statement: String) async throws {
        let body = try JSONSerialization.data(withJSONObject: ["software_statement": statement])
        let client = try await object(
            "POST", "/o/client/register", headers: [("Content-Type", "application/json")], body: String(decoding: body, as: UTF8.self))
        let form = [
            ("client_id", client["client_id"] as? String ?? ""), ("client_secret", client["client_secret"] as? String ?? ""),
            ("grant_type", "client_credentials"),
        ]
        let token = try await object(
            "POST", "/o/client/token", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode(form))
        accessToken = token["access_token"] as? String ?? ""
    }

    /// rest-v1 §3.4.
    package func requestCode() async throws -> Code {
        let answer = try await object(
            "POST", "/reggie/v1/\(FormEncoding.encode(requestor))/regcode",
            headers: [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode([("deviceId", deviceID)]))
        guard let code = answer["code"] as? String, let expires = answer["expires"] as? Double else {
            throw CommandFailure("the gateway's answer holds no registration code")
        }
        let info = answer["info"] as? [String: Any]
        return Code(code: code, expires: Date(timeIntervalSince1970: expires / 1000), registrationURL: info?["registrationURL"] as? String)
    }

    /// True once the device has a session (rest-v1 §3.11).
    func isSignedIn() async throws -> Bool {
        let answer = try await send("GET", "/api/v1/tokens/authn?\(deviceSet())")
        switch answer.status {
        case 200: return true
        case 404, 410: return false
        default: throw failure(answer, "asking for the session")
        }
    }

    /// rest-v1 §3.14. Returns when the permission ends.
    @discardableResult
    package func authorize(_ resource: String) async throws -> Date {
        let answer = try await object("GET", "/api/v1/authorize?\(deviceSet([("resource", resource)]))")
        return Date(timeIntervalSince1970: (Double(answer["expires"] as? String ?? "") ?? 0) / 1000)
    }

    /// rest-v1 §3.18.
    package func mediaToken(_ resource: String) async throws -> MediaToken {
        let answer = try await object("GET", "/api/v1/mediatoken?\(deviceSet([("resource", resource)]))")
        return MediaToken(
            serialized: answer["serializedToken"] as? String ?? "", mvpd: answer["mvpdId"] as? String ?? "", userID: answer["userId"] as? String ?? ""
        )
    }

    /// The header that names the device in the newer APIs (rest-v2 §1.3).
    package static func deviceIdentifier(_ id: String) -> (String, String) {
        ("AP-Device-Identifier", "fingerprint \(Data(id.utf8).base64EncodedString())")
    }

    package var deviceIdentifier: (String, String) { Self.deviceIdentifier(deviceID) }

    func deviceSet(_ more: [(String, String)] = []) -> String {
        FormEncoding.encode([("requestor", requestor), ("deviceId", deviceID)] + more)
    }

    package func object(_ method: String, _ path: String, headers: [(String, String)] = [], body: String? = nil) async throws -> [String: Any] {
        let answer = try await send(method, path, headers: headers, body: body)
        guard (200..<300).contains(answer.status) else { throw failure(answer, "\(method) \(path.prefix { $0 != "?" })") }
        return answer.object
    }

    package func send(_ method: String, _ path: String, headers: [(String, String)] = [], body: String? = nil) async throws -> HTTPAnswer {
        var all = headers + [("Accept", "application/json"), ("X-Device-Info", hardware.information), ("User-Agent", "boxoffice-load")]
        if !accessToken.isEmpty { all.append(("Authorization", "Bearer \(accessToken)")) }
        return try await exchange.send(method, gateway + path, headers: all, body: body)
    }

    package func failure(_ answer: HTTPAnswer, _ what: String) -> CommandFailure {
        let object = answer.object
        let reason = object["details"] as? String ?? object["message"] as? String ?? object["error"] as? String
        return CommandFailure("\(what) was answered \(answer.status)\(reason.map { " (\($0))" } ?? "")")
    }
}

/// The kind of a simulated device.
package enum SimulatedHardware: Sendable {
    case television
    /// A device with platform single sign-on.
    case appleTV

    /// `deviceType` of the calls that ask for it.
    var deviceType: String { self == .appleTV ? "tvOS" : "Television" }

    /// `X-Device-Info`.
    package var information: String {
        let text =
            switch self {
            case .television:
                #"{"primaryHardwareType":"TV","model":"Simulated TV","manufacturer":"Boxoffice","osName":"Linux","osVersion":"1"}"#
            case .appleTV:
                #"{"primaryHardwareType":"SetTopBox","model":"Simulated Apple TV","manufacturer":"Apple","osName":"tvOS","osVersion":"26.0"}"#
            }
        return Data(text.utf8).base64EncodedString()
    }
}

/// Sign-in by the platform (rest-v1 §3.12, §3.13).
extension StreamingApp {
    /// The verification token for the framework, opaque.
    package func profileRequest(mvpd: String) async throws -> String {
        let path = "/api/v1/\(FormEncoding.encode(requestor))/profile-requests/\(FormEncoding.encode(mvpd))"
        let answer = try await send("GET", "\(path)?deviceType=\(hardware.deviceType)")
        guard answer.status == 200 else { throw failure(answer, "asking for a profile request") }
        return answer.text
    }

    /// - Parameter response: The MVPD's answer, Base64.
    package func exchange(_ response: String, mvpd: String) async throws {
        let form = [
            ("requestor", requestor), ("deviceId", deviceID), ("mvpd", mvpd), ("deviceType", hardware.deviceType), ("SAMLResponse", response),
        ]
        let answer = try await send(
            "POST", "/api/v1/tokens/authn", headers: [("Content-Type", "application/x-www-form-urlencoded")], body: FormEncoding.encode(form))
        guard answer.status == 204 else { throw failure(answer, "exchanging the platform's answer") }
    }
}

/// Automatic Sign-In (apple §4).
extension StreamingApp {
    /// A value for the Apple Account.
    package struct IssuedToken: Sendable {
        package let familyID: String
        package let value: String
    }

    /// Asks for a value, as after a prompt that the person approved.
    package func issueToken(bundleID: String) async throws -> IssuedToken {
        let answer = try await post("tokens", ["bundleId": bundleID, "environment": "sandbox", "contextAuthorization": "granted"])
        guard answer.status == 201, let family = answer.object["familyId"] as? String, let value = answer.object["value"] as? String else {
            throw failure(answer, "asking for a value")
        }
        return IssuedToken(familyID: family, value: value)
    }

    /// The value is on the account now.
    package func confirm(_ token: IssuedToken) async throws {
        let answer = try await post("tokens/\(FormEncoding.encode(token.familyID))/stored", ["outcome": "stored"])
        guard answer.status == 200 else { throw failure(answer, "confirming the value") }
    }

    private func post(_ call: String, _ object: [String: String]) async throws -> HTTPAnswer {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
        return try await send(
            "POST", "/auto-signin/v1/\(FormEncoding.encode(requestor))/\(call)",
            headers: [deviceIdentifier, ("Idempotency-Key", UUID().uuidString), ("Content-Type", "application/json")], body: body)
    }
}
