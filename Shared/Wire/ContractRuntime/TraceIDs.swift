internal import Synchronization

/// Numbers for trace and span ids: unique and well spread, not secret, and without a system call each.
///
/// SplitMix64 over a shared counter with a random start (Steele, Lea and Flood, OOPSLA 2014).
enum TraceIDs {
    private static let counter = Atomic<UInt64>(.random(in: 0 ... .max))

    /// Never zero, as the W3C trace context demands.
    static func next() -> UInt64 {
        let step: UInt64 = 0x9e37_79b9_7f4a_7c15
        var mixed = counter.wrappingAdd(step, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        mixed ^= mixed >> 31
        return mixed == 0 ? step : mixed
    }
}
