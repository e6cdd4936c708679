internal import Clocks

/// When Apple is asked whether a person's session goes on, and what its answers mean (apple §2.5).
enum AppleSessionCheck {
    static let interval: Duration = .seconds(24 * 3600)
    /// So that not all checks fall on one moment.
    static let jitter: Duration = .seconds(2 * 3600)
    /// After an answer that says nothing of the person.
    static let unclearPause: Duration = .seconds(6 * 3600)
    /// For how long sessions are kept then.
    static let patience: Duration = .seconds(72 * 3600)
    /// A check whose process broke off is made again after this.
    static let lease: Duration = .seconds(600)

    /// - Parameter fraction: From 0 to 1, at random.
    static func next(after moment: Timestamp, fraction: Double) -> Timestamp {
        moment + interval + .milliseconds(Int64(Double(jitter.wholeMilliseconds) * min(max(fraction, 0), 1)))
    }

    /// At most once a day, whoever asks.
    static func isRecent(_ grant: AppleGrantRecord, now: Timestamp) -> Bool { now < grant.validatedAt + interval && now >= grant.validatedAt }
}
