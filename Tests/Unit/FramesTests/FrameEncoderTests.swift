import ContractRuntime
import Contracts
import Faults
import Testing
import Frames

@Suite struct FrameEncoderTests {
    private let trace = TraceContext(
        traceHigh: 0x4bf9_2f35_77b3_4da6, traceLow: 0xa3ce_929d_0e0e_4736, span: 0x00f0_67aa_0ba9_02b7, state: "vendor=value")

    @Test func requestFromAValueIsTheGoldenOne() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let head = RequestHead(
            callID: 300, service: "boxoffice.platform.v1.Diagnostics", method: "Echo", timeoutMicroseconds: 2_000_000, trace: trace,
            idempotencyKey: "7f1c")
        let size = try encoder.prepareRequest(head, message: EchoMessage(content: [0x68, 0x69, 0], delayMilliseconds: 5))
        #expect(write(&encoder, size) == (try GoldenFrames.bytes("request-full")))
    }

    @Test func requestFromBytesIsTheGoldenOne() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let head = RequestHead(callID: 1, service: "boxoffice.platform.v1.Health", method: "Check", timeoutMicroseconds: 500_000)
        let size = try encoder.prepareRequest(head, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(write(&encoder, size) == (try GoldenFrames.bytes("request")))
    }

    @Test func responseAndItemAreTheGoldenOnes() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let report = HealthReport(status: .serving, softwareVersion: "1.0")
        let response = try encoder.prepareResponse(callID: 1, message: report)
        #expect(write(&encoder, response) == (try GoldenFrames.bytes("response")))
        let item = try encoder.prepareStreamItem(callID: 5, message: report)
        #expect(write(&encoder, item) == (try GoldenFrames.bytes("stream-item")))
    }

    @Test func payloadBytesAreTheGoldenOnes() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let written = try HealthReport(status: .serving, softwareVersion: "1.0").serialized().withUnsafeBytes { payload in
            let response = try encoder.prepareResponse(callID: 1, payload: payload)
            let first = write(&encoder, response)
            let item = try encoder.prepareStreamItem(callID: 5, payload: payload)
            return first + write(&encoder, item)
        }
        #expect(written == (try GoldenFrames.bytes("response") + GoldenFrames.bytes("stream-item")))
    }

    @Test func anEmptyMessageIsAnEmptyPayload() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let size = try encoder.prepareResponse(callID: 2, message: EchoMessage())
        #expect(write(&encoder, size) == (try GoldenFrames.bytes("response-empty")))
    }

    @Test func refusesWhatTheReceiverDoesNotTake() throws {
        var encoder = FrameEncoder(maxFrameBytes: 100)
        #expect { _ = try encoder.prepareResponse(callID: 1, message: EchoMessage(content: [UInt8](repeating: 0, count: 200))) } throws: {
            ($0 as? Fault)?.code == .frameTooLarge
        }
        #expect(write(&encoder, 0) == [])
        let size = try encoder.prepareResponse(callID: 2, message: EchoMessage())
        #expect(write(&encoder, size) == (try GoldenFrames.bytes("response-empty")))
    }

    @Test func refusesTextWithANul() {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        #expect { _ = try encoder.prepareRequest(RequestHead(callID: 1, service: "a\0", method: "m"), message: EchoMessage()) } throws: {
            ($0 as? Fault)?.code == .invalidMessage
        }
    }

    @Test func refusesAFrameWithoutAKind() {
        #expect { try FrameEncoder.encoded(Frame()) } throws: { ($0 as? Fault)?.code == .invalidMessage }
    }

    @Test func writesOnce() throws {
        var encoder = FrameEncoder(maxFrameBytes: 1024)
        let size = try encoder.prepare(Frame(kind: .ping(Ping(nonce: 1))))
        #expect(write(&encoder, size).count == size)
        #expect(write(&encoder, 100) == [])
    }

    @Test("time left travels as microseconds: at least one, none for no deadline")
    func timeouts() {
        let now = ContinuousClock.now
        #expect(RequestHead.timeoutMicroseconds(until: nil, now: now) == 0)
        #expect(RequestHead.timeoutMicroseconds(until: now.advanced(by: .milliseconds(2)), now: now) == 2000)
        #expect(RequestHead.timeoutMicroseconds(until: now.advanced(by: .nanoseconds(10)), now: now) == 1)
        #expect(RequestHead.timeoutMicroseconds(until: now.advanced(by: .seconds(-1)), now: now) == 1)
        #expect(RequestHead.timeoutMicroseconds(until: now.advanced(by: .seconds(1 << 40)), now: now) == 1 << 50)
    }

    private func write(_ encoder: inout FrameEncoder, _ size: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        let written = bytes.withUnsafeMutableBytes { encoder.write(into: $0) }
        return [UInt8](bytes.prefix(written))
    }
}
