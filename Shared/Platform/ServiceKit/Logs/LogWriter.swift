internal import CoreMetrics
internal import Foundation

/// Writes lines to a descriptor on a thread of its own, so that nobody who logs waits for a disk or a reader; lines that come together share a
/// write.
///
/// At the end of the process, however `exit` is reached, what was added is written. When nobody takes the lines, a bounded amount waits; further
/// ones are counted and dropped.
///
/// `@unchecked Sendable`: everything that changes is touched only while `condition` is locked.
final class LogWriter: @unchecked Sendable {
    /// The process's standard output.
    static let standard: LogWriter = {
        atexit { LogWriter.standard.finish() }
        return LogWriter(descriptor: STDOUT_FILENO)
    }()

    /// How long the thread gathers lines before it writes, in microseconds.
    private static let gathering: UInt32 = 2000

    private let descriptor: Int32
    private let limit: Int
    private let dropped = Counter(label: "boxoffice_log_dropped_lines_total")
    private let condition = NSCondition()
    private var waiting: [UInt8] = []
    private var isWriting = false
    private var isClosed = false

    /// - Parameter limit: Bytes that may wait.
    init(descriptor: Int32, limit: Int = 8 * 1024 * 1024) {
        self.descriptor = descriptor
        self.limit = limit
        // Lives as long as the process.
        Thread.detachNewThread { [self] in
            while true { write(next()) }
        }
    }

    func add(_ line: [UInt8]) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        guard waiting.count + line.count <= limit else { return dropped.increment() }
        if waiting.isEmpty { condition.broadcast() }
        waiting.append(contentsOf: line)
    }

    /// Returns when everything that was added is written.
    func finish() {
        condition.lock()
        while isWriting { condition.wait() }
        let rest = waiting
        waiting = []
        isWriting = true
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
        while waiting.isEmpty || isWriting { condition.wait() }
        condition.unlock()
        usleep(Self.gathering)
        condition.lock()
        defer { condition.unlock() }
        while isWriting { condition.wait() }
        isWriting = true
        defer { waiting = [] }
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
