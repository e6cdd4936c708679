internal import CContracts
internal import CProtobufC
internal import ContractRuntime
internal import Contracts
internal import Faults

/// Tells a caller what can be called here, without the `.proto` files.
struct ReflectionService: Reflection {
    let services: [String]

    func listServices(_ request: ListServicesRequest, context: CallContext) async throws -> ListServicesResponse {
        ListServicesResponse(services: services)
    }

    func getDescriptorSet(_ request: GetDescriptorSetRequest, context: CallContext) async throws -> GetDescriptorSetResponse {
        GetDescriptorSetResponse(fileDescriptorSet: ContractDescriptors.fileDescriptorSet)
    }
}

/// Sends back what came, for measuring the wire and for trying out deadlines.
struct DiagnosticsService: Diagnostics {
    private static let longestDelay: UInt32 = 60_000
    /// Beyond the content, for the struct and the bookkeeping of unknown fields.
    private static let arenaReserve = 64 * 1024

    func echo(_ request: EchoMessage, context: CallContext) async throws -> EchoMessage {
        guard request.delayMilliseconds <= Self.longestDelay else {
            throw Fault(.invalidRequest, "delay_ms is at most \(Self.longestDelay).")
        }
        if request.delayMilliseconds > 0 { try await Task.sleep(for: .milliseconds(request.delayMilliseconds)) }
        return EchoMessage(content: request.content)
    }

    /// The answer at once when no delay is asked for: it then has the very bytes of the request.
    static func echoNow(_ request: UnsafeRawBufferPointer) throws -> [UInt8]? {
        try delayMilliseconds(request) == 0 ? [UInt8](request) : nil
    }

    /// Decodes the one field that matters, without a copy of the content: this is what the wire is measured with.
    private static func delayMilliseconds(_ request: UnsafeRawBufferPointer) throws(Fault) -> UInt32 {
        let delay = withUnsafeTemporaryAllocation(byteCount: 512, alignment: 16) { stack -> UInt32? in
            var arena = boxoffice_arena()
            boxoffice_arena_begin(&arena, stack.baseAddress, stack.count, request.count + arenaReserve)
            defer { boxoffice_arena_end(&arena) }
            let bytes = request.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let message = boxoffice_arena_unpack(&arena, boxoffice_platform_v1_EchoMessage_descriptor(), bytes, request.count)
            return message.map { UnsafeRawPointer($0).assumingMemoryBound(to: Boxoffice__Platform__V1__EchoMessage.self).pointee.delay_ms }
        }
        guard let delay else { throw Fault(.invalidMessage, "The bytes are no \(EchoMessage.messageName).") }
        return delay
    }
}
