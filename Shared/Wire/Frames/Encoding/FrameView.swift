internal import CContracts
internal import ContractRuntime
internal import Faults

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
    init?(_ frame: UnsafePointer<Boxoffice__Wire__V1__Frame>) throws(FrameViolation) {
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

    static func copy<Value: Message, CStruct>(_ item: UnsafeMutablePointer<CStruct>) throws(FrameViolation) -> Value {
        do throws(Fault) {
            return try Value(cMessage: UnsafeRawPointer(item))
        } catch {
            throw .malformed
        }
    }
}
