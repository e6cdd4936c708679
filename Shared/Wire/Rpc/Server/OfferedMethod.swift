internal import ContractRuntime
internal import Faults

/// A method as a server runs it, without its types.
struct OfferedMethod: Sendable {
    /// Decodes the request and starts the work of the call.
    typealias Start = @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext, _ call: ServerCall) throws(Fault) -> Void
    typealias Immediate = @Sendable (_ request: UnsafeRawBufferPointer, _ context: CallContext) throws -> [UInt8]?

    let service: String
    let name: String
    let isStream: Bool
    let start: Start
    var immediate: Immediate?
}
