import BridgeClient
import Clocks
import Contracts
import Faults
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Our clients at upstreams: statements that are refused, clients that are lost, and upstreams that hang (bridge §4.2).
@Suite struct UpstreamSlotTests {
    private static let unapproved = ScriptedUpstream.answer(#"{"error":"unapproved_software_statement"}"#, 400)
    private static let unknownClient = ScriptedUpstream.answer(#"{"error":"invalid_client"}"#, 400)

    private func expectWait(_ seconds: Int64, _ bridge: BridgeRig, _ device: String) async throws {
        let call = try await bridge.viewer(device)
        do {
            _ = try await bridge.begin(call)
            Issue.record("a login begins")
        } catch let fault as Fault {
            #expect(fault.code == .upstreamUnavailable && fault.retryAfter == .seconds(seconds), "\(fault)")
        }
    }

    @Test(
        "bridge B16: a refused statement is 503 for ten minutes, for all devices, after one registration; who is signed in plays on")
    func refusedStatements() async throws {
        let bridge = try BridgeRig()
        let signedIn = try await bridge.viewer("dev-in")
        try await bridge.signIn(signedIn)
        let session = try await bridge.rig.session(signedIn)
        bridge.upstream.change { script in
            script.answers["/register"] = Self.unapproved
            script.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.permit("\((t0 + .seconds(86_400)).milliseconds)")
        }
        for number in 0..<5 { try await expectWait(600, bridge, "dev-\(number)") }
        #expect(bridge.upstream.count("/o/client/register") == 1)
        #expect(try await bridge.decide(signedIn, session).isPermitted)
        let alarm = try #require(bridge.rig.log.lines.first { $0.event == "bridge.statement_refused" })
        #expect(alarm.level == .error && alarm.fields["statement"] == "acme-v2")
        #expect(
            alarm.fields["details"]?.hasPrefix("Upstream vendor refuses the software statement acme-v2 as unapproved: revoked") == true,
            "\(alarm.fields)")
        let state = try await bridge.rig.operations.listUpstreamStates(ListUpstreamStatesRequest(upstream: "vendor"), context: bridge.rig.context)
        #expect(state.states.first?.alarms.contains { $0.details.contains("software statement acme-v2 as unapproved") } == true)
        bridge.rig.clock.advance(by: .seconds(599))
        for number in 5..<10 { try await expectWait(1, bridge, "dev-\(number)") }
        #expect(bridge.upstream.count("/o/client/register") == 1)
        bridge.rig.clock.advance(by: .seconds(1))
        for number in 10..<15 { try await expectWait(600, bridge, "dev-\(number)") }
        #expect(bridge.upstream.count("/o/client/register") == 2, "one asks again, for all")
        bridge.upstream.change { $0.answers["/register"] = nil }
        bridge.rig.clock.advance(by: .seconds(600))
        for number in 15..<18 { _ = try await bridge.begin(try await bridge.viewer("dev-\(number)")) }
        #expect(bridge.upstream.count("/o/client/register") == 5, "each device has a client of its own again")
    }

    @Test("bridge §12.2: who waits is never told a longer time than the refusal lasts, however long upstream took for it")
    func refusalsLastNoLonger() async throws {
        let bridge = try BridgeRig()
        bridge.upstream.change { script in
            script.answers["/register"] = Self.unapproved
            script.takes = .milliseconds(40)
        }
        for number in 0..<3 {
            let call = try await bridge.viewer("dev-\(number)")
            let fault = await #expect(throws: Fault.self) { _ = try await bridge.begin(call) }
            let wait = fault?.retryAfter ?? .zero
            #expect(wait <= .seconds(600) && wait > .seconds(599), "\(wait)")
        }
    }

    @Test("the client of one device is named with the device's digest, one of many with none")
    func namesDevices() {
        func device(_ isDevices: Bool) -> String {
            UpstreamSlotName(text: "SP/vendor/tv/abcd", upstream: "vendor", entry: "tv", isDevices: isDevices).device
        }
        #expect(device(true) == "abcd" && device(false).isEmpty)
    }

    // MARK: Clients that upstream has lost

    /// Devices whose clients upstream does not know any more when they play next.
    private func lose(_ count: Int, from first: Int = 0, _ bridge: BridgeRig) async throws -> [DeviceCall] {
        bridge.upstream.change { $0.answers = [:] }
        var calls: [DeviceCall] = []
        for number in first..<(first + count) {
            let call = try await bridge.viewer("dev-\(number)")
            try await bridge.signIn(call)
            calls.append(call)
        }
        bridge.upstream.change { $0.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.answer(#"{"error":"invalid_client"}"#, 403) }
        for call in calls {
            let session = try await bridge.rig.session(call)
            await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.decide(call, session) }
        }
        bridge.upstream.forget()
        return calls
    }

    private func alarms(_ bridge: BridgeRig) -> Int { bridge.rig.log.lines.count { $0.event == "bridge.clients_lost" && $0.level == .error } }

    @Test("bridge §4.2: more than 50 clients lost in ten minutes are one alarm, and one a second is registered anew", .tags(.timing))
    func manyLost() async throws {
        let bridge = try BridgeRig()
        let calls = try await lose(50, bridge)
        #expect(alarms(bridge) == 0)
        _ = try await bridge.begin(calls[0])
        _ = try await bridge.begin(calls[1])
        #expect(bridge.upstream.count("/o/client/register") == 2, "as long as they are few, each is registered when it is needed")
        let more = try await lose(2, from: 50, bridge)
        #expect(alarms(bridge) == 1)
        #expect(bridge.rig.log.lines.last { $0.event == "bridge.clients_lost" }?.fields["details"]?.hasPrefix("51 clients") == true)
        #expect(bridge.rig.log.lines.last { $0.event == "bridge.client_lost" }?.level == .info, "the alarm of all is enough")
        _ = try await bridge.begin(calls[2])
        for call in calls[3..<10] + more {
            let fault = await #expect(throws: Fault.self) { _ = try await bridge.begin(call) }
            #expect(fault?.code == .upstreamUnavailable && (Duration.seconds(1)...Duration.seconds(60)).contains(fault?.retryAfter ?? .zero))
        }
        #expect(bridge.upstream.count("/o/client/register") == 1)
        bridge.rig.clock.advance(by: .seconds(1))
        _ = try await bridge.begin(calls[3])
        #expect(await #expect(throws: Fault.self) { _ = try await bridge.begin(calls[4]) } != nil)
        let fresh = try await bridge.viewer("dev-new")
        _ = try await bridge.begin(fresh)
        #expect(bridge.upstream.count("/o/client/register") == 3, "a device that never had one does not wait")
        bridge.rig.clock.advance(by: .seconds(600))
        // Ten minutes later they are few again, and the scripted upstream knows their credentials.
        for call in calls[4..<8] { _ = try await bridge.begin(call) }
        #expect(bridge.rig.log.lines.count { $0.event == "bridge.client_returned" } == 4)
        #expect(alarms(bridge) == 1)
    }

    @Test("bridge §4.2: for 30 days the credentials of a lost client stay aside: an upstream that finds it again gets no other one")
    func takesBack() async throws {
        let bridge = try BridgeRig()
        let store = bridge.rig.store
        let day: Duration = .seconds(86_400)
        func slot(_ call: DeviceCall) throws -> UpstreamSlotName {
            let upstream = try bridge.rig.catalogue.current().configuration.upstreams[0]
            return UpstreamClientAt(upstream, upstream.clients[0], of: DeviceID(call.deviceID)).name
        }
        let calls = try await lose(3, bridge)
        for call in calls { #expect(try await store.lostBridgeSlot(slot(call), now: bridge.rig.clock.now())?.slot.clientID == "c-1") }
        bridge.rig.clock.advance(by: .seconds(9))
        _ = try await bridge.begin(calls[0])
        #expect(bridge.upstream.count("/o/client/register") == 1, "at once it is registered anew")
        bridge.rig.clock.advance(by: .seconds(1))
        bridge.upstream.forget()
        _ = try await bridge.begin(try await bridge.viewer(calls[1].deviceID))
        #expect(bridge.upstream.count("/o/client/register") == 0 && bridge.upstream.count("/o/client/token") == 1, "upstream knows it again")
        #expect(bridge.rig.log.lines.count { $0.event == "bridge.client_returned" } == 1)
        bridge.rig.clock.advance(by: day * 30)
        #expect(try await store.lostBridgeSlot(slot(calls[2]), now: bridge.rig.clock.now()) == nil)
        bridge.upstream.forget()
        _ = try await bridge.begin(try await bridge.viewer(calls[2].deviceID))
        #expect(bridge.upstream.count("/o/client/register") == 1)
        // By hand, nothing stays.
        let last = try await lose(1, from: 90, bridge)[0]
        let request = ResetUpstreamClientRequest(upstream: "vendor", deviceID: last.deviceID)
        _ = try await bridge.rig.operations.resetUpstreamClient(request, context: bridge.rig.context)
        #expect(try await store.lostBridgeSlot(slot(last), now: bridge.rig.clock.now()) == nil)
    }

    @Test("bridge B18: a shared client that upstream does not know is asked about again after ten seconds, and meanwhile it is 503, never a no")
    func sharedClients() async throws {
        let bridge = try BridgeRig()
        bridge.rig.catalogue.change { catalogue in
            catalogue.upstreams[0].clientScope = .shared
            catalogue.upstreams[0].shards = 1
        }
        let (one, two) = (try await bridge.viewer("dev-1"), try await bridge.viewer("dev-2"))
        try await bridge.signIn(one)
        try await bridge.signIn(two)
        let session = try await bridge.rig.session(one)
        bridge.upstream.change { script in
            script.answers["/decisions/authorize/CoastCable"] = ScriptedUpstream.answer(#"{"error":"invalid_client"}"#, 403)
            script.answers["/token"] = Self.unknownClient
        }
        for _ in 0..<3 {
            let fault = await #expect(throws: Fault.self) { _ = try await bridge.decide(one, session) }
            #expect(fault?.code == .upstreamUnavailable && fault?.retryAfter == .seconds(10), "\(String(describing: fault))")
        }
        #expect(bridge.upstream.count("/o/client/") == 0)
        #expect(try await bridge.rig.session(two).mvpd == "CoastCable")
        bridge.rig.clock.advance(by: .seconds(10))
        bridge.upstream.change { $0.answers["/register"] = ScriptedUpstream.answer("{}", 503) }
        await expectFault(.upstreamUnavailable) { _ = try await bridge.decide(one, session) }
        #expect(bridge.upstream.calls.map(\.path).filter { $0.hasPrefix("/o/client/") }.prefix(2) == ["/o/client/token", "/o/client/register"])
        for call in [one, two] { await expectFault(.authenticationSessionInvalidated) { _ = try await bridge.rig.session(call) } }
    }

    // MARK: Upstreams that hang

    @Test("bridge B43: an upstream that takes calls and answers none is 503 in its time, at each step of a login; the code is good afterwards")
    func hangs() async throws {
        for step in ["/register", "/token", "/sessions"] {
            let bridge = try BridgeRig()
            bridge.rig.catalogue.change {
                $0.upstreams[0].timeouts = BridgeTimeouts(
                    connectMilliseconds: 50, listMilliseconds: 100, sessionMilliseconds: 100, decisionMilliseconds: 100, totalMilliseconds: 400)
            }
            let call = try await bridge.viewer()
            let code = try await bridge.rig.code(call)
            @Sendable func start() async throws -> SignInStart {
                try await bridge.rig.service.startSignIn(Rig.startRequest(code.code, mvpd: "CoastCable"), context: bridge.rig.context)
            }
            bridge.upstream.change { $0.hanging = [step] }
            let begin = ContinuousClock.now
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10 { group.addTask { await expectFault(.upstreamUnavailable) { _ = try await start() } } }
            }
            #expect(begin.duration(to: .now) < .seconds(45), "\(step)")
            bridge.upstream.change { $0.hanging = [] }
            #expect(try await start().url == "https://up.example/login", "\(step)")
        }
    }

    @Test("who waits for work that another began goes on when the own time is over; the work does too")
    func ownDeadline() async {
        let work = Task<Int, Never> {
            try? await Task<Never, Never>.sleep(for: .seconds(600))
            return 7
        }
        let begin = ContinuousClock.now
        #expect(await work.value(within: .milliseconds(10)) == nil)
        #expect(begin.duration(to: .now) < .seconds(45))
        work.cancel()
        #expect(await work.value(within: .seconds(60)) == 7)
    }

    @Test("the count of lost clients forgets what is older than ten minutes, and a clock that was set back")
    func losses() {
        var losses = UpstreamLosses()
        for _ in 0..<50 { #expect(losses.note(t0) == nil) }
        #expect(!losses.areMany(t0) && losses.turn(t0) == nil && losses.turn(t0) == nil)
        #expect(losses.note(t0 + .seconds(599)) == 51)
        #expect(losses.note(t0 + .seconds(599)) == nil, "an alarm is told once")
        #expect(losses.turn(t0 + .seconds(599)) == nil)
        #expect(losses.turn(t0 + .seconds(599)).map { $0 >= .seconds(1) && $0 <= .seconds(60) } == true)
        #expect(losses.turn(t0 + .seconds(600)) == nil, "the fifty are over")
        var back = UpstreamLosses()
        for _ in 0..<60 { _ = back.note(t0) }
        let areMany = back.areMany(t0 - .seconds(3600))
        #expect(!areMany)
    }
}
