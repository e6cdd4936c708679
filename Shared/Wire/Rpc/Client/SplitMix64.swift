internal import ContractRuntime

/// Numbers that need only be different, without a system call for each (Steele, Lea, Flood 2014). Never for secrets.
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64 = .random(in: .min ... .max)) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A trace for a call that came without one.
    mutating func newTrace() -> TraceContext {
        let (high, low) = (next() | 1, next())
        return TraceContext(traceHigh: high, traceLow: low, span: next() | 1, flags: TraceSampling.flags(of: low))
    }
}
