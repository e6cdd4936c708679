/// When a fault began and ended.
struct FaultTimes: Sendable {
    let began: ContinuousClock.Instant
    /// When what was away could be reached again: its listener answered, or the wire was whole.
    let ended: ContinuousClock.Instant
}

/// What an experiment did.
struct Injection: Sendable {
    var times: [FaultTimes]
    /// What it saw beside the load's requests, for the report.
    var remark = ""
    /// What went wrong beside the load's requests.
    var problems: [String] = []
}
