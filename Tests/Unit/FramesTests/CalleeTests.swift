import Faults
import Testing
import Frames

@Suite struct CalleeTests {
    @Test func answersACall() {
        var callee = Machines.callee()
        #expect(callee.request(1).isBegun)
        #expect(callee.callsInFlight == 1)
        #expect(callee.respond(1) == true)
        #expect(callee.callsInFlight == 0)
        #expect(callee.respond(1) == false)
    }

    @Test func answersInAnyOrder() {
        var callee = Machines.callee()
        for id in 1...3 as ClosedRange<UInt64> { #expect(callee.request(id * 10).isBegun) }
        for id in [20, 10, 30] as [UInt64] { #expect(callee.respond(id) == true) }
    }

    @Test("refuses a call id that is not greater than the last", arguments: [0, 4, 5] as [UInt64])
    func refusesAnIdThatGoesBack(_ id: UInt64) {
        var callee = Machines.callee()
        _ = callee.request(5)
        let actions = callee.request(id).violation
        #expect(actions?.refuses(.protocolError) == true)
        #expect(actions?.goAway?.lastCallID == 5)
        #expect(actions?.contains(.stopWork(callID: 5)) == true)
    }

    @Test func refusesAnUnknownMethodAndServesOn() {
        var callee = Machines.callee()
        let verdict = callee.receiveRequest(callID: 1, method: .unknown, timeoutMicroseconds: 0, arrival: FakeTime.at(0), now: FakeTime.at(0))
        #expect(verdict.refusal?.code == .unimplemented)
        #expect(callee.request(2).isBegun)
    }

    @Test func refusesACallerThatIsNotOnTheListAndServesOn() {
        var callee = Machines.callee()
        let verdict = callee.receiveRequest(callID: 1, method: .notPermitted, timeoutMicroseconds: 0, arrival: FakeTime.at(0), now: FakeTime.at(0))
        #expect(verdict.refusal?.code == .permissionDenied)
        #expect(callee.request(2).isBegun)
    }

    @Test func overTheConnectionsLimitItIsOverloadedWithAdvice() {
        var callee = Machines.callee {
            $0.maxCallsInFlight = 2
            $0.overloadedRetryAfter = .milliseconds(70)
        }
        #expect(callee.request(1).isBegun)
        #expect(callee.request(2, Machines.stream).isBegun)
        let refusal = callee.request(3).refusal
        #expect(refusal?.code == .overloaded)
        #expect(refusal?.retryAfter == .milliseconds(70))
        #expect(callee.respond(1) == true)
        #expect(callee.request(4).isBegun)
    }

    @Test func overTheMethodsLimitOnlyTheMethodIsOverloaded() {
        var callee = Machines.callee()
        #expect(callee.request(1, Machines.narrow).isBegun)
        #expect(callee.request(2, Machines.narrow).refusal?.code == .overloaded)
        #expect(callee.request(3).isBegun)
        #expect(callee.receiveCancel(callID: 1) == [.stopWork(callID: 1)])
        #expect(callee.request(4, Machines.narrow).isBegun)
    }

    @Test func refusesACallWhoseTimeWasOverOnArrival() {
        var callee = Machines.callee()
        let verdict = callee.receiveRequest(
            callID: 1, method: .offered(0), timeoutMicroseconds: 1000, arrival: FakeTime.at(0), now: FakeTime.at(1))
        #expect(verdict.refusal?.code == .deadlineExceeded)
        #expect(callee.callsInFlight == 0)
    }

    @Test func answersAndStopsACallAtItsDeadline() {
        var callee = Machines.callee()
        guard case .begin(let deadline) = callee.request(1, timeoutMicroseconds: 20_000) else {
            Issue.record("not begun")
            return
        }
        #expect(deadline == FakeTime.at(20))
        #expect(callee.nextTimer == FakeTime.at(20))
        #expect(callee.advance(to: FakeTime.at(19)) == [])
        let actions = callee.advance(to: FakeTime.at(20))
        let fault = WireFault(code: "deadline_exceeded", message: "The deadline is over.", retryable: true)
        #expect(actions == [.stopWork(callID: 1), .send(Frame(kind: .response(Response(callID: 1, outcome: .fault(fault)))))])
        #expect(callee.respond(1) == false)
        #expect(callee.nextTimer == nil)
    }

    @Test func endsAStreamAtItsDeadline() {
        var callee = Machines.callee()
        #expect(callee.request(1, Machines.stream, timeoutMicroseconds: 20_000).isBegun)
        #expect(callee.sendsItem(1))
        let actions = callee.advance(to: FakeTime.at(20))
        guard case .streamEnd(let end)? = actions.frames.first else {
            Issue.record("no stream end")
            return
        }
        #expect(end.fault?.code == "deadline_exceeded")
        #expect(!callee.sendsItem(1))
        #expect(callee.endStream(1) == false)
    }

    @Test func keepsTheEarliestDeadlineOfThoseLeft() {
        var callee = Machines.callee()
        for (id, milliseconds) in [(1, 30), (2, 10), (3, 20), (4, 10)] as [(UInt64, UInt64)] {
            _ = callee.request(id, timeoutMicroseconds: milliseconds * 1000)
        }
        #expect(callee.nextTimer == FakeTime.at(10))
        #expect(callee.advance(to: FakeTime.at(10)).frames.count == 2)
        #expect(callee.nextTimer == FakeTime.at(20))
        #expect(callee.respond(3) == true)
        #expect(callee.advance(to: FakeTime.at(20)) == [])
        #expect(callee.nextTimer == FakeTime.at(30))
    }

    @Test func theLongestTimeoutDoesNotOverflow() {
        var callee = Machines.callee()
        #expect(callee.request(1, timeoutMicroseconds: .max).isBegun)
        #expect(callee.advance(to: FakeTime.at(1_000_000_000)) == [])
    }

    @Test func sendsAStreamUntilItsEnd() {
        var callee = Machines.callee()
        #expect(callee.request(1, Machines.stream).isBegun)
        #expect(callee.sendsItem(1))
        #expect(callee.endStream(1) == true)
        #expect(!callee.sendsItem(1))
    }

    @Test func stopsTheWorkOfACancelledCallAndSendsNothingMore() {
        var callee = Machines.callee()
        _ = callee.request(1)
        #expect(callee.receiveCancel(callID: 1) == [.stopWork(callID: 1)])
        #expect(callee.respond(1) == false)
    }

    @Test func ignoresACancelThatCrossedTheAnswer() {
        var callee = Machines.callee()
        _ = callee.request(1)
        _ = callee.respond(1)
        #expect(callee.receiveCancel(callID: 1) == [])
    }

    @Test("refuses a cancel of a call that was never made", arguments: [0, 2] as [UInt64])
    func refusesACancelOfNoCall(_ id: UInt64) {
        var callee = Machines.callee()
        _ = callee.request(1)
        #expect(callee.receiveCancel(callID: id).refuses(.protocolError))
    }

    @Test func refusesWhatOnlyACalleeSends() {
        for what in 0..<3 {
            var callee = Machines.callee()
            let verdict: ReplyVerdict
            switch what {
            case 0: verdict = callee.receiveResponse(callID: 1, isFault: false)
            case 1: verdict = callee.receiveStreamItem(callID: 1)
            default: verdict = callee.receiveStreamEnd(callID: 1)
            }
            #expect(verdict.violation?.refuses(.protocolError) == true)
        }
    }

    @Test func stopsAllWorkWhenTheConnectionBreaks() {
        var callee = Machines.callee()
        _ = callee.request(1)
        _ = callee.request(2, Machines.stream)
        #expect(callee.connectionLost() == [.stopWork(callID: 1), .stopWork(callID: 2), .close(.lost)])
        #expect(callee.connectionLost() == [])
        #expect(callee.respond(1) == false)
        #expect(callee.request(3).isDropped)
    }
}
