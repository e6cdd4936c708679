public import ContractRuntime
public import Contracts

/// Stands in for the `Usage` of the config service.
public final class UsageDouble: Usage {
    public let reportUsage = Scripted<UsageBatch, UsageReceipt>()
    public let queryUsage = Scripted<UsageQuery, UsageReport>()

    public init() {}

    public func reportUsage(_ request: UsageBatch, context: CallContext) async throws -> UsageReceipt { try await reportUsage(request, context) }

    public func queryUsage(_ request: UsageQuery, context: CallContext) async throws -> UsageReport { try await queryUsage(request, context) }
}
