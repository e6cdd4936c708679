import Faults
import Testing
import Frames

@Suite struct DepartureTests {
    @Test func calleeFinishesWhatItBeganThenCloses() {
        var callee = Machines.callee { $0.lingerTimeout = .seconds(1) }
        _ = callee.request(1)
        #expect(
            callee.drain(message: "bye", now: FakeTime.at(10)) == [
                .send(Frame(kind: .goAway(GoAway(lastCallID: 1, code: "shutdown", message: "bye"))))
            ]
        )
        #expect(callee.request(2).isDropped)
        #expect(callee.receiveCancel(callID: 2) == [])
        #expect(callee.respond(1) == true)
        #expect(callee.advance(to: FakeTime.at(20)) == [])
        #expect(callee.nextTimer == FakeTime.at(1020))
        #expect(callee.advance(to: FakeTime.at(1020)) == [.close(.drained)])
    }

    @Test func calleeIsDoneAsSoonAsTheCallerCloses() {
        var callee = Machines.callee()
        _ = callee.drain(now: FakeTime.at(10))
        #expect(callee.connectionLost() == [.close(.lost)])
    }

    @Test func drainsOnce() {
        var callee = Machines.callee()
        #expect(callee.drain(now: FakeTime.at(10)).frames.count == 1)
        #expect(callee.drain(now: FakeTime.at(11)) == [])
    }

    @Test func calleeEndsStreamsWhenItLeaves() {
        var callee = Machines.callee()
        _ = callee.request(1, Machines.stream)
        _ = callee.request(2)
        let actions = callee.drain(now: FakeTime.at(10))
        let fault = WireFault(code: "unavailable", message: "The callee leaves.", retryable: true)
        #expect(actions.dropFirst() == [.stopWork(callID: 1), .send(Frame(kind: .streamEnd(StreamEnd(callID: 1, fault: fault))))])
        #expect(callee.callsInFlight == 1)
    }

    @Test func calleeGivesUpWorkAfterTheDrainTime() {
        var callee = Machines.callee { $0.drainTimeout = .seconds(10) }
        _ = callee.request(1)
        _ = callee.drain(now: FakeTime.at(0))
        #expect(callee.nextTimer == FakeTime.at(10_000))
        #expect(callee.advance(to: FakeTime.at(9_999)) == [])
        #expect(callee.advance(to: FakeTime.at(10_000)) == [.stopWork(callID: 1), .close(.drainTimeout)])
    }

    @Test func callerGetsBackWhatWasNotBegun() throws {
        var caller = Machines.caller()
        for _ in 0..<3 { _ = try caller.begin() }
        let actions = caller.receiveGoAway(GoAway(lastCallID: 1, code: "shutdown", message: "bye"), now: FakeTime.at(5))
        #expect(actions.first == .peerLeaves(code: "shutdown", message: "bye"))
        #expect(actions.failures.map(\.callID) == [2, 3])
        #expect(actions.failures.allSatisfy { !$0.mayHaveBegun && $0.code == .unavailable })
        #expect(actions.close == nil)
        #expect { try caller.begin() } throws: { ($0 as? Fault)?.code == .unavailable }
        #expect(caller.receiveResponse(callID: 1, isFault: false).isDelivered)
        #expect(caller.advance(to: FakeTime.at(6)) == [.close(.drained)])
    }

    @Test func callerClosesAtOnceWhenNothingIsInFlight() {
        var caller = Machines.caller()
        #expect(
            caller.receiveGoAway(GoAway(code: "shutdown"), now: FakeTime.at(5)) == [.peerLeaves(code: "shutdown", message: ""), .close(.drained)])
    }

    @Test func aSecondGoAwayCanOnlyTakeMoreBack() throws {
        var caller = Machines.caller()
        for _ in 0..<3 { _ = try caller.begin() }
        #expect(caller.receiveGoAway(GoAway(lastCallID: 2, code: "shutdown"), now: FakeTime.at(5)).failures.map(\.callID) == [3])
        #expect(caller.receiveGoAway(GoAway(lastCallID: 9, code: "shutdown"), now: FakeTime.at(6)) == [])
        #expect(caller.receiveGoAway(GoAway(lastCallID: 1, code: "shutdown"), now: FakeTime.at(7)).failures.map(\.callID) == [2])
    }

    @Test func callerGivesUpAPeerThatLeavesAndDoesNotAnswer() throws {
        var caller = Machines.caller { $0.drainTimeout = .seconds(10) }
        _ = try caller.begin()
        _ = caller.receiveGoAway(GoAway(lastCallID: 1, code: "shutdown"), now: FakeTime.at(0))
        #expect(caller.nextTimer == FakeTime.at(10_000))
        let actions = caller.advance(to: FakeTime.at(10_000))
        #expect(actions.failures.map(\.mayHaveBegun) == [true])
        #expect(actions.close == .drainTimeout)
    }

    @Test func callerWaitsForItsAnswersWhenItLeaves() throws {
        var caller = Machines.caller()
        let call = try caller.begin()
        let stream = try caller.begin(isStream: true)
        let actions = caller.drain(now: FakeTime.at(5))
        #expect(actions.goAway == GoAway(lastCallID: 0, code: "shutdown"))
        #expect(actions.failures.map(\.callID) == [stream])
        #expect(actions.frames.last == .cancel(Cancel(callID: stream)))
        #expect(actions.close == nil)
        #expect { try caller.begin() } throws: { ($0 as? Fault)?.code == .unavailable }
        #expect(caller.receiveResponse(callID: call, isFault: false).isDelivered)
        #expect(caller.advance(to: FakeTime.at(6)) == [.close(.drained)])
    }

    @Test func calleeClosesWhenALeavingCallerIsAnswered() {
        var callee = Machines.callee()
        _ = callee.request(1)
        #expect(callee.receiveGoAway(GoAway(code: "shutdown"), now: FakeTime.at(5)) == [.peerLeaves(code: "shutdown", message: "")])
        #expect(callee.respond(1) == true)
        #expect(callee.advance(to: FakeTime.at(6)) == [.close(.drained)])
    }

    @Test func refusesACallAfterTheCallersGoAway() {
        var callee = Machines.callee()
        _ = callee.request(1)
        _ = callee.receiveGoAway(GoAway(code: "shutdown"), now: FakeTime.at(5))
        #expect(callee.request(2).violation?.refuses(.protocolError) == true)
    }

    @Test func aSlowReaderIsSentAway() {
        var callee = Machines.callee()
        _ = callee.request(1, Machines.stream)
        let actions = callee.refuse(.slowReader, "1 MiB waits.")
        #expect(actions.refuses(.slowReader))
        #expect(actions.contains(.stopWork(callID: 1)))
    }

    @Test func bytesThatAreNoFrameEndTheConnection() {
        var callee = Machines.callee()
        #expect(callee.refuse(FrameRejection.tooLarge(byteCount: 2, limit: 1)).refuses(.frameTooLarge))
        callee = Machines.callee()
        #expect(callee.refuse(FrameRejection.malformed).refuses(.protocolError))
    }

    @Test func nothingHappensAfterTheClose() throws {
        var callee = Machines.callee()
        _ = callee.connectionLost()
        #expect(callee.receiveHello(Machines.hello, now: FakeTime.at(1)) == [])
        #expect(callee.receivePing(nonce: 1) == [])
        #expect(callee.receivePong(nonce: 1) == [])
        #expect(callee.receiveCancel(callID: 1) == [])
        #expect(callee.receiveGoAway(GoAway(), now: FakeTime.at(1)) == [])
        #expect(callee.drain(now: FakeTime.at(1)) == [])
        #expect(callee.refuse(.protocolError, "") == [])
        #expect(callee.advance(to: FakeTime.at(1_000_000)) == [])
        #expect(callee.nextTimer == nil)
    }
}
