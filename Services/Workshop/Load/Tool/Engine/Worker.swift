internal import LoadReporting
internal import NIOCore
internal import NIOPosix

/// One thread's part of a run: begins iterations when they are due, sends their calls, and takes the times.
///
/// It does no I/O and has no timer of its own: its owner calls `wake` at the moment that `wake` returned, or earlier. All on one thread.
public final class Worker: CallSink {
    struct Slot {
        var user: User
        var call = Call(operation: 0, payload: [])
        /// When its call, or its next step after a pause, was due.
        var due: Nanoseconds = 0
        var sentAt: Nanoseconds = 0
        var iterationDue: Nanoseconds = 0
        /// The iteration's calls are counted here; `nil`: nowhere, as within the warm-up.
        var tally: Int?
        var isActive = false
    }

    let settings: WorkerSettings
    let workload: any Workload
    let transport: any CallTransport
    let clock: () -> Nanoseconds
    /// Called when `wake` must come earlier than was said before.
    public var wakeEarlier: ((Nanoseconds) -> Void)?

    var slots: [Slot] = []
    var free: [Int] = []
    var waiting = SlotQueue()
    var pauses = PauseQueue()
    var schedule: ArrivalSchedule?
    var begun = 0
    var begunMeasured = 0
    var activeSlots = 0
    /// The start of the warm-up, and of the measured part.
    var start: Nanoseconds = 0
    var measuredFrom: Nanoseconds = 0
    var hasStopped = false
    var armed: Nanoseconds = .max
    /// Closed loop: when to check whether further users begin.
    var usersDue: Nanoseconds?
    var wantedUsers = 0
    private let stages: [LoadPlan.Stage]

    var tallies: [Tally]
    var operations: [OperationRecord]
    var interval = Interval()

    /// - Parameter clock: The moment now.
    public init(_ settings: WorkerSettings, workload: any Workload, transport: any CallTransport, clock: @escaping () -> Nanoseconds) {
        self.settings = settings
        self.workload = workload
        self.transport = transport
        self.clock = clock
        stages = settings.plan.allStages
        tallies = Array(repeating: Tally(), count: settings.plan.isRamp ? settings.plan.stages.count : 1)
        operations = workload.operations.map { _ in OperationRecord() }
        transport.sink = self
    }

    /// Iterations that are under way.
    public var outstanding: Int { activeSlots }

    /// True when nothing is under way, and nothing will be.
    public var isFinished: Bool { activeSlots == 0 && (hasStopped || isExhausted) }

    /// Begins the run: the warm-up starts at this moment.
    public func start(at moment: Nanoseconds) {
        start = moment
        measuredFrom = moment + settings.plan.warmUp
        usersDue = moment
        guard case .open(let isPoisson) = settings.loop else { return }
        usersDue = nil
        schedule = ArrivalSchedule(
            stages, share: 1 / Double(settings.workers), phase: (Double(settings.index) + 0.5) / Double(settings.workers),
            isPoisson: isPoisson, seed: settings.seed &+ UInt64(settings.index) &* 0x5851_f42d_4c95_7f2d)
    }

    /// Does what is due.
    /// - Returns: When to call again at the latest; `nil`: not before a call ends.
    public func wake() -> Nanoseconds? {
        let now = clock()
        if !hasStopped {
            beginDue(now)
            resumePaused(now)
        }
        sendWaiting(now)
        armed = nextWake(now) ?? .max
        return armed == .max ? nil : armed
    }

    /// No new iterations and no new steps; calls that are due already go on.
    public func stop() {
        hasStopped = true
        schedule = nil
        usersDue = nil
        for slot in pauses.removeAll() { release(slot) }
    }

    /// The end: what is still under way counts as unfinished.
    public func giveUp() {
        stop()
        for slot in slots where slot.isActive {
            if let tally = slot.tally { tallies[tally].unfinished += 1 }
        }
    }

    private func nextWake(_ now: Nanoseconds) -> Nanoseconds? {
        var next = waiting.first.map { slots[$0].due + settings.timeout }
        for moment in [schedule?.next.map { start + $0 }, pauses.earliest, usersDue] {
            if let moment { next = min(next ?? .max, moment) }
        }
        return next
    }

    func pause(_ slot: Int, until moment: Nanoseconds) {
        slots[slot].due = moment
        pauses.insert(slot, until: moment)
        wantWake(moment)
    }

    func wantWake(_ moment: Nanoseconds) {
        guard moment < armed else { return }
        armed = moment
        wakeEarlier?(moment)
    }

    // MARK: Ends of calls

    public func ended(_ ticket: Int, _ answer: Answer, bytes: Int) {
        let now = clock()
        let wasTolerated = answer.failure.map { slots[ticket].call.tolerates.contains($0) } ?? true
        let step = workload.proceed(&slots[ticket].user, answer)
        if !wasTolerated, let code = answer.failure {
            record(ticket, now, failure: code, answer.message, bytes)
        } else if case .failed(let code, let message) = step {
            record(ticket, now, failure: code, message, bytes)
        } else {
            record(ticket, now, failure: nil, "", bytes)
        }
        follow(ticket, step, due: now, now)
        sendWaiting(now)
    }

    public func transportChanged() { sendWaiting(clock()) }
}

/// Threads for the workers of a run, with their connections.
enum WorkerLoops {
    /// Connects on as many threads as the plan has workers, runs, and ends the threads.
    /// - Parameters:
    ///   - connect: Makes a worker's transport and begins to connect it; runs on the event loop. Gets the worker and its number of connections.
    ///   - workload: Makes a worker's workload; runs on the event loop.
    static func run<Transport: CallTransport & Sendable>(
        _ plan: RunPlan, begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void,
        connect: @escaping @Sendable (Int, Int, any EventLoop) -> (Transport, EventLoopFuture<Void>),
        workload: @escaping @Sendable (Int) -> any Workload
    ) async throws -> RunMeasurement {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: plan.workers)
        let outcome: Result<RunMeasurement, any Error>
        do {
            let loops = Array(group.makeIterator()) as [any EventLoop]
            let transports = try await transports(plan, loops, connect)
            let run = LoadRun(plan, eventLoops: loops)
            outcome = .success(
                try await run.measure({ index, _ in (workload(index), transports[index]) }, started: { begun(run, $0) }, progress: progress))
        } catch {
            outcome = .failure(error)
        }
        try await group.shutdownGracefully()
        return try outcome.get()
    }

    private static func transports<Transport: CallTransport & Sendable>(
        _ plan: RunPlan, _ loops: [any EventLoop], _ connect: @escaping @Sendable (Int, Int, any EventLoop) -> (Transport, EventLoopFuture<Void>)
    ) async throws -> [Transport] {
        var transports: [Transport] = []
        for (index, loop) in loops.enumerated() {
            let connections = max(1, WorkerSettings.part(plan.connections, index, loops.count))
            let future: EventLoopFuture<Transport> = loop.flatSubmit {
                let (transport, connected) = connect(index, connections, loop)
                return connected.map { transport }
            }
            transports.append(try await future.get())
        }
        return transports
    }
}

/// A worker on its event loop, with the timer that wakes it.
///
/// `@unchecked Sendable`: what is not `eventLoop` is touched on the event loop only.
final class LoopWorker: @unchecked Sendable {
    /// The shortest time between two wakes by the timer. Calls that come due within it are begun together, and are late by half of it on average.
    static let shortestSleep: Nanoseconds = 25_000

    let eventLoop: any EventLoop
    private var worker: Worker?
    private var timer: NIOScheduledCallback?
    private var lastWake: Nanoseconds = 0
    private var processorTime: Nanoseconds = 0

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// - Parameter make: Runs on the event loop.
    func prepare(_ make: @escaping @Sendable (any EventLoop) -> Worker) async throws {
        try await eventLoop.submit {
            let worker = make(self.eventLoop)
            worker.wakeEarlier = { [unowned self] in self.arm($0) }
            self.worker = worker
        }.get()
    }

    func start(at moment: Nanoseconds) async throws {
        try await onLoop { worker in
            self.processorTime = ThreadTime.now
            worker.start(at: moment)
            self.arm(moment)
        }
    }

    /// Does something with the worker on its thread.
    func onLoop<Result: Sendable>(_ body: @escaping @Sendable (Worker) -> Result) async throws -> Result {
        try await eventLoop.submit {
            guard let worker = self.worker else { throw ChannelError.eof }
            return body(worker)
        }.get()
    }

    /// Processor time that its thread used since the start.
    func usedProcessorTime() async throws -> Nanoseconds {
        try await eventLoop.submit { ThreadTime.now - self.processorTime }.get()
    }

    /// Releases everything.
    func shutDown() async {
        _ = try? await eventLoop.submit {
            self.timer?.cancel()
            self.worker?.wakeEarlier = nil
            self.worker?.transport.shutDown()
            self.worker = nil
        }.get()
    }

    private func arm(_ moment: Nanoseconds) {
        timer?.cancel()
        let earliest = max(moment, lastWake + Self.shortestSleep)
        timer = try? eventLoop.scheduleCallback(at: .uptimeNanoseconds(UInt64(max(0, earliest))), handler: self)
    }
}

extension LoopWorker: NIOScheduledCallbackHandler {
    func handleScheduledCallback(eventLoop: some EventLoop) {
        timer = nil
        guard let worker else { return }
        lastWake = LoadClock.now
        if let next = worker.wake() { arm(next) }
    }
}
