internal import ContractRuntime
internal import Faults
internal import Frames

/// One side of a connection whose peer sends arbitrary bytes. It obeys the state machine as the real shell does, and checks what must always hold.
///
/// Like the shell it has one encoder for the life of the connection. An array and an encoder for each frame would take most of an input's time.
struct FuzzedConnection: ~Copyable {
    private static let maxFrameBytes = 64 * 1024
    private static let maxCallsInFlight = 4
    /// Moments at which the machine is told the time, and the caller makes a call: small reads are many, and most bring no frame.
    private static let mostSteps = 12
    /// Times that a timer may be found past at one moment: a ping, then that the connection was idle for too long.
    private static let mostTurns = 3
    /// Steps that still come after the close: nothing may follow it.
    private static let stepsAfterClose = 2
    private static let methods = MethodTable([("boxoffice.platform.v1.Health", "Check"), ("boxoffice.platform.v1.Health", "Watch"), ("s", "m")])

    private let readSize: Int
    private let isCaller: Bool
    /// Time that passes in a step: from less than any deadline to more than any of the machine's timers.
    private let step: Duration
    private var decoder = FrameDecoder(maxFrameBytes: maxFrameBytes)
    private var machine: ConnectionStateMachine
    private var reencoding = Reencoding()
    private var now = ContinuousClock.now
    private var hasClosed = false
    private var inFlight: Set<UInt64> = []

    /// - Parameters:
    ///   - choice: Bit 7: a caller; bit 6: the hello is over; the rest: the size of reads.
    ///   - pace: How fast time passes.
    init(choice: UInt8, pace: UInt8) {
        readSize = 1 + Int(choice & 0x3f) * 7
        isCaller = choice & 0x80 != 0
        step = .milliseconds(50 << (2 * Int64(pace & 7)))
        var settings = ConnectionSettings(software: "fuzz", softwareVersion: "1")
        settings.maxCallsInFlight = Self.maxCallsInFlight
        let rules = [MethodRule(isStream: false), MethodRule(isStream: true), MethodRule(isStream: false, maxCallsInFlight: 1)]
        machine = isCaller ? .caller(settings, now: now) : .callee(settings, methods: rules, now: now)
        if choice & 0x40 != 0 {
            obey(machine.start(now: now))
            obey(machine.receiveHello(Hello(protocolVersion: 1, maxFrameBytes: 65_536, maxCallsInFlight: 8), now: now))
        }
    }

    mutating func run(_ bytes: UnsafeRawBufferPointer) {
        obey(machine.start(now: now))
        let reads = (bytes.count + readSize - 1) / readSize
        let readsPerStep = max(1, (reads + Self.mostSteps - 1) / Self.mostSteps)
        var kept = 0
        var late = 0
        // A reader that goes behind the received octets is caught.
        hideBytes(bytes.baseAddress, bytes.count)
        defer { showBytes(bytes.baseAddress, bytes.count) }
        for index in 0..<reads where late <= Self.stepsAfterClose {
            if index % readsPerStep == 0 {
                machine.heard(now: now)
                beginCall()
            }
            let end = min((index + 1) * readSize, bytes.count)
            showBytes(bytes.baseAddress.map { $0 + index * readSize }, end - index * readSize)
            kept = read(bytes, from: kept, to: end)
            if (index + 1) % readsPerStep == 0 {
                pass()
                if hasClosed { late += 1 }
            }
        }
        obey(machine.drain(now: now))
        obey(machine.advance(to: now.advanced(by: .seconds(60))))
        obey(machine.connectionLost())
        check(machine.isClosed && machine.callsInFlight == 0 && machine.nextTimer == nil, "something is left after the end")
        check(inFlight.isEmpty, "a call never ended")
    }

    private mutating func pass() {
        now = now.advanced(by: step)
        obey(machine.advance(to: now))
        // The shell sets a timer that is past already, and is called back at once; that must come to an end.
        var turns = 0
        while let next = machine.nextTimer, next <= now, turns < Self.mostTurns {
            obey(machine.advance(to: now))
            turns += 1
        }
        check(turns < Self.mostTurns, "a timer that stays in the past")
    }

    /// - Returns: Up to where the bytes are decoded.
    private mutating func read(_ bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
        var rest = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        do throws(FrameRejection) {
            while let frame = try decoder.next(&rest) { take(frame) }
        } catch {
            obey(machine.refuse(error))
        }
        return hasClosed ? end : end - rest.count
    }

    private mutating func take(_ frame: FrameView) {
        reencoding.check(frame)
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

    private mutating func beginCall() {
        guard isCaller else { return }
        guard let id = try? machine.beginCall(deadline: now.advanced(by: .seconds(2)), isStream: inFlight.count % 2 == 1, now: now) else {
            return
        }
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
            case .send(let frame): check(reencoding.canSend(frame), "a frame that cannot be sent")
            case .fail(let failure): check(inFlight.remove(failure.callID) != nil, "a failure for nobody")
            case .stopWork(let callID): check(inFlight.remove(callID) != nil, "stopped work that was not begun")
            case .close: hasClosed = true
            case .opened, .peerLeaves: break
            }
        }
    }

    /// Unlike a precondition it says what, also in an optimised build.
    private func check(_ condition: Bool, _ what: StaticString) { if !condition { fatalError("\(what)") } }
}

/// The address sanitizer's: bytes that may not be read, and bytes that may.
@_silgen_name("__asan_poison_memory_region")
private func hideBytes(_ start: UnsafeRawPointer?, _ count: Int)
@_silgen_name("__asan_unpoison_memory_region")
private func showBytes(_ start: UnsafeRawPointer?, _ count: Int)
