public import Faults

/// The outcome of a request that came in.
public enum Admission {
    /// Begin the work; it is given up at the deadline.
    case begin(deadline: ContinuousClock.Instant?)
    /// Answer with a response that has the fault; the call is over.
    case refuse(Fault)
    /// Drop it: it came after this side's go-away, which tells the caller so.
    case drop
    /// The connection cannot go on.
    case violation([ConnectionAction])
}
