/// When a fault began and ended.
struct FaultTimes: Sendable {
    let began: ContinuousClock.Instant
    /// When what was away could be reached again: its listener answered, or the wire was whole.
    let ended: ContinuousClock.Instant
}

/// The action of an experiment.
struct Injection: Sendable {
    var times: [FaultTimes]
    /// The remark beside the load's requests, for the report.
    var remark = ""
    /// The problems beside the load's requests.
    var problems: [String] = []
}
