@testable import ClusterCommands
@testable import CommandKit
@testable import Simulation
import Foundation
import Testing
import TextEncodings

/// A person's browser on its way to an OAuth provider and back, step by step, so that a case can interfere.
struct OAuthBrowser: Sendable {
    let device: Device
    private var cookies: [String: [String: String]] = [:]

    init(_ device: Device) { self.device = device }

    /// Starts a sign-in.
    /// - Returns: Where the gateway sends the browser: the provider's authorization endpoint. A bridge sends it there by way of upstream.
    mutating func start(_ code: String, mvpd: String = "OpenFiber") async throws -> String {
        let query = FormEncoding.encode(device.signInParameters(code, mvpd: mvpd).map { ($0.key, $0.value) })
        let answer = try await load("GET", "\(device.cluster.gateway)/api/v1/authenticate?\(query)")
        let first = try #require(answer.header("location"), "\(answer.status) \(answer.text)")
        return device.cluster.isBridge ? try await passOn(first) : first
    }

    /// Goes on from upstream's address of a login to the provider's.
    mutating func passOn(_ address: String) async throws -> String {
        #expect(address.hasPrefix("\(device.cluster.standIns.gateway)/api/v2/authenticate/"), "\(address)")
        let answer = try await load("GET", address)
        return try #require(answer.header("location"), "\(answer.status) \(answer.text)")
    }

    /// Follows the callback to where the sign-in ends. Through a bridge it is upstream's, and the browser comes back to an address of the bridge.
    mutating func finish(_ callback: String) async throws -> HTTPAnswer {
        let answer = try await load("GET", callback)
        guard device.cluster.isBridge, let address = answer.header("location") else { return answer }
        #expect(address.hasPrefix("\(device.cluster.gateway)/bridge/return/"), "\(address)")
        return try await load("GET", address)
    }

    /// Signs in at the provider.
    /// - Returns: Our callback with what the provider sent along.
    mutating func logIn(at address: String, as name: String, cancel: Bool = false) async throws -> String {
        let page = try await load("GET", address)
        if page.status == 302 { return try #require(page.header("location")) }
        var form = try #require(WebForm(html: page.text), "\(page.status) \(page.text)")
        if cancel {
            form.fill("action", "cancel")
        } else {
            form.fill("username", name)
            form.fill("password", name)
        }
        let target = try #require(URL(string: form.action, relativeTo: URL(string: address))?.absoluteString)
        let answer = try await load("POST", target, body: form.encoded)
        return try #require(answer.header("location"), "\(answer.status) \(answer.text)")
    }

    mutating func load(
        _ method: String, _ url: String, body: String? = nil, as contentType: String = "application/x-www-form-urlencoded"
    ) async throws -> HTTPAnswer {
        let parsed = try #require(URL(string: url))
        let site = "\(parsed.host ?? ""):\(parsed.port ?? 80)"
        var headers = [("Accept", "text/html")]
        if let jar = cookies[site], !jar.isEmpty { headers.append(("Cookie", jar.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))) }
        if body != nil { headers.append(("Content-Type", contentType)) }
        let answer = try await device.cluster.exchange.send(method, url, headers: headers, body: body)
        for header in answer.headers where header.name.lowercased() == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2 { cookies[site, default: [:]][String(pair[0])] = String(pair[1]) }
        }
        return answer
    }
}

/// Sets the behaviour of the sandbox's OAuth provider.
struct OAuthControl: Sendable {
    let cluster: TestCluster

    private var base: String { cluster.standIns.sandbox }

    func behave(_ members: String = "") async throws {
        let answer = try await cluster.exchange.send(
            "POST", base + "/control/oauth/OpenFiber", headers: [("Content-Type", "application/json")], body: "{\(members)}")
        try #require(answer.status == 204, "\(answer.text)")
    }

    func rotateKeys() async throws {
        let answer = try await cluster.exchange.send("POST", base + "/control/oauth/OpenFiber/rotate-keys")
        try #require(answer.status == 204, "\(answer.text)")
    }
}
