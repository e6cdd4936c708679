/// How a writer of logs says that lines wait, or that some were lost.
struct LogNotices: Sendable {
    /// Makes a line of the log itself, of how many lines were lost and why; `nil`: the log does not say it.
    var line: (@Sendable (_ lost: Int, _ reason: String) -> [UInt8])?
    /// Tells people beside the log; `nil`: there is no other place.
    var aside: (@Sendable (_ text: String) -> Void)?
}
