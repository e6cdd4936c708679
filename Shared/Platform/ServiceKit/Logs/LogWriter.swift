internal import CoreMetrics
internal import Foundation
internal import Logging

/// Writes lines to a descriptor on a thread of its own, so that nobody who logs waits for a disk or a reader. Lines are gathered for a moment and
/// share a write. A thread that woke for each of them would cost as much as the work of a small call, and disturb it. An urgent line goes out at
/// once, with those before it. So do the lines of a start, which say why a process that dies young has died.
///
/// At the end of the process, however `exit` is reached, added lines are written. A process that is killed or crashes loses the lines that were being
/// gathered. When nobody takes the lines, a bounded amount waits; further ones are counted and dropped. On a full disk the thread tries again each
/// second. It says once that lines wait, and once how many were lost.
///
/// Where the output is a file of the program's own, the same thread looks after it between two writes (`LogFiles`).
///
/// `@unchecked Sendable`: everything that changes is touched only while `condition` is locked, or by the one thread that has set `isWriting`.
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
    private let pause: DispatchTimeInterval
    /// Until then lines are hardly gathered.
    private let startEnds: DispatchTime
    private let dropped = Counter(label: "boxoffice_log_dropped_lines_total")
    private let condition = NSCondition()
    private let haste = DispatchSemaphore(value: 0)
    private var waiting: [UInt8] = []
    /// Waiting lines shall not wait any longer; `haste` has said so.
    private var isUrgent = false
    private var isWriting = false
    private var isClosed = false
    /// The output is a file of the program's own.
    private var hasFiles = false
    private var tended = ContinuousClock.now
    /// Lines that were dropped and not yet told of.
    private var lost = 0
    private var notices = LogNotices()

    // The files of the thread that has set `isWriting`.
    private var files: LogFiles?
    /// Nothing can be written at present for this reason.
    private var failure: Int32?
    /// The output ends within a line. Its rest begins the next batch, unless `isCut`.
    private var isWithinLine = false
    /// The rest of that line will never come.
    private var isCut = false

    /// - Parameters:
    ///   - limit: Bytes that may wait.
    ///   - gathering: How long the thread gathers lines before it writes.
    ///   - start: For how long from now on it gathers for 2 ms only.
    ///   - pause: After how long it tries again to write to a full disk.
    init(
        descriptor: Int32, limit: Int = 8 * 1024 * 1024, gathering: DispatchTimeInterval = .milliseconds(100),
        start: DispatchTimeInterval = .seconds(5), pause: DispatchTimeInterval = .seconds(1)
    ) {
        startEnds = .now() + start
        self.descriptor = descriptor
        self.limit = limit
        self.gathering = gathering
        self.pause = pause
        // Lives as long as the process.
        Thread.detachNewThread { [self] in
            let never = DispatchSemaphore(value: 0)
            while true {
                let batch = next()
                if !write(batch, isLast: false) { _ = never.wait(timeout: .now() + self.pause) }
            }
        }
    }

    /// - Parameters:
    ///   - files: The program's own log; `nil`: somebody else keeps what it prints.
    ///   - notices: How to say what happens to the log.
    func begin(_ files: LogFiles?, notices: LogNotices) {
        condition.lock()
        defer { condition.unlock() }
        while isWriting { condition.wait() }
        (self.files, self.notices, hasFiles) = (files, notices, files != nil)
        condition.broadcast()
        if let files { (isWithinLine, isCut) = (files.endsWithinLine, true) }
    }

    func add(_ line: [UInt8], isUrgent: Bool = false) {
        condition.lock()
        defer { condition.unlock() }
        guard !isClosed else { return }
        guard waiting.count + line.count <= limit else {
            lost += 1
            return dropped.increment()
        }
        let wasEmpty = waiting.isEmpty
        waiting.append(contentsOf: line)
        let becomesUrgent = !self.isUrgent && (isUrgent || waiting.count >= Self.batch)
        if wasEmpty { condition.broadcast() }
        guard becomesUrgent else { return }
        self.isUrgent = true
        haste.signal()
    }

    /// Returns when everything that was added is written, or cannot be.
    func finish() {
        condition.lock()
        while isWriting { condition.wait() }
        let rest = takeWaiting()
        condition.unlock()
        write(rest, isLast: true)
    }

    /// As `finish`; later lines are dropped. For who has a last word to say.
    func close() {
        condition.lock()
        isClosed = true
        condition.unlock()
        finish()
    }

    private func next() -> Batch {
        condition.lock()
        while waiting.isEmpty, !mustTend {
            if hasFiles { _ = condition.wait(until: Date(timeIntervalSinceNow: 60)) } else { condition.wait() }
        }
        condition.unlock()
        // Not on the condition, whose times are those of a clock that may be set back.
        let now = DispatchTime.now()
        _ = haste.wait(timeout: now + (now < startEnds ? .milliseconds(2) : gathering))
        condition.lock()
        defer { condition.unlock() }
        while isWriting { condition.wait() }
        return takeWaiting()
    }

    private struct Batch {
        let octets: [UInt8]
        let mustTend: Bool
    }

    /// True when it is time to look after the files, also of a program that says nothing.
    private var mustTend: Bool { hasFiles && .now - tended >= Self.tending }
    private static let tending: Duration = .seconds(60)

    private func takeWaiting() -> Batch {
        defer { (waiting, isUrgent, isWriting) = ([], false, true) }
        guard mustTend else { return Batch(octets: waiting, mustTend: false) }
        tended = .now
        return Batch(octets: waiting, mustTend: true)
    }

    /// - Parameter isLast: True when unwritten lines will never be written.
    /// - Returns: False: the rest waits for better times.
    @discardableResult
    private func write(_ batch: Batch, isLast: Bool) -> Bool {
        var octets = batch.octets
        // Half a line in each of two files would be none.
        if !isWithinLine || isCut {
            if !octets.isEmpty { files?.makeRoom(for: octets.count) }
            if batch.mustTend { files?.tend() }
        }
        if isWithinLine, isCut, !octets.isEmpty, files?.endsWithinLine ?? true { octets.insert(0x0a, at: 0) }
        let (written, error) = transmit(octets)
        if written > 0 { (isWithinLine, isCut) = (octets[written - 1] != 0x0a, false) }
        let rest = octets[written...]
        let isLasting = isLast || !Self.passing.contains(error ?? 0)
        if let error, failure == nil { tellFailure(error, isLasting) }

        condition.lock()
        defer {
            isWriting = false
            condition.broadcast()
            condition.unlock()
        }
        guard let error else {
            if !octets.isEmpty { noteEnd() }
            return true
        }
        failure = error
        guard isLasting else {
            waiting.insert(contentsOf: rest, at: 0)
            return false
        }
        isCut = isWithinLine
        let lines = rest.reduce(0) { $1 == 0x0a ? $0 + 1 : $0 }
        lost += lines
        dropped.increment(by: lines)
        return true
    }

    /// Errors after which it is worth trying again.
    private static let passing: Set<Int32> = [ENOSPC, EDQUOT, EAGAIN]

    private func tellFailure(_ error: Int32, _ isLasting: Bool) {
        let what = isLasting ? "lines are lost" : "up to \(limit >> 20) MiB of lines wait, further ones are lost"
        condition.lock()
        let aside = notices.aside
        condition.unlock()
        aside?("cannot write its log (\(String(cString: strerror(error)))); it goes on, and \(what)\n")
    }

    /// Something could be written. To be called while `condition` is locked.
    private func noteEnd() {
        defer { (failure, lost) = (nil, 0) }
        if failure != nil { notices.aside?("writes its log again; \(lost) lines were lost\n") }
        guard lost > 0 || failure != nil, let line = notices.line else { return }
        waiting.append(contentsOf: line(lost, failure.map { String(cString: strerror($0)) } ?? "nobody took them"))
        condition.broadcast()
    }

    /// - Returns: How much was written, and the error of the system that kept the rest from being written.
    private func transmit(_ octets: [UInt8]) -> (written: Int, error: Int32?) {
        octets.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return (written, count < 0 ? errno : EIO) }
                written += count
            }
            return (written, nil)
        }
    }
}

/// Log lines go here.
struct LogOutput: Sendable {
    let write: @Sendable (_ line: [UInt8], _ level: Logger.Level) -> Void

    /// The process's standard output; lines of several threads do not mix.
    static let standard = LogOutput { line, level in
        LogWriter.standard.add(JournalSeverity.ofOutput.marked(line, level), isUrgent: level >= .warning)
    }
}
