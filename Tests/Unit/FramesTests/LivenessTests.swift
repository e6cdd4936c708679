import Testing
import Frames

@Suite struct LivenessTests {
    @Test func answersAPing() {
        var callee = Machines.callee()
        #expect(callee.receivePing(nonce: 77).frames == [.pong(Pong(nonce: 77))])
    }

    @Test func pingsASilentPeerAndGoesOnWhenItAnswers() {
        var caller = Machines.caller { $0.pingInterval = .seconds(15) }
        #expect(caller.nextTimer == FakeTime.at(15_000))
        #expect(caller.advance(to: FakeTime.at(15_000)).frames == [.ping(Ping(nonce: 1))])
        #expect(caller.nextTimer == FakeTime.at(20_000))
        caller.heard(now: FakeTime.at(15_100))
        #expect(caller.receivePong(nonce: 1) == [])
        #expect(caller.nextTimer == FakeTime.at(30_100))
        #expect(caller.advance(to: FakeTime.at(30_100)).frames == [.ping(Ping(nonce: 2))])
    }

    @Test func aPeerThatSendsAnythingIsAlive() {
        var caller = Machines.caller { $0.pingInterval = .seconds(15) }
        _ = caller.advance(to: FakeTime.at(15_000))
        caller.heard(now: FakeTime.at(19_000))
        #expect(caller.advance(to: FakeTime.at(20_000)) == [])
        #expect(caller.nextTimer == FakeTime.at(34_000))
    }

    @Test func givesUpADeadPeer() throws {
        var caller = Machines.caller { $0.pingInterval = .seconds(15) }
        _ = try caller.begin()
        _ = caller.advance(to: FakeTime.at(15_000))
        let actions = caller.advance(to: FakeTime.at(20_000))
        #expect(actions.failures.map(\.code) == [.unavailable])
        #expect(actions.close == .deadPeer)
        #expect(actions.frames == [])
    }

    @Test("refuses a pong without a ping", arguments: [0, 1, 2] as [UInt64])
    func refusesAPongWithoutAPing(_ nonce: UInt64) {
        var caller = Machines.caller { $0.pingInterval = .seconds(15) }
        if nonce != 1 { _ = caller.advance(to: FakeTime.at(15_000)) }
        #expect(caller.receivePong(nonce: nonce).refuses(.protocolError))
    }

    @Test func callerLeavesWhenIdle() throws {
        var caller = Machines.caller { $0.idleTimeout = .seconds(60) }
        let id = try caller.begin()
        #expect(caller.nextTimer == nil)
        #expect(caller.advance(to: FakeTime.at(50_000)) == [])
        _ = caller.receiveResponse(callID: id, isFault: false)
        #expect(caller.advance(to: FakeTime.at(70_000)) == [])
        #expect(caller.nextTimer == FakeTime.at(110_000))
        let actions = caller.advance(to: FakeTime.at(110_000))
        #expect(actions.goAway?.code == "idle")
        #expect(actions.close == .drained)
    }

    @Test("a call that came and went between two looks at the clock is not idleness")
    func countsShortCalls() {
        var callee = Machines.callee { $0.idleTimeout = .seconds(60) }
        _ = callee.request(1, at: 59_000)
        _ = callee.respond(1)
        #expect(callee.advance(to: FakeTime.at(60_000)) == [])
        #expect(callee.nextTimer == FakeTime.at(120_000))
    }

    @Test func calleeLeavesWhenIdleAndLetsTheCallerClose() {
        var callee = Machines.callee { $0.idleTimeout = .seconds(60) }
        let actions = callee.advance(to: FakeTime.at(60_000))
        #expect(actions.goAway == GoAway(lastCallID: 0, code: "idle"))
        #expect(actions.close == nil)
        #expect(callee.connectionLost() == [.close(.lost)])
    }

    @Test func pingsDoNotKeepAnIdleConnection() {
        var callee = Machines.callee { $0.idleTimeout = .seconds(60) }
        callee.heard(now: FakeTime.at(59_999))
        _ = callee.receivePing(nonce: 1)
        #expect(callee.advance(to: FakeTime.at(60_000)).goAway?.code == "idle")
    }
}
