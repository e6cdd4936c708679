import ContractRuntime
import Faults
import Frames

/// A decoded frame as a value, to compare.
func value(_ view: FrameView) -> Frame.Kind {
    switch view {
    case .hello(let hello): .hello(hello)
    case .request(let request): .request(value(request))
    case .response(let response): .response(Response(callID: response.callID, outcome: value(response.outcome)))
    case .streamItem(let item): .streamItem(StreamItem(callID: item.callID, payload: [UInt8](item.payload)))
    case .streamEnd(let end): .streamEnd(end)
    case .cancel(let callID): .cancel(Cancel(callID: callID))
    case .ping(let nonce): .ping(Ping(nonce: nonce))
    case .pong(let nonce): .pong(Pong(nonce: nonce))
    case .goAway(let goAway): .goAway(goAway)
    }
}

private func value(_ request: RequestView) -> Request {
    Request(
        callID: request.callID, service: String(decoding: request.service, as: UTF8.self), method: String(decoding: request.method, as: UTF8.self),
        timeoutMicroseconds: request.timeoutMicroseconds, traceparent: request.trace?.traceparent ?? "", tracestate: request.trace?.state ?? "",
        idempotencyKey: request.idempotencyKey ?? "", payload: [UInt8](request.payload))
}

private func value(_ outcome: ResponseView.Outcome) -> Response.Outcome {
    switch outcome {
    case .payload(let payload): .payload([UInt8](payload))
    case .fault(let fault): .fault(WireFault(fault))
    }
}

/// All frames of the bytes, which arrive in reads of at most `readSize` bytes.
/// - Returns: The frames, and how many bytes at the end are no whole frame.
func decode(_ bytes: [UInt8], readSize: Int = .max, maxFrameBytes: Int = 1 << 20) throws(FrameRejection) -> (frames: [Frame.Kind], rest: Int) {
    var decoder = FrameDecoder(maxFrameBytes: maxFrameBytes)
    var frames: [Frame.Kind] = []
    var pending: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: min(readSize, max(1, bytes.count))) {
        pending += bytes[start..<min(bytes.count, start + min(readSize, bytes.count))]
        pending.removeFirst(try take(&decoder, pending, &frames))
    }
    return (frames, pending.count)
}

private func take(_ decoder: inout FrameDecoder, _ bytes: [UInt8], _ frames: inout [Frame.Kind]) throws(FrameRejection) -> Int {
    var violation: FrameRejection?
    let taken = bytes.withUnsafeBytes { raw in
        var rest = raw
        do throws(FrameRejection) {
            while let frame = try decoder.next(&rest) { frames.append(value(frame)) }
        } catch {
            violation = error
        }
        return raw.count - rest.count
    }
    if let violation { throw violation }
    return taken
}

/// A frame of any body with the right length before it.
func framed(_ body: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(body.count).bigEndian) { [UInt8]($0) } + body
}
