internal import CContracts
public import ContractRuntime

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
