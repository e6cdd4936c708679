public struct DecisionTransportAnswer: Sendable {
    public let status: Int
    /// As it was sent; nil when it was not.
    public let contentType: String?
    public let body: [UInt8]

    public init(status: Int, contentType: String? = nil, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}
