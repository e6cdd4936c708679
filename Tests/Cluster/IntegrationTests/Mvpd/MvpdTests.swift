@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// Cases of mvpd §7 over HTTP, against a cluster with a catalogue that they may change.
@Suite("MVPDs: logout, metadata, ways to sign in", .serialized, .administration)
struct MvpdTests {
    /// A device and the browser that signed it in.
    struct SignedIn {
        let device: Device
        var browser: Browser
    }

    static func signIn(_ device: Device, at mvpd: String = "NorthCable", name: String = "ada") async throws -> SignedIn {
        var browser = Browser(exchange: device.cluster.exchange)
        let answer = try await browser.signIn(device, code: try await device.code(), mvpd: mvpd, name: name)
        try #require(answer.status == 302 && answer.header("location") == device.end, "\(answer.status) \(answer.text)")
        #expect(try await device.checkAuthn() == 200)
        return SignedIn(device: device, browser: browser)
    }

    static func sandbox() throws -> String { try TestCluster.running().standIns.sandbox }

    /// The newest entry of the sandbox's log for an endpoint.
    static func sandboxEntry(_ endpoint: String, _ mvpd: String) async throws -> [String: Any] {
        let answer = try await TestCluster.running().exchange.send("GET", try sandbox() + "/control/log")
        let entries = try #require(answer.object["entries"] as? [[String: Any]])
        return try #require(entries.last { $0["endpoint"] as? String == endpoint && $0["mvpd"] as? String == mvpd })
    }

    /// Changes an MVPD and publishes it.
    static func change(_ mvpd: String, _ description: String, _ edit: (inout [String: Any]) throws -> Void) async throws {
        let local = try await Administrator.fresh()
        let answer = try await local.change("/mvpds/\(mvpd)", edit)
        try #require(answer.status == 200, "\(answer.text)")
        try await publish(description, local)
    }

    /// Pushes the draft and waits until the services have it.
    static func publish(_ description: String, _ local: Administrator) async throws {
        let version = try await local.push(description)
        let cluster = try TestCluster.running()
        for service in [ClusterService.gateway, .authentication, .authorization] {
            let metrics = "http://\(ClusterAddresses(ports: cluster.ports).debug(service))/metrics"
            try await Condition.wait("\(service) has version \(version)") {
                let text = try await cluster.exchange.send("GET", metrics).text
                let line = text.firstMatch(of: /\nboxoffice_catalogue_version(?:\{[^}]*\})? ([0-9.e+]+)/)
                return line.flatMap { Double($0.1) }.map { $0 >= Double(version) } ?? false
            }
        }
    }

    /// Changes an MVPD for as long as the body takes.
    static func changing(
        _ mvpd: String, _ edit: (inout [String: Any]) throws -> Void, during body: () async throws -> Void
    ) async throws {
        let before = try #require(try await Administrator.local().send("GET", "/mvpds/\(mvpd)").object["entity"] as? [String: Any])
        try await change(mvpd, "for a test", edit)
        do { try await body() } catch {
            try await change(mvpd, "as it was") { $0 = before }
            throw error
        }
        try await change(mvpd, "as it was") { $0 = before }
    }
}

extension HTTPAnswer {
    func location() throws -> String { try #require(header("location"), "\(status) \(text)") }
}
