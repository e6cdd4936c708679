import Clocks
import Contracts
import Cryptography
import Doubles
import Foundation
import ManualClocks
import OutboundHttp
import Synchronization
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// A REST v2 server that says what the test wants (bridge §15.4 has a whole one). It shares no code with the bridge.
final class ScriptedUpstream: OutboundTransport {
    struct Profile: Sendable {
        var kind = "regular"
        var start: Timestamp
        var end: Timestamp
        /// JSON members.
        var attributes = #""userID":{"value":"subscriber-9","state":"plain"}"#
        /// The platform token that it is shown to; `nil`: to its own device.
        var token: String?
    }

    struct Script: Sendable {
        var isAway = false
        /// Ends of paths whose calls get no answer in their time.
        var hanging: Set<String> = []
        var profiles: [String: Profile] = [:]
        /// Devices whose profiles are gone, by their `AP-Device-Identifier`.
        var forgotten: Set<String> = []
        /// Ids of the list.
        var listed = ["CoastCable", "HillTel"]
        /// In place of genuine answers, by the end of the path.
        var answers: [String: OutboundAnswer] = [:]
        /// So much time goes by until it answers.
        var takes: Duration = .zero
    }

    struct Call: Sendable {
        let path: String
        let headers: [String: String]
        let body: String
    }

    let script = Mutex(Script())
    private let seen = Mutex<[Call]>([])
    /// The service's.
    let clock = Mutex(ManualClock(t0))

    private var now: Timestamp { clock.withLock { $0.now() } }

    static let origin = "https://up.example"

    var calls: [Call] { seen.withLock { $0 } }

    func count(_ path: String) -> Int { calls.count { $0.path.hasPrefix(path) } }

    func forget() { seen.withLock { $0 = [] } }

    func change(_ body: (inout Script) -> Void) { script.withLock { body(&$0) } }

    func send(_ request: OutboundRequest, by _: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        let path = String(request.url.dropFirst(Self.origin.count).split(separator: "?").first ?? "")
        let headers = Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        let call = Call(path: path, headers: headers, body: request.body.map { String(decoding: $0, as: UTF8.self) } ?? "")
        seen.withLock { $0.append(call) }
        let script = script.withLock { $0 }
        clock.withLock { $0.advance(by: script.takes) }
        if script.isAway { throw OutboundFailure(.responseTimeout) }
        if script.hanging.contains(where: { path.hasSuffix($0) }) {
            try? await Task.sleep(for: timeLeft)
            throw OutboundFailure(.responseTimeout)
        }
        if let scripted = script.answers.first(where: { path.hasSuffix($0.key) })?.value { return scripted }
        switch path.split(separator: "/").last.map(String.init) ?? "" {
        case "register": return Self.answer(#"{"client_id":"c-1","client_secret":"s-1","scopes":["api:client:v2"]}"#, 201)
        case "token": return Self.answer(#"{"access_token":"t-1","expires_in":31536000}"#, 201)
        case "configuration":
            let list = script.listed.map { #"{"id":"\#($0)","displayName":"\#($0)"}"# }.joined(separator: ",")
            return Self.answer(#"{"requestor":{"mvpds":[\#(list)]}}"#)
        case "sessions":
            let end = (now + .seconds(1800)).milliseconds
            return Self.answer(#"{"actionName":"authenticate","url":"/login","code":"ABC123","notAfter":\#(end)}"#)
        default: return profiles(call, script)
        }
    }

    private func profiles(_ call: Call, _ script: Script) -> OutboundAnswer {
        let parts = call.path.split(separator: "/").map(String.init)
        guard parts.count >= 4, parts[3] == "profiles" else { return OutboundAnswer(status: 404) }
        let only = parts.count == 5 ? parts[4] : nil
        let token = call.headers["x-roku-reserved-roku-connect-token"]
        let isForgotten = script.forgotten.contains(call.headers["ap-device-identifier"] ?? "")
        let shown = script.profiles.filter { mvpd, profile in
            !isForgotten && (only == nil || only == mvpd) && profile.end > now && (profile.token == nil || profile.token == token)
        }
        let members = shown.map { mvpd, profile in
            #""\#(mvpd)":{"type":"\#(profile.kind)","notBefore":\#(profile.start.milliseconds),"notAfter":\#(profile.end.milliseconds),"#
                + #""attributes":{\#(profile.attributes)}}"#
        }
        return Self.answer("{\"profiles\":{\(members.joined(separator: ","))}}")
    }

    /// A permit to play.
    /// - Parameter end: JSON: the end of permit and media token.
    static func permit(_ end: String) -> OutboundAnswer {
        answer(
            #"{"decisions":[{"resource":"r","authorized":true,"source":"mvpd","notAfter":\#(end),"#
                + #""token":{"serializedToken":"abc","notAfter":\#(end)}}]}"#)
    }

    static func refusal(_ code: String, _ status: Int = 400) -> OutboundAnswer {
        answer(#"{"status":\#(status),"code":"\#(code)","action":"none"}"#, status)
    }

    static func answer(_ json: String, _ status: Int = 200) -> OutboundAnswer { OutboundAnswer(status: status, body: Array(json.utf8)) }
}

/// A service in front of such an upstream.
struct BridgeRig {
    let upstream: ScriptedUpstream
    let rig: Rig

    /// - Parameters:
    ///   - adoptUntil: Until then devices are asked about that nothing is known of.
    ///   - change: The change of the requestor's part of the catalogue.
    init(adoptUntil: Timestamp? = nil, _ change: (inout RequestorBridge) -> Void = { _ in }) throws {
        upstream = ScriptedUpstream()
        rig = try Rig(.sqlite, upstream: upstream, adoptUntil: adoptUntil)
        upstream.clock.withLock { [rig] in $0 = rig.clock }
        var bridge = RequestorBridge(
            upstreamID: "vendor", serviceProvider: "CHAN7", returnOrigin: "https://tv.chan7.example", preflightMaxResources: 5)
        change(&bridge)
        rig.catalogue.change { catalogue in
            catalogue.upstreams = [
                BridgeUpstream(
                    id: "vendor", baseURL: ScriptedUpstream.origin,
                    clients: [BridgeClientEntry(id: "tv", statementReference: "acme-v2", scope: "api:client:v2")],
                    synthesizesPartnerStatus: true)
            ]
            catalogue.requestors[0].bridge = bridge
            catalogue.mvpds.append(Mvpd(id: "CoastCable", displayName: "Coast Cable", upstreamOnly: true))
            catalogue.integrations.append(
                Integration(requestorID: "CHAN7", mvpdID: "CoastCable", enabled: true, bridge: IntegrationBridge()))
        }
    }

    /// The device's call, with a bearer of now.
    func viewer(_ device: String = "dev-7f3a", rokuToken: String = "") async throws -> DeviceCall {
        var call = rig.call(try await rig.bearer(), device: device)
        call.rokuToken = rokuToken
        return call
    }

    /// A browser is sent to the upstream's login.
    /// - Returns: The code, and the handle with which the browser will return.
    func begin(_ call: DeviceCall, ttl: UInt32 = 0) async throws -> (code: String, handle: String) {
        let code = try await rig.code(call, ttl: ttl)
        _ = try await rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: rig.context)
        return (code.code, try lastHandle())
    }

    func finish(_ handle: String) async throws -> SignInOutcome {
        try await rig.service.returnFromBridge(ReturnFromBridgeRequest(handle: handle), context: rig.context)
    }

    /// Somebody signs in on the upstream's page.
    func somebodySignsIn(lasting life: Duration = .seconds(30 * 86_400)) {
        let now = rig.clock.now()
        upstream.change { $0.profiles["CoastCable"] = .init(start: now, end: now + life) }
    }

    /// Asks upstream for a play, as the deciding service does.
    func decide(_ call: DeviceCall, _ session: Session, _ resource: String = "r") async throws -> UpstreamDecision {
        let request = AskUpstreamRequest(call: call, sessionID: session.id, resources: [resource])
        return try #require(try await rig.sessions.askUpstream(request, context: rig.context).decisions.first)
    }

    /// A person signs the device in through the upstream's page.
    /// - Returns: The code.
    @discardableResult
    func signIn(_ call: DeviceCall, lasting life: Duration = .seconds(30 * 86_400), ttl: UInt32 = 0) async throws -> String {
        let (code, handle) = try await begin(call, ttl: ttl)
        somebodySignsIn(lasting: life)
        try #require(try await finish(handle).result == .signedIn)
        upstream.forget()
        return code
    }

    /// The browser comes back from upstream, where the person has signed in.
    func comeBack() async throws { try #require(try await finish(lastHandle()).result == .signedIn) }

    private func lastHandle() throws -> String {
        let body = try #require(upstream.calls.last { $0.path.hasSuffix("/sessions") }?.body)
        return String(try #require(body.firstMatch(of: /return%2F([A-Za-z0-9_-]+)/)?.1))
    }

    /// Waits for a call that nobody waits for.
    func called(_ path: String, times: Int) async throws {
        for _ in 0..<2000 {
            if upstream.count(path) >= times { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("\(upstream.count(path)) calls of \(path), not \(times)")
    }
}
