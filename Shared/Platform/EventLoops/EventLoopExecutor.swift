public import NIOCore

/// Runs tasks on one event loop. A call or request that waits for nothing from elsewhere is read, answered and written without a change of thread.
public final class EventLoopExecutor: TaskExecutor {
    public let eventLoop: any EventLoop

    /// - Parameter eventLoop: Runs each job after those that it has.
    public init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
