import Faults
import Testing
import Frames

@Suite struct CallerTests {
    @Test func idsRiseFromOne() throws {
        var caller = Machines.caller()
        #expect(try caller.begin() == 1)
        #expect(try caller.begin() == 2)
        #expect(caller.receiveResponse(callID: 1, isFault: false).isDelivered)
        #expect(try caller.begin() == 3)
        #expect(caller.callsInFlight == 2)
    }

    @Test func makesNoCallBeforeThePeersHello() {
        var caller = Machines.newCaller()
        _ = caller.start(now: FakeTime.at(0))
        #expect { try caller.begin() } throws: { ($0 as? Fault)?.code == .unavailable }
    }

    @Test("makes no more calls than the peer takes, nor than it is set to", arguments: [3, 2])
    func respectsTheLimits(_ own: Int) throws {
        var caller = Machines.caller { $0.maxCallsInFlight = own }
        for _ in 0..<own { _ = try caller.begin() }
        #expect { try caller.begin() } throws: { ($0 as? Fault)?.code == .overloaded && ($0 as? Fault)?.retryAfter != nil }
        #expect(caller.receiveResponse(callID: 1, isFault: true).isDelivered)
        #expect(throws: Never.self) { _ = try caller.begin() }
    }

    @Test func makesNoCallWhoseTimeIsOver() {
        var caller = Machines.caller()
        #expect { try caller.begin(deadline: 5, at: 5) } throws: { ($0 as? Fault)?.code == .deadlineExceeded }
        #expect(caller.callsInFlight == 0)
    }

    @Test func anAnswerComesOnce() throws {
        var caller = Machines.caller()
        let id = try caller.begin()
        #expect(caller.receiveResponse(callID: id, isFault: false).isDelivered)
        #expect(caller.receiveResponse(callID: id, isFault: false).violation?.refuses(.protocolError) == true)
    }

    @Test func refusesAnAnswerToACallThatWasNotMade() {
        var caller = Machines.caller()
        #expect(caller.receiveResponse(callID: 7, isFault: false).violation?.refuses(.protocolError) == true)
    }

    @Test func dropsWhatComesForACallThatItCancelled() throws {
        var caller = Machines.caller()
        let call = try caller.begin()
        let stream = try caller.begin(isStream: true)
        #expect(caller.cancelCall(call) == [.send(Frame(kind: .cancel(Cancel(callID: call))))])
        #expect(caller.cancelCall(call) == [])
        _ = caller.cancelCall(stream)
        #expect(caller.receiveResponse(callID: call, isFault: false).isDropped)
        #expect(caller.receiveStreamItem(callID: stream).isDropped)
        #expect(caller.receiveStreamEnd(callID: stream).isDropped)
        #expect(caller.callsInFlight == 0)
    }

    @Test func failsACallAtItsDeadlineAndTellsTheCallee() throws {
        var caller = Machines.caller()
        let id = try caller.begin(deadline: 30)
        #expect(caller.nextTimer == FakeTime.at(30))
        #expect(caller.advance(to: FakeTime.at(29)) == [])
        let actions = caller.advance(to: FakeTime.at(31))
        #expect(actions.failures.map(\.code) == [.deadlineExceeded])
        #expect(actions.failures.map(\.mayHaveBegun) == [true])
        #expect(actions.frames == [.cancel(Cancel(callID: id))])
        #expect(caller.receiveResponse(callID: id, isFault: true).isDropped)
    }

    @Test func aCallThatWasNotSentLeavesNoTrace() throws {
        var caller = Machines.caller()
        caller.abandonCall(try caller.begin())
        #expect(caller.callsInFlight == 0)
        #expect(caller.connectionLost().failures == [])
    }

    @Test func followsAStreamToItsEnd() throws {
        var caller = Machines.caller()
        let id = try caller.begin(isStream: true)
        for _ in 0..<3 { #expect(caller.receiveStreamItem(callID: id).isDelivered) }
        #expect(caller.receiveStreamEnd(callID: id).isDelivered)
        #expect(caller.receiveStreamItem(callID: id).violation?.refuses(.protocolError) == true)
    }

    @Test("a stream may be refused by a response with a fault, not answered by one with a payload")
    func responseToAStream() throws {
        var caller = Machines.caller()
        let refused = try caller.begin(isStream: true)
        #expect(caller.receiveResponse(callID: refused, isFault: true).isDelivered)
        #expect(caller.receiveResponse(callID: try caller.begin(isStream: true), isFault: false).violation?.refuses(.protocolError) == true)
    }

    @Test func refusesAStreamForACallWithOneAnswer() throws {
        var caller = Machines.caller()
        let answered = try caller.begin()
        #expect(caller.receiveStreamItem(callID: answered).violation?.refuses(.protocolError) == true)
        caller = Machines.caller()
        let call = try caller.begin()
        #expect(caller.receiveStreamEnd(callID: call).violation?.refuses(.protocolError) == true)
    }

    @Test func refusesWhatOnlyACallerSends() {
        var caller = Machines.caller()
        #expect(caller.request(1).violation?.refuses(.protocolError) == true)
        caller = Machines.caller()
        #expect(caller.receiveCancel(callID: 1).refuses(.protocolError))
    }

    @Test func everyCallFailsWhenTheConnectionBreaks() throws {
        var caller = Machines.caller()
        _ = try caller.begin()
        _ = try caller.begin(isStream: true)
        let actions = caller.connectionLost()
        #expect(actions.failures.map(\.callID) == [1, 2])
        #expect(actions.failures.allSatisfy { $0.mayHaveBegun && $0.fault.code == .unavailable && $0.fault.isRetryable })
        #expect(actions.last == .close(.lost))
        #expect(!caller.takesNewCalls)
        #expect(caller.receiveResponse(callID: 1, isFault: false).isDropped)
    }
}
