#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Dispatch
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Has systemd start the program again when it hangs (`WatchdogSec=` of systemd.service(5)).
///
/// The program asks for that itself, once it is built: a release that does not, or a program in its place, is never watched. A thread gives a sign of
/// life as long as every part that it asks has answered since the one before. Parts are the event loops and Swift's executor, without which nothing
/// is answered. Threads that wait for a disk or a database are none. A program that lacks these is not ready, and starting it again would help
/// nobody.
final class Watchdog: Sendable {
    /// Runs what it is given where the part does its work.
    typealias Part = @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void

    /// After so long without a sign of life the program is killed.
    static let limit: Duration = .seconds(30)

    private let manager: ServiceManager
    private let parts: [Part]
    private let limit: Duration
    private let isAsked: Bool
    private let end = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - environment: The environment of the process. A unit with a `WatchdogSec` of its own decides how long the limit is.
    ///   - limit: At least 3 ms; a sign of life is given three times in it.
    init(
        _ manager: ServiceManager, parts: [Part], limit: Duration = Watchdog.limit,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        (self.manager, self.parts) = (manager, parts)
        let given = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        self.limit = given.map { .microseconds($0) } ?? limit
        isAsked = given != nil
    }

    /// The event loops and the executor of this process.
    static var ofThisProcess: [Part] {
        let loops = MultiThreadedEventLoopGroup.singleton.makeIterator().map { loop -> Part in { answer in loop.execute(answer) } }
        return loops + [{ answer in Task.detached { answer() } }]
    }

    /// To be called once.
    func start() {
        // Lives until it is stopped, or as long as the process.
        let thread = Thread { self.watch() }
        thread.name = "watchdog"
        thread.start()
    }

    /// It gives no further sign of life: to be called when systemd knows that the program stops.
    func stop() { end.signal() }

    private func watch() {
        manager.tell(isAsked ? "WATCHDOG=1" : "WATCHDOG_USEC=\(limit.wholeMicroseconds)")
        var answers = ask()
        let pause = DispatchTimeInterval.microseconds(Int(limit.wholeMicroseconds / 3))
        while end.wait(timeout: .now() + pause) == .timedOut {
            // A part that is late is not asked again: it has enough to do.
            guard answers.areAll else { continue }
            manager.tell("WATCHDOG=1")
            answers = ask()
        }
    }

    private func ask() -> Answers {
        let answers = Answers(parts.count)
        for part in parts { part { answers.count() } }
        return answers
    }

    private final class Answers: Sendable {
        private let missing: Atomic<Int>

        init(_ count: Int) { missing = Atomic(count) }

        var areAll: Bool { missing.load(ordering: .acquiring) == 0 }
        func count() { missing.subtract(1, ordering: .acquiringAndReleasing) }
    }
}

/// The time in which a program is watched: from when it is built to when it stops.
struct WatchedTime: Service {
    let watchdog: Watchdog

    func run() async throws {
        watchdog.start()
        #if DEBUG
        Self.hangWhereAsked()
        #endif
        try? await gracefulShutdown()
    }

    #if DEBUG
    /// For tests of a build for development: `BOXOFFICE_TEST_HANG` names a part that hangs for good after three seconds, `loop` or `executor`.
    private static func hangWhereAsked() {
        guard let part = ProcessInfo.processInfo.environment["BOXOFFICE_TEST_HANG"] else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(3)) {
            switch part {
            case "loop": MultiThreadedEventLoopGroup.singleton.next().execute { Thread.sleep(forTimeInterval: 3600) }
            case "executor": for _ in 0..<4 * ProcessorShare.count { Task.detached { Self.sleep() } }
            default: break
            }
        }
    }

    /// Where a task may not call it.
    private static func sleep() { Thread.sleep(forTimeInterval: 3600) }
    #endif
}

/// The processors that this program may use: fewer than the machine has where a control group or its affinity (`taskset`, `CPUAffinity=`) says so.
///
/// Event loops beyond that number take turns on a processor, and each of them waits while another has it.
enum ProcessorShare {
    static let count = max(1, min(System.coreCount, affinity ?? .max))

    private static let override = "NIO_SINGLETON_GROUP_LOOP_COUNT"

    /// As many event loops as that, unless the environment says how many. Before the first of them is used.
    static func adopt() {
        guard getenv(override) == nil else { return }
        NIOSingletons.groupLoopCountSuggestion = count
    }

    /// Processors on which the system may run this program; `nil`: it does not say.
    private static var affinity: Int? {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        return processors(status: status)
    }

    /// - Parameter status: The text of `/proc/self/status`; its line `Cpus_allowed` is a mask in hexadecimal digits (proc_pid_status(5)).
    /// - Returns: `nil` when the line is missing or empty.
    static func processors(status: String) -> Int? {
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
        let count = line.dropFirst("Cpus_allowed:".count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
