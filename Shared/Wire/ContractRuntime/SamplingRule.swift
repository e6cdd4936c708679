internal import Synchronization

/// Which traces are recorded: decided once, where a trace begins, and passed on with it (head sampling).
public struct SamplingRule: Sendable, Hashable {
    /// As many of a trace id's lowest bits are random by every generator that W3C trace context allows.
    private static let range: UInt64 = 1 << 56

    /// Traces whose number is below are recorded.
    let bound: UInt64
    /// True when the flag that comes with a trace decides about it; else the same rule holds as for traces that begin here.
    let obeysCallers: Bool

    /// - Parameter ratio: The share of the traces that begin here, 0 to 1. The same traces in every program that has the same ratio.
    public init(ratio: Double, obeysCallers: Bool) {
        self.init(bound: UInt64(max(0, min(1, ratio)) * Double(Self.range)), obeysCallers: obeysCallers)
    }

    init(bound: UInt64, obeysCallers: Bool) {
        self.bound = bound
        self.obeysCallers = obeysCallers
    }

    /// The flags of a trace that begins here.
    public func flags(of traceLow: UInt64) -> UInt8 { traceLow & (Self.range - 1) < bound ? TraceContext.sampled : 0 }

    /// A trace as it goes on here, when it came from elsewhere.
    public func entering(_ context: TraceContext) -> TraceContext {
        obeysCallers ? context : context.with(flags: context.flags & ~TraceContext.sampled | flags(of: context.traceLow))
    }
}

/// The rule of this program. Until it is set, traces begin without the flag, and others' traces keep theirs.
public enum TraceSampling {
    private static let bound = Atomic<UInt64>(0)
    private static let overrules = Atomic<Bool>(false)

    public static var rule: SamplingRule {
        get { SamplingRule(bound: bound.load(ordering: .relaxed), obeysCallers: !overrules.load(ordering: .relaxed)) }
        set {
            bound.store(newValue.bound, ordering: .relaxed)
            overrules.store(!newValue.obeysCallers, ordering: .relaxed)
        }
    }

    /// The flags of a trace that begins here.
    public static func flags(of traceLow: UInt64) -> UInt8 { rule.flags(of: traceLow) }

    /// A trace as it goes on here, when it came from elsewhere.
    public static func entering(_ context: TraceContext) -> TraceContext { rule.entering(context) }
}
