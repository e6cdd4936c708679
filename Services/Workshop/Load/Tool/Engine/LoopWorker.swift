internal import NIOCore

/// A worker on its event loop, with the timer that wakes it.
///
/// `@unchecked Sendable`: what is not `eventLoop` is touched on the event loop only.
final class LoopWorker: @unchecked Sendable {
    /// The shortest time between two wakes by the timer: what comes due within it is begun together, and is late by half of it on average.
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
