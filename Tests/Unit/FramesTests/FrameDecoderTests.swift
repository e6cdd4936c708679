import ContractRuntime
import Faults
import Testing
import Frames

@Suite struct FrameDecoderTests {
    @Test func refusesALengthOfZero() {
        #expect(throws: FrameRejection.empty) { try decode([0, 0, 0, 0]) }
    }

    @Test func refusesAFrameAboveTheLimitFromItsLengthAlone() {
        #expect(throws: FrameRejection.tooLarge(byteCount: 1025, limit: 1024)) { try decode([0, 0, 4, 1], maxFrameBytes: 1024) }
        #expect(throws: FrameRejection.tooLarge(byteCount: 0xffff_ffff, limit: 1024)) { try decode([255, 255, 255, 255], maxFrameBytes: 1024) }
    }

    @Test func takesAFrameAtTheLimit() throws {
        let frame = try FrameEncoder.encoded(Frame(kind: .streamItem(StreamItem(callID: 1, payload: [UInt8](repeating: 7, count: 100)))))
        #expect(try decode(frame, maxFrameBytes: frame.count - 4).frames.count == 1)
        #expect(throws: FrameRejection.self) { try decode(frame, maxFrameBytes: frame.count - 5) }
    }

    @Test("a limit that is raised counts from the next frame on")
    func raisesTheLimit() throws {
        let frame = try FrameEncoder.encoded(Frame(kind: .streamItem(StreamItem(callID: 1, payload: [UInt8](repeating: 7, count: 500_000)))))
        var decoder = FrameDecoder(maxFrameBytes: 1024)
        try frame.withUnsafeBytes { raw in
            var rest = raw
            do {
                _ = try decoder.next(&rest)
                Issue.record("taken")
            } catch { #expect(rest.count == raw.count) }
            decoder.maxFrameBytes = 1 << 20
            let isWhole = try decoder.next(&rest) != nil
            #expect(isWhole && rest.isEmpty)
        }
    }

    @Test(
        "refuses what protobuf does not read",
        arguments: [
            [0x0a], [0x0a, 5, 1], [0x12, 3, 0x0a, 9, 1], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [7, 1], [0x0b, 0x0c],
        ] as [[UInt8]])
    func refusesGarbage(_ body: [UInt8]) {
        #expect(throws: FrameRejection.malformed) { try decode(framed(body)) }
    }

    @Test("refuses a kind of a later version, alone and with unknown fields", arguments: [[0xfa, 0x06, 1, 0x61], [0x50, 1]] as [[UInt8]])
    func refusesAnUnknownKind(_ body: [UInt8]) {
        #expect(throws: FrameRejection.unknownKind) { try decode(framed(body)) }
    }

    @Test func skipsUnknownFieldsOfAKnownKind() throws {
        #expect(try decode(framed([0x3a, 5, 0x08, 9, 0xf8, 0x06, 1])).frames == [.ping(Ping(nonce: 9))])
        #expect(try decode(framed([0x3a, 2, 0x08, 9, 0xf8, 0x06, 1])).frames == [.ping(Ping(nonce: 9))])
    }

    @Test func theLastKindOfAFrameCounts() throws {
        #expect(try decode(framed([0x3a, 2, 0x08, 9, 0x42, 2, 0x08, 4])).frames == [.pong(Pong(nonce: 4))])
    }

    @Test func refusesAResponseWithoutAnOutcome() {
        #expect(throws: FrameRejection.malformed) { try decode(framed([0x1a, 2, 0x08, 1])) }
    }

    @Test("refuses text with a NUL or not UTF-8 in a hello, a go-away and a fault")
    func refusesBadText() {
        #expect(throws: FrameRejection.malformed) { try decode(framed([0x0a, 3, 0x12, 1, 0])) }
        #expect(throws: FrameRejection.malformed) { try decode(framed([0x4a, 4, 0x12, 2, 0xc3, 0x28])) }
        #expect(throws: FrameRejection.malformed) { try decode(framed([0x1a, 7, 0x08, 1, 0x1a, 3, 0x0a, 1, 0])) }
    }

    @Test func aMalformedTraceIsNoTrace() throws {
        let request = Request(callID: 1, service: "s", method: "m", traceparent: "00-nonsense", tracestate: "a=b")
        let frame = try FrameEncoder.encoded(Frame(kind: .request(request)))
        #expect(try decode(frame).frames == [.request(Request(callID: 1, service: "s", method: "m"))])
    }

    @Test("an idempotency key that is no text is there, but has no value")
    func badIdempotencyKey() throws {
        var decoder = FrameDecoder(maxFrameBytes: 1024)
        try framed([0x12, 5, 0x08, 1, 0x3a, 1, 0]).withUnsafeBytes { raw in
            var rest = raw
            guard case .request(let request) = try decoder.next(&rest) else {
                Issue.record("no request")
                return
            }
            #expect(request.hasIdempotencyKey)
            #expect(request.idempotencyKey == nil)
        }
    }

    @Test func aFrameMadeOfTinyUnknownFieldsIsRefusedBeforeItTakesMuchMemory() {
        let fields = (0..<200_000).flatMap { _ in [0x78, 0] as [UInt8] }
        #expect(throws: FrameRejection.malformed) { try decode(framed(fields), maxFrameBytes: fields.count) }
    }

    @Test func aLargePayloadComesWhole() throws {
        let payload = (0..<700_000).map { UInt8(truncatingIfNeeded: $0) }
        let frame = try FrameEncoder.encoded(Frame(kind: .response(Response(callID: 1, outcome: .payload(payload)))))
        #expect(try decode(frame + frame, readSize: 64 * 1024).frames.count == 2)
        #expect(try decode(frame).frames == [.response(Response(callID: 1, outcome: .payload(payload)))])
    }

    @Test func violationsNameTheirGoAwayCode() {
        #expect(FrameRejection.tooLarge(byteCount: 2, limit: 1).code == .frameTooLarge)
        #expect(FrameRejection.empty.code == .protocolError)
        #expect(FrameRejection.malformed.code == .protocolError)
        #expect(FrameRejection.unknownKind.code == .protocolError)
        #expect(FrameRejection.tooLarge(byteCount: 20, limit: 10).message == "A frame of 20 bytes; the limit is 10.")
    }
}
