import Testing
import Frames

@Suite struct GreetingTests {
    @Test func calleeSaysWhatItOffersAndTakes() throws {
        var callee = Machines.newCallee {
            $0.maxCallsInFlight = 5
            $0.idleTimeout = .seconds(2)
        }
        let frames = callee.start(now: FakeTime.at(0)).frames
        let hello = Hello(
            protocolVersion: 1, software: "test", softwareVersion: "1", maxFrameBytes: 4_194_304, maxCallsInFlight: 5, idleTimeoutMilliseconds: 2000,
            services: ["a.B"])
        #expect(frames == [.hello(hello)])
    }

    @Test func callerTakesNoCalls() {
        var caller = Machines.newCaller()
        guard case .hello(let hello)? = caller.start(now: FakeTime.at(0)).frames.first else {
            Issue.record("no hello")
            return
        }
        #expect(hello.maxCallsInFlight == 0)
    }

    @Test func startsOnce() {
        var caller = Machines.newCaller()
        #expect(caller.start(now: FakeTime.at(0)).count == 1)
        #expect(caller.start(now: FakeTime.at(0)) == [])
    }

    @Test func opensWithThePeersHello() {
        var caller = Machines.newCaller()
        _ = caller.start(now: FakeTime.at(0))
        #expect(!caller.takesNewCalls)
        #expect(caller.receiveHello(Machines.hello, now: FakeTime.at(1)) == [.opened(Machines.hello)])
        #expect(caller.takesNewCalls)
        #expect(caller.peer == Machines.hello)
    }

    @Test("refuses another protocol version", arguments: [0, 2] as [UInt32])
    func refusesAnotherVersion(_ version: UInt32) {
        var callee = Machines.newCallee()
        _ = callee.start(now: FakeTime.at(0))
        #expect(callee.receiveHello(Hello(protocolVersion: version, maxFrameBytes: 65_536), now: FakeTime.at(1)).refuses(.unsupportedVersion))
        #expect(callee.isClosed)
    }

    @Test func refusesAPeerThatTakesOnlyTinyFrames() {
        var callee = Machines.newCallee()
        _ = callee.start(now: FakeTime.at(0))
        #expect(callee.receiveHello(Hello(protocolVersion: 1, maxFrameBytes: 1023), now: FakeTime.at(1)).refuses(.protocolError))
    }

    @Test func refusesASecondHello() {
        var callee = Machines.callee()
        #expect(callee.receiveHello(Machines.hello, now: FakeTime.at(1)).refuses(.protocolError))
    }

    @Test("refuses every other frame before the hello")
    func refusesFramesBeforeTheHello() {
        func greeting() -> ConnectionStateMachine {
            var callee = Machines.newCallee()
            _ = callee.start(now: FakeTime.at(0))
            return callee
        }
        var machine = greeting()
        #expect(machine.request(1).violation?.refuses(.protocolError) == true)
        machine = greeting()
        #expect(machine.receivePing(nonce: 1).refuses(.protocolError))
        machine = greeting()
        #expect(machine.receivePong(nonce: 1).refuses(.protocolError))
        machine = greeting()
        #expect(machine.receiveCancel(callID: 1).refuses(.protocolError))
        machine = greeting()
        #expect(machine.receiveResponse(callID: 1, isFault: false).violation?.refuses(.protocolError) == true)
        machine = greeting()
        #expect(machine.receiveStreamItem(callID: 1).violation?.refuses(.protocolError) == true)
        machine = greeting()
        #expect(machine.receiveStreamEnd(callID: 1).violation?.refuses(.protocolError) == true)
    }

    @Test func givesUpAPeerThatDoesNotSayHello() {
        var callee = Machines.newCallee { $0.helloTimeout = .seconds(5) }
        _ = callee.start(now: FakeTime.at(0))
        #expect(callee.nextTimer == FakeTime.at(5000))
        #expect(callee.advance(to: FakeTime.at(4999)) == [])
        let actions = callee.advance(to: FakeTime.at(5000))
        #expect(actions.goAway?.code == "protocol_error")
        #expect(actions.close == .helloTimeout)
        #expect(callee.nextTimer == nil)
    }

    @Test("a go-away may come instead of a hello: the peer has too many connections")
    func goAwayInsteadOfHello() {
        var caller = Machines.newCaller()
        _ = caller.start(now: FakeTime.at(0))
        let actions = caller.receiveGoAway(GoAway(code: "too_many_connections", message: "100"), now: FakeTime.at(1))
        #expect(actions == [.peerLeaves(code: "too_many_connections", message: "100"), .close(.drained)])
    }

    @Test func refusesAConnectionAboveTheLimitAtOnce() {
        var callee = Machines.newCallee()
        _ = callee.start(now: FakeTime.at(0))
        #expect(callee.refuse(.tooManyConnections, "100").refuses(.tooManyConnections))
        #expect(callee.receiveHello(Machines.hello, now: FakeTime.at(1)) == [])
    }

    @Test func aDrainBeforeTheHelloJustCloses() {
        var callee = Machines.newCallee()
        _ = callee.start(now: FakeTime.at(0))
        #expect(callee.drain(now: FakeTime.at(1)) == [.close(.drained)])
    }
}
