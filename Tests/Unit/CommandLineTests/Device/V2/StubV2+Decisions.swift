import Clocks
import Cryptography
import Foundation
import Tokens

/// rest-v2 §2.9, §2.10.
extension StubV2 {
    func decide(_ request: StubRequest) async -> StubAnswer {
        let parts = request.path.split(separator: "/").map(String.init)
        let (kind, mvpd) = (parts[4], parts[5])
        let resources = (try? JSONSerialization.jsonObject(with: Data(request.body.utf8)) as? [String: [String]])?["resources"] ?? []
        guard request.header("content-type") == "application/json;charset=utf-8", !resources.isEmpty else {
            return Self.refuse(400, "invalid_parameter_resources")
        }
        let verdict = state.withLock { state -> (source: String, error: (Int, String, String)?) in
            guard let client = Self.client(request, state), let device = request.header("ap-device-identifier")?.split(separator: " ").last else {
                return ("mvpd", (401, "invalid_access_token_client_application", "application-registration"))
            }
            if state.rules.contains("authzNone") { return ("degradation", (403, "authorization_denied_by_degradation_rule", "none")) }
            if mvpd == "PromoVod", request.header("ap-temppass-identity") == nil {
                return ("temppass", (400, "invalid_header_identity_for_temporary_access", "none"))
            }
            if mvpd.hasPrefix("P") { return ("temppass", nil) }
            if state.rules.contains("authnAll") { return ("degradation", nil) }
            let isSignedIn = Self.found(request, client, String(device), state).contains { $0.mvpd == mvpd }
            return ("mvpd", isSignedIn ? nil : (403, "authenticated_profile_missing", "authentication"))
        }
        var decisions: [[String: Any]] = []
        for resource in resources {
            var error = verdict.error
            if error == nil, resource == "ACME1-KIDS" {
                error = (403, kind == "authorize" ? "authorization_denied_by_mvpd" : "preauthorization_denied_by_mvpd", "none")
            }
            var decision: [String: Any] = [
                "resource": resource, "serviceProvider": "ACME1", "mvpd": mvpd, "source": verdict.source, "authorized": error == nil,
            ]
            if let error {
                decision["error"] = Self.failure(error.0, error.1, error.2).merging(["details": "Not in your package"]) { $1 }
            } else if kind == "authorize" {
                let play = MediaTokenIssuer.Play(
                    sessionGUID: "ab", requestor: "ACME1", resource: resource, mvpd: mvpd, ttl: .seconds(420))
                let token = (try? await issuer.issue(play, form: .reference).serialized) ?? ""
                decision["token"] = ["notBefore": Self.now(), "notAfter": Self.now() + 420_000, "serializedToken": token] as [String: Any]
                (decision["notBefore"], decision["notAfter"]) = (Self.now(), Self.now() + 86_400_000)
            }
            decisions.append(decision)
        }
        return .json(["decisions": decisions])
    }
}
