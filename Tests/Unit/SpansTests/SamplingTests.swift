import ContractRuntime
import Testing

@Suite("Sampling")
struct SamplingTests {
    private let sent = TraceContext(traceHigh: 1, traceLow: 0x00ff_ffff_ffff_ffff, span: 3, flags: 1)

    @Test("a ratio takes about that share of the traces, and the same ones everywhere")
    func ratio() {
        let rule = SamplingRule(ratio: 0.25, obeysCallers: true)
        let traces = (0..<20_000).map { _ in TraceContext.random().traceLow }
        let taken = traces.count { rule.flags(of: $0) == 1 }
        #expect((4600...5400).contains(taken))
        let narrower = SamplingRule(ratio: 0.1, obeysCallers: false)
        #expect(traces.allSatisfy { narrower.flags(of: $0) <= rule.flags(of: $0) }, "whoever takes fewer takes a part of the same")
    }

    @Test("none and all are exact")
    func ends() {
        for low in [0, 1, UInt64.max, 0x00ff_ffff_ffff_ffff] {
            #expect(SamplingRule(ratio: 0, obeysCallers: true).flags(of: low) == 0)
            #expect(SamplingRule(ratio: 1, obeysCallers: true).flags(of: low) == 1)
        }
    }

    @Test("a caller's flag decides, or is overruled; other flags stay")
    func callers() {
        let unrecorded = sent.with(flags: 0x02)
        let (obeying, overruling) = (SamplingRule(ratio: 0, obeysCallers: true), SamplingRule(ratio: 1, obeysCallers: false))
        #expect(obeying.entering(sent) == sent && obeying.entering(unrecorded) == unrecorded)
        #expect(overruling.entering(unrecorded).flags == 0x03)
        #expect(SamplingRule(ratio: 0.5, obeysCallers: false).entering(sent).flags == 0)
    }

    @Test("a new trace's id has the form of a version 4 UUID, and is not recorded where nothing is")
    func newTrace() {
        for _ in 0..<100 {
            let trace = TraceContext.random()
            #expect(trace.traceHigh >> 12 & 0xf == 4 && trace.traceLow >> 62 == 0b10 && trace.span != 0)
            #expect(trace.child().isSameTrace(as: trace) && trace.child().flags == trace.flags)
        }
        #expect(TraceContext(traceparent: sent.with(flags: 0).traceparent)?.isSampled == false)
    }
}
