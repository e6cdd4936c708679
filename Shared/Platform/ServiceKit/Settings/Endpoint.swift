/// Address and port to listen on.
public struct Endpoint: Decodable, Sendable, Hashable, CustomStringConvertible {
    public let address: String
    /// 0: any free one.
    public let port: UInt16

    public init(address: String, port: UInt16) {
        self.address = address
        self.port = port
    }

    public var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }
}
