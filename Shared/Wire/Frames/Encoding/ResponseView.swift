internal import CContracts
public import Faults

/// A response in the decoder's memory: valid until the decoder's next frame.
public struct ResponseView {
    /// How the call ended.
    public enum Outcome {
        /// The encoded response message of the method.
        case payload(UnsafeRawBufferPointer)
        case fault(Fault)
    }

    public let callID: UInt64
    public let outcome: Outcome

    init(_ response: UnsafeMutablePointer<Boxoffice__Wire__V1__Response>) throws(FrameViolation) {
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
