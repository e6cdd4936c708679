internal import CContracts
internal import CProtobufC
internal import ContractRuntime
internal import Faults

/// Fills the C structs of the frequent frames straight from the caller's arguments, without a Swift value in between.
enum FrameFields {
    typealias CFrame = Boxoffice__Wire__V1__Frame

    static func request(
        _ head: RequestHead, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let request = try arena.take(Boxoffice__Wire__V1__Request.self)
        boxoffice__wire__v1__request__init(request)
        request.pointee.call_id = head.callID
        request.pointee.service = try arena.text(head.service, "service")
        request.pointee.method = try arena.text(head.method, "method")
        request.pointee.timeout_us = head.timeoutMicroseconds
        if let key = head.idempotencyKey { request.pointee.idempotency_key = try arena.text(key, "idempotency_key") }
        if let trace = head.trace {
            let parent = try arena.take(TraceContext.parentByteCount + 1)
            trace.writeParent(to: parent)
            parent.storeBytes(of: 0, toByteOffset: TraceContext.parentByteCount, as: UInt8.self)
            request.pointee.traceparent = parent.assumingMemoryBound(to: CChar.self)
            if !trace.state.isEmpty { request.pointee.tracestate = try arena.text(trace.state, "tracestate") }
        }
        request.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_REQUEST
        frame.pointee.request = request
        return frame
    }

    static func response(
        _ callID: UInt64, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let response = try arena.take(Boxoffice__Wire__V1__Response.self)
        boxoffice__wire__v1__response__init(response)
        response.pointee.call_id = callID
        response.pointee.outcome_case = BOXOFFICE__WIRE__V1__RESPONSE__OUTCOME_PAYLOAD
        response.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_RESPONSE
        frame.pointee.response = response
        return frame
    }

    static func streamItem(
        _ callID: UInt64, _ payload: UnsafeRawBufferPointer, in arena: inout ScratchArena
    ) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let item = try arena.take(Boxoffice__Wire__V1__StreamItem.self)
        boxoffice__wire__v1__stream_item__init(item)
        item.pointee.call_id = callID
        item.pointee.payload = binary(payload)
        let frame = try empty(in: &arena)
        frame.pointee.kind_case = BOXOFFICE__WIRE__V1__FRAME__KIND_STREAM_ITEM
        frame.pointee.stream_item = item
        return frame
    }

    private static func empty(in arena: inout ScratchArena) throws(Fault) -> UnsafeMutablePointer<CFrame> {
        let frame = try arena.take(CFrame.self)
        boxoffice__wire__v1__frame__init(frame)
        return frame
    }

    /// protobuf-c only reads through the pointer when it packs.
    private static func binary(_ payload: UnsafeRawBufferPointer) -> ProtobufCBinaryData {
        let start = UnsafeMutableRawPointer(mutating: payload.baseAddress)
        return ProtobufCBinaryData(len: payload.count, data: start?.assumingMemoryBound(to: UInt8.self))
    }
}
