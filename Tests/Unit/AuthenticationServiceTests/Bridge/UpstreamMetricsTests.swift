import BridgeClient
import Clocks
import Contracts
import Faults
import Foundation
import ManualClocks
import OutboundHttp
import ServiceKit
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// What the bridge's metrics tell of what happens (bridge §14.1).
@Suite struct UpstreamMetricsTests {
    private static let prefix = "boxoffice_authentication_bridge_"

    private func viewer(_ bridge: BridgeRig, _ device: String = "dev-7f3a", token: String = "") async throws -> DeviceCall {
        var call = bridge.rig.call(try await bridge.rig.bearer(), device: device)
        call.rokuToken = token
        return call
    }

    /// The series of one metric, without its prefix, and their values.
    private func series(_ bridge: BridgeRig, _ metric: String) -> [String: Double] {
        let lines = bridge.rig.numbers.text().split(separator: "\n").filter { $0.hasPrefix("\(Self.prefix)\(metric){") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                guard let end = line.lastIndex(of: " ") else { return nil }
                return (String(line[..<end].dropFirst(Self.prefix.count + metric.count)), Double(line[line.index(after: end)...]) ?? -1)
            })
    }

    /// The same device, after upstream was last asked so long ago that it has to be asked again.
    private func later(_ call: DeviceCall, _ bridge: BridgeRig) async throws -> DeviceCall {
        bridge.rig.clock.advance(by: .seconds(86_401))
        var call = call
        call.accessToken = try await bridge.rig.bearer()
        return call
    }

    /// Waits for what happens beside a call.
    private func wait(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<1000 {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(2))
        }
        Issue.record("it did not happen")
    }

    private func look(_ bridge: BridgeRig) async throws {
        let gauges = try #require(bridge.rig.modules.upstreams).gauges
        await gauges.count()
        await gauges.look()
    }

    @Test("a sign-in counts its calls with their times, the bearer, and how it ended; a logout ends a session")
    func countsSignIns() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        for operation in ["register", "token", "create", "byCode"] {
            #expect(series(bridge, "calls_total")["{operation=\"\(operation)\",outcome=\"ok\",upstream=\"vendor\"}"] == 1, "\(operation)")
            #expect(series(bridge, "call_duration_seconds_count")["{operation=\"\(operation)\",upstream=\"vendor\"}"] == 1, "\(operation)")
        }
        #expect(series(bridge, "tokens_issued_total") == [#"{upstream="vendor"}"#: 1])
        #expect(series(bridge, "sign_ins_total") == [#"{result="signed_in",upstream="vendor"}"#: 1])
        try await look(bridge)
        #expect(series(bridge, "slots")[#"{state="ready",upstream="vendor"}"#] == 1)
        #expect(series(bridge, "slots").values.reduce(0, +) == 1)
        #expect(try await bridge.rig.logout(call) == 1)
        #expect(series(bridge, "sessions_ended_total") == [#"{reason="logout",upstream="vendor"}"#: 1])
    }

    @Test("a person who cancels declined; a login that cannot begin has failed")
    func countsFailures() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        let code = try await bridge.rig.code(call)
        _ = try await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
        let body = try #require(bridge.upstream.calls.last { $0.path.hasSuffix("/sessions") }?.body)
        let handle = try #require(body.firstMatch(of: /return%2F([A-Za-z0-9_-]+)/)?.1)
        let outcome = try await bridge.rig.service.returnFromBridge(ReturnFromBridgeRequest(handle: String(handle)), context: bridge.rig.context)
        #expect(outcome.result == .declined)
        #expect(series(bridge, "calls_total")[#"{operation="byCode",outcome="empty",upstream="vendor"}"#] == 3)
        bridge.upstream.change { $0.isAway = true }
        let next = try await bridge.rig.code(call)
        await expectFault(.upstreamUnavailable) {
            _ = try await bridge.rig.service.startSignIn(Rig.startRequest(next.code, mvpd: "CoastCable"), context: bridge.rig.context)
        }
        let results = series(bridge, "sign_ins_total")
        #expect(results == [#"{result="declined",upstream="vendor"}"#: 1, #"{result="failed",upstream="vendor"}"#: 1])
        #expect(series(bridge, "calls_total")[#"{operation="create",outcome="timeout",upstream="vendor"}"#] == 1)
    }

    @Test("each answer of upstream has its outcome, and none says a word that is not in the list")
    func namesOutcomes() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        let cases: [(answer: OutboundAnswer, outcome: String)] = [
            (ScriptedUpstream.answer(#"{"code":"authenticated_profile_missing","status":403}"#, 403), "denied"),
            (ScriptedUpstream.answer(#"{"code":"invalid_integration","status":400}"#, 400), "refused"),
            (ScriptedUpstream.answer("{}", 401), "refused"),
            (OutboundAnswer(status: 302), "unusable"), (ScriptedUpstream.answer("<html>"), "unusable"),
            (OutboundAnswer(status: 503), "server_error"),
        ]
        for (answer, outcome) in cases {
            let place = "{operation=\"profile\",outcome=\"\(outcome)\",upstream=\"vendor\"}"
            let before = series(bridge, "calls_total")[place] ?? 0
            bridge.upstream.change { $0.answers = ["/profiles/CoastCable": answer] }
            _ = try? await bridge.rig.session(try await later(call, bridge))
            #expect((series(bridge, "calls_total")[place] ?? 0) > before, "\(answer.status) is \(outcome)")
        }
        #expect(UpstreamMetrics.Outcome(.throttled(retryAfter: .seconds(1))) == .throttled)
        #expect(UpstreamMetrics.Outcome(.unreachable(.cancelled)) == nil, "who gives up says nothing of upstream")
        let known = Set(UpstreamMetrics.Outcome.allCases.map(\.rawValue))
        let words = series(bridge, "calls_total").keys.compactMap { $0.firstMatch(of: /outcome="(\w+)"/).map { String($0.1) } }
        #expect(!words.isEmpty && words.allSatisfy { known.contains($0) }, "\(words)")
    }

    @Test("what fails often opens the breaker, whose calls are told as such; closed again it is told too, and so is an upstream that is gone")
    func tellsBreakers() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        let place = #"{group="session",upstream="vendor"}"#
        try await look(bridge)
        #expect(series(bridge, "breaker_open")[place] == 0)
        #expect(series(bridge, "breaker_open").count == BridgeOperation.Group.allCases.count)
        bridge.upstream.change { $0.isAway = true }
        let stale = try await later(call, bridge)
        for _ in 0..<25 { _ = try? await bridge.rig.session(stale) }
        try await look(bridge)
        #expect(series(bridge, "breaker_open")[place] == 1)
        #expect(series(bridge, "calls_total")[#"{operation="profile",outcome="open",upstream="vendor"}"#] ?? 0 >= 1)
        bridge.upstream.change { $0.isAway = false }
        for _ in 0..<3 { _ = try await bridge.rig.session(try await later(call, bridge)) }
        try await look(bridge)
        #expect(series(bridge, "breaker_open")[place] == 0)
        bridge.rig.catalogue.change { $0.upstreams = [] }
        try await look(bridge)
        #expect(series(bridge, "breaker_open").isEmpty && series(bridge, "slots").isEmpty)
    }

    @Test("a statement that upstream refuses is told until it takes one, or the catalogue names another")
    func tellsStatements() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        let refused = ScriptedUpstream.answer(#"{"error":"unapproved_software_statement"}"#, 400)
        func start() async throws {
            let code = try await bridge.rig.code(call)
            _ = try? await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
            try await look(bridge)
        }
        func told() -> Double? { series(bridge, "statement_refused")[#"{upstream="vendor"}"#] }
        bridge.upstream.change { $0.answers = ["/register": refused] }
        try await start()
        #expect(told() == 1)
        #expect(series(bridge, "slots")[#"{state="unregistered",upstream="vendor"}"#] == 1)
        bridge.upstream.change { $0.answers = [:] }
        bridge.rig.clock.advance(by: .seconds(601))
        try await start()
        #expect(told() == 0)
        bridge.upstream.change { $0.answers = ["/register": refused] }
        let other = try await viewer(bridge, "dev-other")
        let code = try await bridge.rig.code(other)
        _ = try? await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
        try await look(bridge)
        #expect(told() == 1)
        bridge.rig.catalogue.change { $0.upstreams[0].clients[0].statementReference = "acme-v3" }
        try await look(bridge)
        #expect(told() == 0)
    }

    @Test("while upstream is away, answers from memory are counted by kind, logouts wait, and lists age; afterwards they do not")
    func tellsWhatIsStale() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        func list() async throws {
            _ = try await bridge.rig.service.listBridgedProviders(
                ListBridgedProvidersRequest(requestor: "CHAN7", device: call.device), context: bridge.rig.context)
        }
        try await list()
        bridge.upstream.change { $0.isAway = true }
        bridge.rig.clock.advance(by: .seconds(1000))
        #expect(try await bridge.rig.session(call).mvpd == "CoastCable")
        try await list()
        try await bridge.called("/api/v2/CHAN7/configuration", times: 2)
        // The read that failed has to come home.
        try await wait {
            try await list()
            return series(bridge, "stale_answers_total")[#"{kind="list",upstream="vendor"}"#] != nil
        }
        try await wait { series(bridge, "stale_answers_total")[#"{kind="session",upstream="vendor"}"#] != nil }
        #expect(series(bridge, "stale_answers_total")[#"{kind="session",upstream="vendor"}"#] == 1)
        #expect(try await bridge.rig.logout(call) == 1)
        try await look(bridge)
        #expect(series(bridge, "list_age_seconds") == [#"{upstream="vendor"}"#: 1000])
        #expect(series(bridge, "logouts_pending") == [#"{upstream="vendor"}"#: 0], "it was tried just now")
        bridge.rig.clock.advance(by: .seconds(61))
        try await look(bridge)
        #expect(series(bridge, "logouts_pending") == [#"{upstream="vendor"}"#: 1])
        bridge.rig.clock.advance(by: .seconds(1800))
        try await look(bridge)
        #expect(series(bridge, "list_age_seconds") == [#"{upstream="vendor"}"#: 0], "nobody asks for it any more")
    }

    @Test("a session that upstream has forgotten, one of a lost client and one that is taken over are told apart")
    func tellsEnds() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        bridge.upstream.change { $0.profiles = [:] }
        _ = try? await bridge.rig.session(try await later(call, bridge))
        #expect(series(bridge, "sessions_ended_total")[#"{reason="gone_upstream",upstream="vendor"}"#] == 1)
        let other = try await viewer(bridge, "dev-lost")
        try await bridge.signIn(other)
        bridge.upstream.change { $0.answers["/profiles/CoastCable"] = ScriptedUpstream.answer(#"{"error":"invalid_client"}"#, 403) }
        _ = try? await bridge.rig.session(try await later(other, bridge))
        #expect(series(bridge, "sessions_ended_total")[#"{reason="client_lost",upstream="vendor"}"#] == 1)
        #expect(bridge.rig.log.lines.filter { $0.event == "bridge.client_lost" }.map(\.level) == [.error])
        let now = bridge.rig.clock.now()
        bridge.upstream.change {
            $0.answers = [:]
            $0.profiles["CoastCable"] = .init(kind: "platformSSO", start: now, end: now + .seconds(86_400), token: "roku-7")
        }
        let shared = try await viewer(bridge, "dev-roku", token: "roku-7")
        #expect(try await bridge.rig.session(shared).mvpd == "CoastCable")
        #expect(series(bridge, "sign_ins_total")[#"{result="taken_over",upstream="vendor"}"#] == 1)
    }

    @Test("batches are counted by how they ended")
    func countsBatches() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        let session = try await bridge.rig.session(call)
        let decisions = (0..<5).map { #"{"resource":"R\#($0)","authorized":true}"# }.joined(separator: ",")
        let good = ScriptedUpstream.answer("{\"decisions\":[\(decisions)]}")
        func ask() async {
            let request = AskUpstreamRequest(
                call: call, sessionID: session.id, resources: (0..<5).map { "R\($0)" }, isPreauthorization: true)
            _ = try? await bridge.rig.sessions.askUpstream(request, context: bridge.rig.context)
        }
        bridge.upstream.change { $0.answers = ["/decisions/preauthorize/CoastCable": good] }
        await ask()
        bridge.upstream.change { $0.answers = ["/decisions/preauthorize/CoastCable": OutboundAnswer(status: 503)] }
        await ask()
        let place = { (outcome: String) in "{outcome=\"\(outcome)\",upstream=\"vendor\"}" }
        #expect(series(bridge, "preflight_batches_total") == [place("ok"): 1, place("server_error"): 1])
    }

    @Test("every metric of the bridge has a text for people")
    func explains() async throws {
        let bridge = try BridgeRig()
        let call = try await viewer(bridge)
        try await bridge.signIn(call)
        try await look(bridge)
        let lines = bridge.rig.numbers.text().split(separator: "\n")
        let types = lines.filter { $0.hasPrefix("# TYPE \(Self.prefix)") }.compactMap { $0.split(separator: " ").dropFirst(2).first }
        #expect(types.count >= 9)
        for name in types { #expect(lines.contains { $0.hasPrefix("# HELP \(name) ") }, "\(name)") }
    }
}
