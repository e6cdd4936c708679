#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// `write(2)` under a name that the property below does not hide.
private func transmit(_ descriptor: Int32, _ start: UnsafeRawPointer, _ count: Int) -> Int { write(descriptor, start, count) }

/// Where log lines go.
struct LogOutput: Sendable {
    let write: @Sendable ([UInt8]) -> Void

    /// The process's standard output; a line is one `write`, so that lines of several threads do not mix.
    static let standard = LogOutput { line in
        line.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
                let count = transmit(STDOUT_FILENO, start, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
