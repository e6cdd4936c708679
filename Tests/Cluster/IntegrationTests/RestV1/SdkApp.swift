@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Foundation
import MediaTokenVerifier
import Testing
import TextEncodings

/// A program that makes the calls of the vendor's SDKs, and keeps tokens as they do (Shared/Documents/Specs/clients.md §3).
struct SdkApp: Sendable {
    let cluster: TestCluster
    let requestor: String
    var deviceID: String
    var seal: String
    var bearer: String?
    /// `true`: names its device in the form, as the device SDKs do, and else in a header.
    var isDevice = false

    /// A program that asks for its device's id as the web SDK does.
    static func web(_ requestor: String = "ACME1", application: String = "acme-tv", fingerprint: String = Self.fingerprint()) async throws -> SdkApp {
        let cluster = try TestCluster.running()
        let bearer = try await Client.register(application).accessToken()
        let answer = try await identify(fingerprint, bearer: bearer)
        try #require(answer.status == 200, "\(answer.text)")
        return SdkApp(
            cluster: cluster, requestor: requestor, deviceID: try #require(answer.object["deviceId"] as? String),
            seal: try #require(answer.header("pass_sfp")), bearer: bearer)
    }

    /// A program that makes its device's id up.
    static func device(_ requestor: String = "ACME1", application: String = "acme-tv") async throws -> SdkApp {
        let bearer = try await Client.register(application).accessToken()
        return SdkApp(
            cluster: try .running(), requestor: requestor, deviceID: fingerprint() + fingerprint(), seal: "", bearer: bearer, isDevice: true)
    }

    /// 32 hexadecimal digits, as `uuid4().hex` has them.
    static func fingerprint() -> String { UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased() }

    static func identify(
        _ fingerprint: String, bearer: String? = nil, seal: String? = nil, cookie: String? = nil, agent: String? = nil
    ) async throws -> HTTPAnswer {
        var headers: [String: String] = [:]
        if let agent { headers["User-Agent"] = agent }
        if let bearer { headers["Authorization"] = "Bearer \(bearer)" }
        if let seal { headers["pass_sfp"] = seal }
        if let cookie { headers["Cookie"] = "JSESSIONID=x; pass_sfp=\(cookie)" }
        return try await TestCluster.running().send(try .json("/indiv/devices", ["fingerprint": fingerprint], headers: headers))
    }

    var headers: [String: String] {
        var headers = ["Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"]
        if let bearer { headers["Authorization"] = "Bearer \(bearer)" }
        if !isDevice, bearer != nil {
            headers.merge(["Ap_21": deviceID, "pass_sfp": seal, "ap_42": "anonymous", "ap_11": "Linux i686", "ap_z": "Mozilla/5.0"]) { $1 }
        }
        return headers
    }

    /// The fields that the device SDKs send with each call, after EPlusTV's NESN handler.
    private var deviceFields: [(String, String)] {
        guard isDevice else { return [] }
        let information = Device.encoded(#"{"manufacturer":"Google","model":"sdk_google_atv_x86","osName":"Android","osVersion":"10"}"#)
        return [("device_id", deviceID), ("device_info", information), ("networkType", "WIFI")]
    }

    func post(_ path: String, _ fields: [(String, String)], changing headers: [String: String?] = [:]) async throws -> HTTPAnswer {
        var all = self.headers
        for (name, value) in headers { all[name] = value }
        return try await cluster.send(
            Call("POST", "/adobe-services/\(path)", headers: all, body: FormEncoding.encode(fields + deviceFields + [("requestor_id", requestor)])))
    }

    func code() async throws -> String {
        let answer = try await cluster.send(
            Call.form(
                "/reggie/v1/\(requestor)/regcode", [("requestor", requestor), ("deviceId", deviceID), ("format", "json")],
                headers: ["Authorization": "Bearer \(bearer ?? "")"]))
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["code"] as? String)
    }

    func authenticate(_ code: String, mvpd: String = "NorthCable", returning url: String? = nil) -> String {
        let query = FormEncoding.encode([
            ("noflash", "true"), ("mso_id", mvpd), ("requestor_id", requestor), ("no_iframe", "false"), ("domain_name", "adobe.com"),
            ("redirect_url", url ?? end), ("reg_code", code),
        ])
        return "\(cluster.gateway)/adobe-services/authenticate/saml?\(query)"
    }

    var end: String { "https://\(Device.domains[requestor] ?? "")/signed-in" }

    /// A person signs in through the code, as the program's own address begins it.
    func signIn(_ code: String, as name: String = "ada", at mvpd: String = "NorthCable") async throws {
        var browser = Browser(exchange: cluster.exchange)
        let url = authenticate(code, mvpd: mvpd)
        let answer = try await browser.complete(try await browser.visit(url), at: url, name: name)
        try #require(answer.status == 302 && answer.header("location") == end, "\(answer.status) \(answer.text)")
    }

    func session(_ code: String) async throws -> HTTPAnswer {
        try await post(isDevice ? "sessionDevice" : "session", [("_method", "GET"), ("reg_code", code)])
    }

    func authorize(_ token: String, _ resource: String = "ACME1-NEWS", mvpd: String = "NorthCable", more: [(String, String)] = []) async throws
        -> HTTPAnswer
    {
        let fields = [("authentication_token", token), ("resource_id", resource), ("mso_id", mvpd)]
        return try await post(isDevice ? "authorizeDevice" : "authorize", fields + more)
    }

    func shortAuthorize(_ token: String, guid: String = "") async throws -> HTTPAnswer {
        try await post(
            isDevice ? "deviceShortAuthorize" : "shortAuthorize", [("authz_token", token), ("session_guid", guid), ("hashed_guid", "false")])
    }

    /// A new session of the device.
    /// - Returns: Its token.
    func signedIn(as name: String = "ada", at mvpd: String = "NorthCable") async throws -> String {
        let code = try await code()
        try await signIn(code, as: name, at: mvpd)
        return try (try await session(code)).storedToken("authnToken")
    }

    /// - Returns: The token of a permit.
    func permit(_ token: String, _ resource: String = "ACME1-NEWS", at place: SourceLocation = #_sourceLocation) async throws -> String {
        try (try await authorize(token, resource)).storedToken("authzToken", at: place)
    }

    func verdict(_ media: HTTPAnswer, _ resource: String = "ACME1-NEWS") throws -> MediaTokenVerdict {
        MediaTokenVerifier(trustedKeys: try cluster.mediaTokenKeys()).verify(
            Data(media.text.utf8).base64EncodedString(), requestor: requestor, resource: resource
        ).verdict
    }
}

extension HTTPAnswer {
    /// The text of an element of an answer, unescaped once, as clients do.
    func storedToken(_ name: String, at place: SourceLocation = #_sourceLocation) throws -> String {
        try #require(status == 200 && header("content-type") == "application/xml; charset=utf-8", "\(status) \(text)", sourceLocation: place)
        return Self.unescaped(try #require(element(name), "\(text)", sourceLocation: place))
    }

    static func unescaped(_ text: String) -> String {
        let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#13;", "\r"), ("&amp;", "&")]
        return names.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }

    /// An app that reads this forgets what it keeps and signs in again.
    var isPendingLogout: Bool {
        status == 200 && text.contains("<result><pendingLogout></pendingLogout></result>") && !text.contains("Token") && !text.contains("error")
    }
}

extension String {
    /// The content of an element, as clients find it.
    func content(of name: String) -> String? {
        guard let start = range(of: "<\(name)>"), let end = range(of: "</\(name)>") else { return nil }
        return String(self[start.upperBound..<end.lowerBound])
    }
}
