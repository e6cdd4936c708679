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

    func echo(_ request: EchoMessage, context: CallContext) async throws -> EchoMessage {
        guard request.delayMilliseconds <= Self.longestDelay else {
            throw Fault(.invalidRequest, "delay_ms is at most \(Self.longestDelay).")
        }
        if request.delayMilliseconds > 0 { try await Task.sleep(for: .milliseconds(request.delayMilliseconds)) }
        return EchoMessage(content: request.content)
    }

    /// The answer at once when no delay is asked for: it then has the very bytes of the request.
    static func echoNow(_ request: UnsafeRawBufferPointer) throws -> [UInt8]? {
        try EchoMessage(serialized: request).delayMilliseconds == 0 ? [UInt8](request) : nil
    }
}
