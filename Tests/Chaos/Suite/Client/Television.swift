import Simulation
import Foundation
import TextEncodings

/// The calls of a streaming app on one device of `ACME1`.
struct Television: Sendable {
    static let requestor = "ACME1"
    static let resource = "ACME1-NEWS"

    let caller: Caller
    let gateway: String
    let deviceID: String
    let accessToken: String

    // MARK: Clients (rest-v1 §3.1, §3.2)

    static func register(_ caller: Caller, _ gateway: String, statement: String) async -> Outcome {
        await caller.send(
            .register, .POST, "\(gateway)/o/client/register", expecting: [201], headers: json, body: Self.object(["software_statement": statement])
        ) { $0.object["client_id"] is String && $0.object["client_secret"] is String ? nil : "no client in the answer" }
    }

    static func token(_ caller: Caller, _ gateway: String, _ client: AppClient) async -> Outcome {
        let form = [("client_id", client.id), ("client_secret", client.secret), ("grant_type", "client_credentials")]
        return await caller.send(
            .token, .POST, "\(gateway)/o/client/token", expecting: [201], headers: Self.form, body: FormEncoding.encode(form)
        ) { $0.object["access_token"] is String ? nil : "no access token in the answer" }
    }

    static func config(_ caller: Caller, _ gateway: String) async -> Outcome {
        await caller.send(.config, .GET, "\(gateway)/api/v1/config/\(requestor).json", expecting: [200]) {
            ($0.object["requestor"] as? [String: Any])?["id"] as? String == requestor ? nil : "the configuration of another requestor"
        }
    }

    // MARK: Registration codes (rest-v1 §3.4 to §3.6)

    func requestCode() async -> Outcome {
        await caller.send(
            .code, .POST, "\(gateway)/reggie/v1/\(Self.requestor)/regcode", expecting: [201], headers: headers + Self.form,
            body: FormEncoding.encode([("deviceId", deviceID), ("ttl", "36000")])
        ) { $0.object["code"] is String ? nil : "no code in the answer" }
    }

    func readCode(_ code: String, expecting: Set<Int> = [200]) async -> Outcome {
        await caller.send(.codeRead, .GET, address(of: code), expecting: expecting, headers: headers) { answer in
            guard answer.status == 200 else { return nil }
            let info = answer.object["info"] as? [String: Any]
            let device = (info?["deviceId"] as? String).flatMap { Data(base64Encoded: $0) }.map { String(decoding: $0, as: UTF8.self) }
            let isRight = answer.object["code"] as? String == code && device == deviceID
            return isRight ? nil : "code \(code) is answered with another record: \(answer.text.prefix(200))"
        }
    }

    func deleteCode(_ code: String) async -> Outcome {
        await caller.send(.codeDelete, .DELETE, address(of: code), expecting: [204], headers: headers)
    }

    private func address(of code: String) -> String { "\(gateway)/reggie/v1/\(Self.requestor)/regcode/\(FormEncoding.encode(code))" }

    // MARK: Sessions (rest-v1 §3.11, §3.20, §3.21)

    func session(expecting: Set<Int> = [200], mvpd: String? = nil) async -> Outcome {
        await caller.send(
            .session, .GET, "\(gateway)/api/v1/tokens/authn?\(device())", expecting: expecting, headers: headers
        ) { answer in
            guard answer.status == 200, let mvpd, answer.object["mvpd"] as? String != mvpd else { return nil }
            return "the session is one of another MVPD: \(answer.text.prefix(200))"
        }
    }

    func preview() async -> Outcome {
        let form = [("requestor_id", Self.requestor), ("deviceId", deviceID), ("mso_id", "Preview10"), ("domain_name", "acme.example")]
        return await caller.send(
            .preview, .POST, "\(gateway)/api/v1/authenticate/freepreview", expecting: [204], headers: headers + Self.form,
            body: FormEncoding.encode(form))
    }

    func logout() async -> Outcome {
        await caller.send(.logout, .DELETE, "\(gateway)/api/v1/logout?\(device())", expecting: [204], headers: headers)
    }

    // MARK: Permissions (rest-v1 §3.14, §3.15, §3.18)

    func authorize() async -> Outcome { await resourceCall(.authorize, "authorize") }

    func permission(expecting: Set<Int> = [200]) async -> Outcome { await resourceCall(.permission, "tokens/authz", expecting: expecting) }

    func mediaToken() async -> Outcome { await resourceCall(.media, "mediatoken") }

    private func resourceCall(_ operation: Operation, _ path: String, expecting: Set<Int> = [200]) async -> Outcome {
        await caller.send(
            operation, .GET, "\(gateway)/api/v1/\(path)?\(device([("resource", Self.resource)]))", expecting: expecting, headers: headers
        ) { answer in
            guard answer.status == 200 else { return nil }
            return answer.object["resource"] as? String == Self.resource ? nil : "the answer is about another resource: \(answer.text.prefix(200))"
        }
    }

    // MARK: Automatic Sign-In (apple §4)

    func issue() async -> Outcome {
        await automatic(
            .optIn, "tokens", ["bundleId": Self.bundle, "environment": "sandbox", "contextAuthorization": "granted"], expecting: [201]
        ) { $0.object["familyId"] is String && $0.object["value"] is String ? nil : "no value in the answer" }
    }

    func confirm(_ family: String) async -> Outcome {
        await automatic(.optInStored, "tokens/\(FormEncoding.encode(family))/stored", ["outcome": "stored"], expecting: [200])
    }

    func redeem(_ value: String, expecting: Set<Int> = [200]) async -> Outcome {
        await automatic(.redeem, "redeem", ["value": value, "bundleId": Self.bundle, "environment": "sandbox"], expecting: expecting)
    }

    func optOut(_ family: String) async -> Outcome {
        await automatic(.optOut, "tokens/revoke", ["familyId": family, "reason": "opt_out"], expecting: [200])
    }

    private func automatic(
        _ operation: Operation, _ path: String, _ object: [String: String], expecting: Set<Int>, check: (Answer) -> String? = { _ in nil }
    ) async -> Outcome {
        let identifier = "fingerprint \(Data(deviceID.utf8).base64EncodedString())"
        let more = [("AP-Device-Identifier", identifier), ("Idempotency-Key", UUID().uuidString), ("X-Forwarded-For", Self.anyAddress)]
        return await caller.send(
            operation, .POST, "\(gateway)/auto-signin/v1/\(Self.requestor)/\(path)", expecting: expecting, headers: headers + more + Self.json,
            body: Self.object(object), check: check)
    }

    // MARK: Parts of requests

    private static let bundle = "example.acme.tv"
    private static let json = [("Content-Type", "application/json"), ("Accept", "application/json")]
    private static let form = [("Content-Type", "application/x-www-form-urlencoded")]

    /// Limits by client address are no subject here: each call comes from somewhere else.
    private static var anyAddress: String { "203.\(Int.random(in: 0...255)).\(Int.random(in: 0...255)).\(Int.random(in: 1...254))" }

    private var headers: [(String, String)] {
        [("Accept", "application/json"), ("X-Device-Info", SimulatedHardware.appleTV.information), ("Authorization", "Bearer \(accessToken)")]
    }

    private func device(_ more: [(String, String)] = []) -> String {
        FormEncoding.encode([("requestor", Self.requestor), ("deviceId", deviceID)] + more)
    }

    static func object(_ members: [String: String]) -> String {
        (try? JSONSerialization.data(withJSONObject: members)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
