import Faults
import Testing
import Frames

@Suite struct WireFaultTests {
    @Test func keepsWhatTheCallerMayKnow() {
        let fault = Fault(.overloaded, "Busy.", details: "queue", isRetryable: true, retryAfter: .milliseconds(1500), cause: FrameRejection.empty)
        let back = Fault(WireFault(fault))
        #expect(back.code == .overloaded)
        #expect(back.message == "Busy.")
        #expect(back.details == "queue")
        #expect(back.isRetryable)
        #expect(back.retryAfter == .milliseconds(1500))
        #expect(back.cause == nil)
    }

    @Test func keepsACodeOfTheFuture() {
        let back = Fault(WireFault(code: "brand_new", message: "?"))
        #expect(back.code.rawValue == "brand_new")
        #expect(!back.isRetryable)
    }

    @Test func retryabilityIsWhatThePeerSaid() {
        #expect(!Fault(WireFault(Fault(.unavailable, "", isRetryable: false))).isRetryable)
        #expect(Fault(WireFault(Fault(.invalidRequest, "", isRetryable: true))).isRetryable)
    }

    @Test func anInternalFaultCarriesNoText() {
        let wire = WireFault(Fault(.internal, "SELECT * FROM secrets", details: "secret", cause: FrameRejection.empty))
        #expect(wire == WireFault(code: "internal"))
        #expect(Fault(wire).message == "An internal fault occurred.")
    }

    @Test func aFaultWithoutACodeIsInternal() {
        #expect(Fault(WireFault(message: "?")).code == .internal)
    }

    @Test("advice to wait is neither lost by rounding nor longer than a day")
    func retryAfter() {
        #expect(WireFault(Fault(.overloaded, "", retryAfter: .nanoseconds(1))).retryAfterMilliseconds == 1)
        #expect(WireFault(Fault(.overloaded, "", retryAfter: .seconds(-5))).retryAfterMilliseconds == 1)
        #expect(WireFault(Fault(.overloaded, "")).retryAfterMilliseconds == 0)
        #expect(WireFault(Fault(.overloaded, "", retryAfter: .seconds(Int64.max))).retryAfterMilliseconds == .max)
        #expect(Fault(WireFault(code: "overloaded", retryAfterMilliseconds: .max)).retryAfter == .seconds(86_400))
    }

    @Test func textIsCutAtItsLimitBetweenCharacters() {
        let wire = WireFault(Fault(.invalidRequest, String(repeating: "ü", count: 1000), details: String(repeating: "x", count: 9000)))
        #expect(wire.message == String(repeating: "ü", count: 512))
        #expect(wire.details.utf8.count == WireFault.maxDetailsBytes)
    }

    @Test func anyFaultCanBeEncoded() throws {
        let fault = Fault(Fault.Code(rawValue: "a\0b"), "m\0", details: "\0")
        let wire = WireFault(fault)
        #expect(wire == WireFault(code: "ab", message: "m"))
        #expect(try FrameEncoder.encoded(Frame(kind: .streamEnd(StreamEnd(callID: 1, fault: wire)))).count > 4)
    }
}
