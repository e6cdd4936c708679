internal import Foundation
internal import NIOCore

/// The clock of all workers: monotonic, the same that event loops have.
enum LoadClock {
    static var now: Nanoseconds { Nanoseconds(NIODeadline.now().uptimeNanoseconds) }
}

/// Processor time of the thread that asks.
enum ThreadTime {
    static var now: Nanoseconds {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Nanoseconds(time.tv_sec) * .nanosecondsPerSecond + Nanoseconds(time.tv_nsec)
    }

    /// The processor time of the whole process.
    static var process: Nanoseconds {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Nanoseconds(time.tv_sec) * .nanosecondsPerSecond + Nanoseconds(time.tv_nsec)
    }
}
