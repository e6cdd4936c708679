internal import ContractRuntime
internal import Faults
internal import Frames

/// A decoded message can be encoded, and decodes to the same.
struct Reencoding: ~Copyable {
    private var encoder = FrameEncoder(maxFrameBytes: .max)

    mutating func check(_ view: FrameView) {
        guard let frame = Frame(view) else { return }
        guard let bytes = encoded(frame), let back = try? Frame(serialized: [UInt8](bytes.dropFirst(4))) else {
            fatalError("a decoded frame does not encode")
        }
        if back != frame { fatalError("a frame changed on its way") }
    }

    mutating func canSend(_ frame: Frame) -> Bool { encoded(frame) != nil }

    private mutating func encoded(_ frame: Frame) -> [UInt8]? {
        guard let size = try? encoder.prepare(frame) else { return nil }
        return [UInt8](unsafeUninitializedCapacity: size) { target, count in
            count = encoder.write(into: UnsafeMutableRawBufferPointer(target))
        }
    }
}

extension Frame {
    /// - Returns: `nil` for a request whose names are no text: it is refused, not passed on.
    fileprivate init?(_ view: FrameView) {
        switch view {
        case .hello(let hello): self.init(kind: .hello(hello))
        case .request(let request):
            guard let value = Request(request) else { return nil }
            self.init(kind: .request(value))
        case .response(let response): self.init(kind: .response(Response(callID: response.callID, outcome: .init(response.outcome))))
        case .streamItem(let item): self.init(kind: .streamItem(StreamItem(callID: item.callID, payload: [UInt8](item.payload))))
        case .streamEnd(let end): self.init(kind: .streamEnd(end))
        case .cancel(let callID): self.init(kind: .cancel(Cancel(callID: callID)))
        case .ping(let nonce): self.init(kind: .ping(Ping(nonce: nonce)))
        case .pong(let nonce): self.init(kind: .pong(Pong(nonce: nonce)))
        case .goAway(let goAway): self.init(kind: .goAway(goAway))
        }
    }
}

extension Request {
    fileprivate init?(_ view: RequestView) {
        guard let service = String(validating: view.service, as: UTF8.self), let method = String(validating: view.method, as: UTF8.self),
            !service.utf8.contains(0), !method.utf8.contains(0)
        else { return nil }
        let trace = view.trace
        self.init(
            callID: view.callID, service: service, method: method, timeoutMicroseconds: view.timeoutMicroseconds,
            traceparent: trace?.traceparent ?? "", tracestate: trace?.state ?? "", idempotencyKey: view.idempotencyKey ?? "",
            payload: [UInt8](view.payload))
    }
}

extension Response.Outcome {
    fileprivate init(_ outcome: ResponseView.Outcome) {
        switch outcome {
        case .payload(let payload): self = .payload([UInt8](payload))
        case .fault(let fault): self = .fault(WireFault(fault))
        }
    }
}
