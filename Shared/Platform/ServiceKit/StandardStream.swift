public import Foundation

/// Standard output and standard error, written so that a reader who has gone never becomes a crash with a back trace.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Opens `/dev/null` in place of standard streams that are closed: a socket that got their number would be written to. To be called first in a program.
    public static func occupyClosed() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is the one that is looked at.
            _ = open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Writes all of it.
    /// - Returns: The error of the system that kept it from being written; `nil` when there was none.
    @discardableResult
    public func write(_ content: Data) -> Int32? {
        content.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(rawValue, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&descriptor, 1, 1000)
                    continue
                }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            return nil
        }
    }

    /// For commands: ends the program as the signal of a closed pipe does, quietly, when nobody reads any more.
    public func writeOrEnd(_ content: Data) {
        guard let failure = write(content) else { return }
        guard failure == EPIPE else { _exit(1) }
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(141)
    }
}
