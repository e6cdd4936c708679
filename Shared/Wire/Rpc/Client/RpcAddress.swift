/// A peer listens here.
public struct RpcAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    public var host: String
    /// 0 to 65535; a listener takes 0 for a free port.
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// - Parameter text: `host:port`, an IPv6 address in brackets, for example `[::1]:7001`.
    /// - Returns: `nil` when it is not of that form.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        guard let port = Int(text[text.index(after: colon)...]), (0...65535).contains(port), !host.isEmpty else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.init(host: String(host), port: port)
    }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
