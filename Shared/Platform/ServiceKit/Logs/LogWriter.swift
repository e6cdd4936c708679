internal import CoreMetrics
internal import Foundation

/// Writes lines to a descriptor on a thread of its own, so that nobody who logs waits for a disk or a reader. Lines are gathered for a moment and share a
/// write: a thread that woke for each of them would cost as much as the work of a small call, and disturb it. An urgent line goes out at once, with those
/// before it. So do the lines of a start, which say why a process that dies young has died.
///
/// At the end of the process, however `exit` is reached, what was added is written; a process that is killed or crashes loses what was being gathered. When
/// nobody takes the lines, a bounded amount waits; further ones are counted and dropped.
///
/// `@unchecked Sendable`: everything that changes is touched only while `condition` is locked.
final class LogWriter: @unchecked Sendable {
    /// The process's standard output.
    static let standard: LogWriter = {
        atexit { LogWriter.standard.finish() }
        return LogWriter(descriptor: STDOUT_FILENO)
    }()

    /// Bytes that are worth a write of their own.
    private static let batch = 256 * 1024

    private let descriptor: Int32
    private let limit: Int
    private let gathering: DispatchTimeInterval
    /// Until then lines are hardly gathered.
    private let startEnds: DispatchTime
    private let dropped = Counter(label: "boxoffice_log_dropped_lines_total")
    private let condition = NSCondition()
    private let haste = DispatchSemaphore(value: 0)
    private var waiting: [UInt8] = []
    /// What waits shall not wait any longer; `haste` has said so.
    private var isUrgent = false
    private var isWriting = false
    private var isClosed = false

    /// - Parameters:
    ///   - limit: Bytes that may wait.
    ///   - gathering: How long the thread gathers lines before it writes.
    ///   - start: For how long from now on it gathers for 2 ms only.
    init(
        descriptor: Int32, limit: Int = 8 * 1024 * 1024, gathering: DispatchTimeInterval = .milliseconds(100),
        start: DispatchTimeInterval = .seconds(5)
    ) {
        startEnds = .now() + start
        self.descriptor = descriptor
        self.limit = limit
        self.gathering = gathering
        // Lives as long as the process.
        Thread.detachNewThread { [self] in
            while true { write(next()) }
        }
    }

    func add(_ line: [UInt8], isUrgent: Bool = false) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        guard waiting.count + line.count <= limit else { return dropped.increment() }
        let wasEmpty = waiting.isEmpty
        waiting.append(contentsOf: line)
        let becomesUrgent = !self.isUrgent && (isUrgent || waiting.count >= Self.batch)
        if wasEmpty { condition.broadcast() }
        guard becomesUrgent else { return }
        self.isUrgent = true
        haste.signal()
    }

    /// Returns when everything that was added is written.
    func finish() {
        condition.lock()
        while isWriting { condition.wait() }
        let rest = takeWaiting()
        condition.unlock()
        write(rest)
    }

    /// As `finish`; later lines are dropped. For who has a last word to say.
    func close() {
        condition.lock()
        isClosed = true
        condition.unlock()
        finish()
    }

    private func next() -> [UInt8] {
        condition.lock()
        while waiting.isEmpty { condition.wait() }
        condition.unlock()
        // Not on the condition, whose times are those of a clock that may be set back.
        let now = DispatchTime.now()
        _ = haste.wait(timeout: now + (now < startEnds ? .milliseconds(2) : gathering))
        condition.lock()
        defer { condition.unlock() }
        while isWriting { condition.wait() }
        return takeWaiting()
    }

    private func takeWaiting() -> [UInt8] {
        defer { (waiting, isUrgent, isWriting) = ([], false, true) }
        return waiting
    }

    private func write(_ batch: [UInt8]) {
        batch.withUnsafeBytes { Self.transmit($0, to: descriptor) }
        condition.lock()
        isWriting = false
        condition.broadcast()
        condition.unlock()
    }

    private static func transmit(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) {
        var rest = bytes[...]
        while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
            let count = Foundation.write(descriptor, start, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
