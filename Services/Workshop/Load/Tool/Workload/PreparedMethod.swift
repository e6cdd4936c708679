public import ContractRuntime

/// A method with requests for it.
public struct PreparedMethod: Sendable {
    public var method: MethodIdentity
    /// In the report.
    public var name: String
    /// Its share of the calls beside the other methods, above 0.
    public var weight: Double
    /// Encoded requests, at least one; they are taken in turn.
    public var payloads: [[UInt8]]
    /// Fault codes that are no failures.
    public var tolerates: [String]
    /// The number of items that end a call of a method that is answered by a stream, 1 or more. `nil`: it has one answer.
    public var streamItems: Int?

    public init(
        _ method: MethodIdentity, name: String? = nil, weight: Double = 1, payloads: [[UInt8]], tolerates: [String] = [], streamItems: Int? = nil
    ) {
        precondition(!payloads.isEmpty, "A method needs a request.")
        self.method = method
        self.name = name ?? method.name
        self.weight = weight
        self.payloads = payloads
        self.tolerates = tolerates
        self.streamItems = streamItems
    }
}
