internal import Synchronization

/// W3C trace context, level 1: which request this work belongs to.
public struct TraceContext: Hashable, Sendable {
    /// 128 bits, never zero.
    public let traceHigh: UInt64
    public let traceLow: UInt64
    /// 64 bits, never zero.
    public let span: UInt64
    /// Trace flags; bit 0 is `sampled`.
    public let flags: UInt8
    /// Vendor data, passed on as it came.
    public let state: String

    public init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, flags: UInt8 = 1, state: String = "") {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.flags = flags
        self.state = state
    }

    /// The flag of a trace that is recorded.
    public static let sampled: UInt8 = 1

    public var isSampled: Bool { flags & Self.sampled != 0 }

    /// A new trace. Its id has the form of a version 4 UUID (RFC 9562 §5.4). So the same digits can name a request wherever a UUID is wanted.
    public static func random() -> TraceContext {
        let (high, low) = (TraceIDs.next() & ~0xf000 | 0x4000, TraceIDs.next() & ~(0b11 << 62) | 0b10 << 62)
        return TraceContext(traceHigh: high, traceLow: low, span: TraceIDs.next(), flags: TraceSampling.flags(of: low))
    }

    /// The same place in the same trace, with other flags.
    public func with(flags: UInt8) -> TraceContext {
        TraceContext(traceHigh: traceHigh, traceLow: traceLow, span: span, flags: flags, state: state)
    }

    /// True when both are of one trace.
    public func isSameTrace(as other: TraceContext) -> Bool { traceHigh == other.traceHigh && traceLow == other.traceLow }

    /// The same trace, another span.
    public func child() -> TraceContext {
        TraceContext(traceHigh: traceHigh, traceLow: traceLow, span: TraceIDs.next(), flags: flags, state: state)
    }

    /// - Parameters:
    ///   - traceparent: `00-<32 hex>-<16 hex>-<2 hex>`; a later version may have more behind it (W3C trace context §3.2).
    ///   - state: The `tracestate` that came with it.
    /// - Returns: `nil` when it is malformed or has a zero id, as the specification demands.
    public init?(traceparent: String, state: String = "") {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].count == 2, parts[1].count == 32, parts[2].count == 16, parts[3].count == 2 else { return nil }
        guard parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
        guard parts.prefix(4).allSatisfy({ $0.utf8.allSatisfy(Self.isLowerHex) }) else { return nil }
        guard let high = UInt64(parts[1].prefix(16), radix: 16), let low = UInt64(parts[1].suffix(16), radix: 16),
            let span = UInt64(parts[2], radix: 16), let flags = UInt8(parts[3], radix: 16), high | low != 0, span != 0
        else { return nil }
        self.init(traceHigh: high, traceLow: low, span: span, flags: flags, state: state)
    }

    /// 32 lower-case hex digits.
    public var traceID: String { Self.hex((nil, traceHigh, 16), (nil, traceLow, 16)) }

    /// 16 lower-case hex digits.
    public var spanID: String { Self.hex((nil, span, 16)) }

    public var traceparent: String {
        let dash = UInt8(ascii: "-")
        return Self.hex((nil, 0, 2), (dash, traceHigh, 16), (nil, traceLow, 16), (dash, span, 16), (dash, UInt64(flags), 2))
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Numbers in lower-case hex digits, one behind the other, each after its separator.
    private static func hex(_ parts: (separator: UInt8?, value: UInt64, digits: Int)...) -> String {
        String(unsafeUninitializedCapacity: 64) { text in
            var place = 0
            for part in parts {
                if let separator = part.separator {
                    text[place] = separator
                    place += 1
                }
                for shift in stride(from: (part.digits - 1) * 4, through: 0, by: -4) {
                    let digit = UInt8(truncatingIfNeeded: part.value >> UInt64(shift)) & 0xf
                    text[place] = digit < 10 ? 0x30 + digit : 0x57 + digit
                    place += 1
                }
            }
            return place
        }
    }
}

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
