/// A simulated user who runs iterations of a workload, one after another.
///
/// In an open loop a user lives for one iteration; in a closed loop for the whole run.
public struct User {
    /// Unique in the run, from 0.
    public internal(set) var number: Int
    /// The number of iterations that this user has begun before.
    public internal(set) var iteration = 0
    /// Seeded from the run's seed and the number.
    public var random: SplitMix
    /// The workload's own: where in the scenario the user is. 0 at the begin of an iteration.
    public var place = 0
    /// The workload's own; kept over iterations.
    public var notes: AnyObject?

    init(number: Int, seed: UInt64) {
        self.number = number
        random = SplitMix(seed: seed ^ (UInt64(truncatingIfNeeded: number) &* 0xd134_2543_de82_ef95))
    }
}
