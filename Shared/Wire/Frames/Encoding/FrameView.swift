internal import CContracts
internal import CProtobufC
public import ContractRuntime
public import Faults

/// A decoded frame. The frequent kinds are views into the decoder's memory: valid until its next frame.
public enum FrameView {
    case hello(Hello)
    case request(RequestView)
    case response(ResponseView)
    case streamItem(StreamItemView)
    case streamEnd(StreamEnd)
    case cancel(callID: UInt64)
    case ping(nonce: UInt64)
    case pong(nonce: UInt64)
    case goAway(GoAway)
}

extension FrameView {
    /// - Returns: `nil` when the frame is of no known kind.
    /// - Throws: `malformed` when a text of a frame that is copied is not UTF-8 or holds a NUL, or a response has no outcome.
    init?(_ frame: UnsafePointer<Boxoffice__Wire__V1__Frame>) throws(FrameRejection) {
        switch frame.pointee.kind_case {
        case BOXOFFICE__WIRE__V1__FRAME__KIND_REQUEST: self = .request(RequestView(frame.pointee.request))
        case BOXOFFICE__WIRE__V1__FRAME__KIND_RESPONSE: self = .response(try ResponseView(frame.pointee.response))
        case BOXOFFICE__WIRE__V1__FRAME__KIND_STREAM_ITEM: self = .streamItem(StreamItemView(frame.pointee.stream_item))
        case BOXOFFICE__WIRE__V1__FRAME__KIND_STREAM_END: self = .streamEnd(try Self.copy(frame.pointee.stream_end))
        case BOXOFFICE__WIRE__V1__FRAME__KIND_CANCEL: self = .cancel(callID: frame.pointee.cancel.pointee.call_id)
        case BOXOFFICE__WIRE__V1__FRAME__KIND_PING: self = .ping(nonce: frame.pointee.ping.pointee.nonce)
        case BOXOFFICE__WIRE__V1__FRAME__KIND_PONG: self = .pong(nonce: frame.pointee.pong.pointee.nonce)
        case BOXOFFICE__WIRE__V1__FRAME__KIND_HELLO: self = .hello(try Self.copy(frame.pointee.hello))
        case BOXOFFICE__WIRE__V1__FRAME__KIND_GO_AWAY: self = .goAway(try Self.copy(frame.pointee.go_away))
        default: return nil
        }
    }

    static func copy<Value: Message, CStruct>(_ item: UnsafeMutablePointer<CStruct>) throws(FrameRejection) -> Value {
        do throws(Fault) {
            return try Value(cMessage: UnsafeRawPointer(item))
        } catch {
            throw .malformed
        }
    }
}

/// An item of a stream in the decoder's memory: valid until the decoder's next frame.
public struct StreamItemView {
    private let item: UnsafePointer<Boxoffice__Wire__V1__StreamItem>

    init(_ item: UnsafeMutablePointer<Boxoffice__Wire__V1__StreamItem>) {
        self.item = UnsafePointer(item)
    }

    public var callID: UInt64 { item.pointee.call_id }

    /// The encoded item.
    public var payload: UnsafeRawBufferPointer { CText.bytes(item.pointee.payload) }
}

/// A response in the decoder's memory: valid until the decoder's next frame.
public struct ResponseView {
    /// The call ended in one of these ways.
    public enum Outcome {
        /// The encoded response message of the method.
        case payload(UnsafeRawBufferPointer)
        case fault(Fault)
    }

    public let callID: UInt64
    public let outcome: Outcome

    init(_ response: UnsafeMutablePointer<Boxoffice__Wire__V1__Response>) throws(FrameRejection) {
        callID = response.pointee.call_id
        switch response.pointee.outcome_case {
        case BOXOFFICE__WIRE__V1__RESPONSE__OUTCOME_PAYLOAD: outcome = .payload(CText.bytes(response.pointee.payload))
        case BOXOFFICE__WIRE__V1__RESPONSE__OUTCOME_FAULT:
            guard let fault = response.pointee.fault else { throw .malformed }
            outcome = .fault(Fault(try FrameView.copy(fault) as WireFault))
        default: throw .malformed
        }
    }

    /// True for a fault.
    public var isFault: Bool {
        if case .fault = outcome { return true }
        return false
    }
}

/// A request in the decoder's memory: valid until the decoder's next frame. Nothing is copied or checked until it is asked for.
public struct RequestView {
    private let request: UnsafePointer<Boxoffice__Wire__V1__Request>

    init(_ request: UnsafeMutablePointer<Boxoffice__Wire__V1__Request>) {
        self.request = UnsafePointer(request)
    }

    public var callID: UInt64 { request.pointee.call_id }

    /// Full name of the service, as it came: compare bytes, do not show.
    public var service: UnsafeRawBufferPointer { CText.bytes(request.pointee.service) }

    /// Name of the method, as it came: compare bytes, do not show.
    public var method: UnsafeRawBufferPointer { CText.bytes(request.pointee.method) }

    /// Time left until the caller stops waiting, in microseconds; 0 means no deadline.
    public var timeoutMicroseconds: UInt64 { request.pointee.timeout_us }

    /// The encoded request message of the method.
    public var payload: UnsafeRawBufferPointer { CText.bytes(request.pointee.payload) }

    /// True when the caller says that the call changes state.
    public var hasIdempotencyKey: Bool { !CText.bytes(request.pointee.idempotency_key).isEmpty }

    /// The key; `nil` when there is none or its text is not UTF-8 or holds a NUL (`hasIdempotencyKey` tells which).
    public var idempotencyKey: String? {
        let bytes = CText.bytes(request.pointee.idempotency_key)
        return bytes.isEmpty ? nil : CText.string(bytes)
    }

    /// The caller's trace; `nil` when there is none or it is malformed, which starts a new trace (W3C trace context §3.2.2.5).
    public var trace: TraceContext? {
        let parent = CText.bytes(request.pointee.traceparent)
        guard !parent.isEmpty else { return nil }
        let state = CText.bytes(request.pointee.tracestate)
        return TraceContext(traceparent: parent, state: state.isEmpty ? "" : CText.string(state) ?? "")
    }
}

/// Reads the text fields of a C struct that lies in an arena.
enum CText {
    /// The bytes of a text as they came, neither checked for UTF-8 nor cut at a NUL.
    static func bytes(_ text: UnsafeMutablePointer<CChar>?) -> UnsafeRawBufferPointer {
        guard let text, boxoffice_is_absent_string(text) == 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: text, count: boxoffice_arena_size(text) - 1)
    }

    /// The text; `nil` when it is not UTF-8 or holds a NUL.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The bytes of a bytes field.
    static func bytes(_ field: ProtobufCBinaryData) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: field.data, count: field.len)
    }
}

/// The trace context's text form without strings in between: it is read and written for each call.
extension TraceContext {
    /// Bytes of a `traceparent` of version 00.
    static let parentByteCount = 55

    /// - Parameter parent: The text of a `traceparent`.
    /// - Returns: `nil` when it is malformed.
    init?(traceparent parent: UnsafeRawBufferPointer, state: String) {
        guard parent.count == Self.parentByteCount, parent[0] == 0x30, parent[1] == 0x30 else {
            guard let text = CText.string(parent) else { return nil }
            self.init(traceparent: text, state: state)
            return
        }
        guard parent[2] == 0x2d, parent[35] == 0x2d, parent[52] == 0x2d,
            let high = Self.number(parent, 3..<19), let low = Self.number(parent, 19..<35), let span = Self.number(parent, 36..<52),
            let flags = Self.number(parent, 53..<55), high | low != 0, span != 0
        else { return nil }
        self.init(traceHigh: high, traceLow: low, span: span, flags: UInt8(truncatingIfNeeded: flags), state: state)
    }

    /// - Parameter target: At least `parentByteCount` bytes.
    func writeParent(to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: 0x3030, as: UInt16.self)
        Self.write(traceHigh, digits: 16, to: target + 3)
        Self.write(traceLow, digits: 16, to: target + 19)
        Self.write(span, digits: 16, to: target + 36)
        Self.write(UInt64(flags), digits: 2, to: target + 53)
        for place in [2, 35, 52] { target.storeBytes(of: 0x2d, toByteOffset: place, as: UInt8.self) }
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> UInt64? {
        var value: UInt64 = 0
        for index in range {
            switch text[index] {
            case let digit where digit >= 0x30 && digit <= 0x39: value = value << 4 | UInt64(digit - 0x30)
            case let digit where digit >= 0x61 && digit <= 0x66: value = value << 4 | UInt64(digit - 0x57)
            default: return nil
            }
        }
        return value
    }

    private static func write(_ value: UInt64, digits: Int, to target: UnsafeMutableRawPointer) {
        var rest = value
        for index in stride(from: digits - 1, through: 0, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest & 0xf)
            target.storeBytes(of: digit < 10 ? 0x30 + digit : 0x57 + digit, toByteOffset: index, as: UInt8.self)
            rest >>= 4
        }
    }
}
