internal import ContractRuntime
internal import Faults
internal import Frames

/// One side of a connection whose peer sends arbitrary bytes. It obeys the state machine as the real shell does, and checks what must always hold.
struct FuzzedConnection: ~Copyable {
    private static let maxFrameBytes = 64 * 1024
    private static let methods = MethodTable([("boxoffice.platform.v1.Health", "Check"), ("boxoffice.platform.v1.Health", "Watch"), ("s", "m")])

    private let readSize: Int
    private let isCaller: Bool
    private var decoder = FrameDecoder(maxFrameBytes: maxFrameBytes)
    private var machine: ConnectionStateMachine
    private var now = ContinuousClock.now
    private var pending: [UInt8] = []
    private var hasClosed = false
    private var inFlight: Set<UInt64> = []

    init(choice: UInt8) {
        readSize = 1 + Int(choice & 0x3f) * 7
        isCaller = choice & 0x80 != 0
        var settings = ConnectionSettings(software: "fuzz", softwareVersion: "1")
        settings.maxCallsInFlight = 4
        let rules = [MethodRule(isStream: false), MethodRule(isStream: true), MethodRule(isStream: false, maxCallsInFlight: 1)]
        machine = isCaller ? .caller(settings, now: now) : .callee(settings, methods: rules, now: now)
        if choice & 0x40 != 0 {
            obey(machine.start(now: now))
            obey(machine.receiveHello(Hello(protocolVersion: 1, maxFrameBytes: 65_536, maxCallsInFlight: 8), now: now))
        }
    }

    mutating func run(_ bytes: [UInt8]) {
        obey(machine.start(now: now))
        for start in stride(from: 0, to: bytes.count, by: readSize) {
            pending += bytes[start..<min(start + readSize, bytes.count)]
            machine.heard(now: now)
            beginCalls()
            read()
            now = now.advanced(by: .milliseconds(700))
            obey(machine.advance(to: now))
            if let next = machine.nextTimer { check(!machine.isClosed && next.advanced(by: .seconds(400)) > now, "a timer long past") }
        }
        obey(machine.drain(now: now))
        obey(machine.advance(to: now.advanced(by: .seconds(60))))
        obey(machine.connectionLost())
        check(machine.isClosed && machine.callsInFlight == 0 && machine.nextTimer == nil, "something is left after the end")
        check(inFlight.isEmpty, "a call never ended")
    }

    private mutating func read() {
        let bytes = pending
        bytes.withUnsafeBytes { raw in
            var rest = raw
            do throws(FrameViolation) {
                while let frame = try decoder.next(&rest) { take(frame) }
            } catch {
                obey(machine.refuse(error))
            }
            pending.removeFirst(raw.count - rest.count)
        }
        if hasClosed { pending = [] }
    }

    private mutating func take(_ frame: FrameView) {
        Reencoding.check(frame)
        switch frame {
        case .hello(let hello): obey(machine.receiveHello(hello, now: now))
        case .ping(let nonce): obey(machine.receivePing(nonce: nonce))
        case .pong(let nonce): obey(machine.receivePong(nonce: nonce))
        case .goAway(let goAway): obey(machine.receiveGoAway(goAway, now: now))
        case .cancel(let callID): obey(machine.receiveCancel(callID: callID))
        case .request(let request): answer(request)
        case .response(let response):
            deliver(response.callID, machine.receiveResponse(callID: response.callID, isFault: response.isFault), isLast: true)
        case .streamItem(let item): deliver(item.callID, machine.receiveStreamItem(callID: item.callID), isLast: false)
        case .streamEnd(let end): deliver(end.callID, machine.receiveStreamEnd(callID: end.callID), isLast: true)
        }
    }

    private mutating func answer(_ request: RequestView) {
        let index = Self.methods.index(service: request.service, method: request.method)
        let admission = machine.receiveRequest(
            callID: request.callID, method: index.map { .offered($0) } ?? .unknown, timeoutMicroseconds: request.timeoutMicroseconds, arrival: now,
            now: now)
        switch admission {
        case .begin:
            check(inFlight.insert(request.callID).inserted, "a call begun twice")
            if request.callID % 3 == 0, machine.respond(request.callID) { inFlight.remove(request.callID) }
        case .refuse, .drop: break
        case .violation(let actions): obey(actions)
        }
    }

    private mutating func beginCalls() {
        guard isCaller, let id = try? machine.beginCall(deadline: now.advanced(by: .seconds(2)), isStream: inFlight.count % 2 == 1, now: now)
        else { return }
        check(inFlight.insert(id).inserted, "an id used twice")
        if id % 5 == 0 {
            obey(machine.cancelCall(id))
            inFlight.remove(id)
        }
    }

    private mutating func deliver(_ callID: UInt64, _ verdict: ReplyVerdict, isLast: Bool) {
        switch verdict {
        case .deliver:
            check(inFlight.contains(callID), "an answer for nobody")
            if isLast { inFlight.remove(callID) }
        case .drop: break
        case .violation(let actions): obey(actions)
        }
    }

    private mutating func obey(_ actions: [ConnectionAction]) {
        for action in actions {
            check(!hasClosed, "an action after the close")
            switch action {
            case .send(let frame): check((try? FrameEncoder.encoded(frame)) != nil, "a frame that cannot be sent")
            case .fail(let failure): check(inFlight.remove(failure.callID) != nil, "a failure for nobody")
            case .stopWork(let callID): check(inFlight.remove(callID) != nil, "stopped work that was not begun")
            case .close: hasClosed = true
            case .opened, .peerLeaves: break
            }
        }
    }

    private func check(_ condition: Bool, _ what: StaticString) { precondition(condition, "\(what)") }
}
