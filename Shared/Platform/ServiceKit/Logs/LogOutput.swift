/// Where log lines go.
struct LogOutput: Sendable {
    let write: @Sendable ([UInt8]) -> Void

    /// The process's standard output; lines of several threads do not mix.
    static let standard = LogOutput { LogWriter.standard.add($0) }
}
