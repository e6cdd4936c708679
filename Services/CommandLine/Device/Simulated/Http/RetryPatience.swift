/// How long answers that say "later" (RFC 9110 §10.2.3) are followed by another try.
struct RetryPatience: Sendable {
    /// Waits altogether.
    private(set) var left: Duration

    init(_ whole: Duration) { left = whole }

    /// - Returns: How long to wait before the same request is sent again; `nil`: the answer stands, as it says nothing of later, or patience is used up.
    mutating func pause(after answer: HTTPAnswer) -> Duration? {
        guard [429, 503].contains(answer.status), let text = answer.header("retry-after"), let seconds = Int(text), (0...3600).contains(seconds)
        else {
            return nil
        }
        let pause = max(Duration.seconds(seconds), .milliseconds(100))
        guard pause <= left else { return nil }
        left -= pause
        return pause
    }
}
