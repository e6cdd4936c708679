@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A streaming app on a device, with an access token.
struct Device: Sendable {
    let cluster: TestCluster
    let requestor: String
    let id: String
    let accessToken: String
    var information = Device.information
    /// The address that a proxy of ours says it has; empty: the test's.
    var forwarded = ""

    static let information = encoded(#"{"primaryHardwareType":"TV","model":"Test TV","osName":"Linux"}"#)

    static func encoded(_ information: String) -> String { Data(information.utf8).base64EncodedString() }

    /// The registered domain of each requestor.
    static let domains = ["ACME1": "acme.example", "ACME2": "acme-two.example", "BRAVO": "bravo.example"]

    /// A new device, unless its id is given.
    static func make(_ requestor: String = "ACME1", id: String = UUID().uuidString) async throws -> Device {
        let cluster = try TestCluster.running()
        let client = try await Client.register(requestor == "BRAVO" ? "bravo-tv" : "acme-tv")
        return Device(cluster: cluster, requestor: requestor, id: id, accessToken: try await client.accessToken())
    }

    /// The same device in an app of a requestor of the same programmer.
    func at(_ requestor: String) -> Device { Device(cluster: cluster, requestor: requestor, id: id, accessToken: accessToken) }

    var domain: String { Self.domains[requestor] ?? "" }

    var headers: [String: String] {
        let all = ["Authorization": "Bearer \(accessToken)", "X-Device-Info": information, "Accept": "application/json"]
        return forwarded.isEmpty ? all : all.merging(["X-Forwarded-For": forwarded]) { $1 }
    }

    /// A call with the device set (rest-v1 §3).
    func call(_ path: String, _ parameters: [String: String] = [:], method: String = "GET") -> Call {
        Call(method, path, query: parameters.merging(["requestor": requestor, "deviceId": id]) { first, _ in first }, headers: headers)
    }

    func get(_ path: String, _ parameters: [String: String] = [:]) async throws -> HTTPAnswer {
        try await cluster.send(call(path, parameters))
    }

    func checkAuthn() async throws -> Int { try await get("/api/v1/checkauthn").status }
    func authnToken() async throws -> HTTPAnswer { try await get("/api/v1/tokens/authn") }
    func authorize(_ resource: String) async throws -> HTTPAnswer { try await get("/api/v1/authorize", ["resource": resource]) }
    func preauthorize(_ resources: String) async throws -> HTTPAnswer { try await get("/api/v1/preauthorize", ["resource": resources]) }
    func authzToken(_ resource: String) async throws -> HTTPAnswer { try await get("/api/v1/tokens/authz", ["resource": resource]) }
    func mediaToken(_ resource: String) async throws -> HTTPAnswer { try await get("/api/v1/mediatoken", ["resource": resource]) }
    func logout() async throws -> Int { try await cluster.send(call("/api/v1/logout", method: "DELETE")).status }
}

extension Device {
    /// The call that makes a registration code.
    func codeCall(_ fields: [(String, String)] = []) -> Call {
        var all = fields
        if !fields.contains(where: { $0.0 == "deviceId" }) { all.append(("deviceId", id)) }
        return .form("/reggie/v1/\(requestor)/regcode", all, headers: headers)
    }

    func requestCode(_ fields: [(String, String)] = []) async throws -> HTTPAnswer { try await cluster.send(codeCall(fields)) }

    /// A fresh registration code.
    func code(_ fields: [(String, String)] = []) async throws -> String {
        let answer = try await requestCode(fields)
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["code"] as? String)
    }

    func record(_ code: String) async throws -> HTTPAnswer {
        try await cluster.send(Call("GET", "/reggie/v1/\(requestor)/regcode/\(code)", headers: headers))
    }

    /// rest-v1 §3.10, as a login page asks: without a bearer.
    func checkAuthn(code: String) async throws -> Int {
        try await cluster.send(Call("GET", "/api/v1/checkauthn/\(code)", query: ["requestor": requestor])).status
    }

    /// Where a sign-in for this device ends.
    var end: String { "https://\(domain)/signed-in" }

    /// The parameters of rest-v1 §3.7.
    func signInParameters(_ code: String, mvpd: String = "NorthCable") -> [String: String] {
        [
            "reg_code": code, "requestor_id": requestor, "mso_id": mvpd, "domain_name": domain, "noflash": "true", "no_iframe": "true",
            "redirect_url": end,
        ]
    }

    func authenticate(_ code: String, mvpd: String = "NorthCable", changing changes: [String: String] = [:]) async throws -> HTTPAnswer {
        let parameters = signInParameters(code, mvpd: mvpd).merging(changes) { $1 }
        return try await cluster.send(Call("GET", "/api/v1/authenticate", query: parameters, headers: ["Accept": "application/json"]))
    }

    /// A person signs this device in.
    /// - Returns: The code that was used.
    @discardableResult
    func signIn(as name: String = "ada", at mvpd: String = "NorthCable", code given: String? = nil) async throws -> String {
        var code = given
        if code == nil { code = try await self.code() }
        let used = try #require(code)
        var browser = Browser(exchange: cluster.exchange)
        let answer = try await browser.signIn(self, code: used, mvpd: mvpd, name: name)
        try #require(answer.status == 302 && answer.header("location") == end, "\(answer.status) \(answer.text)")
        return used
    }
}
