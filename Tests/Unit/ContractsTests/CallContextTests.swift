import ContractRuntime
import Testing

@Suite struct CallContextTests {
    @Test func anInnerCallKeepsTheTraceAndTheDeadlineOnly() {
        let deadline = ContinuousClock.now.advanced(by: .seconds(60))
        let outer = CallContext(deadline: deadline, idempotencyKey: "k", caller: "gateway.boxoffice")
        let inner = outer.child()
        #expect(inner.deadline == deadline)
        #expect(inner.trace.traceID == outer.trace.traceID)
        #expect(inner.trace.spanID != outer.trace.spanID)
        #expect(inner.idempotencyKey == nil)
        #expect(inner.caller == nil)
    }

    @Test func anInnerCallNeverGetsMoreTimeThanTheOuter() throws {
        let soon = ContinuousClock.now.advanced(by: .seconds(1))
        #expect(CallContext(deadline: soon).child(within: .seconds(60)).deadline == soon)
        let limited = try #require(CallContext(deadline: ContinuousClock.now.advanced(by: .seconds(600))).child(within: .seconds(60)).timeLeft)
        #expect(limited <= .seconds(60))
        #expect(CallContext().child(within: .seconds(60)).deadline != nil)
        #expect(CallContext().child().deadline == nil)
    }

    @Test func timeLeftIsNeverNegative() {
        #expect(CallContext(deadline: ContinuousClock.now.advanced(by: .seconds(-5))).timeLeft == .zero)
        #expect(CallContext().timeLeft == nil)
    }
}
