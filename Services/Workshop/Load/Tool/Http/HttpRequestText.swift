/// Requests as they go over the connection (RFC 9112 §3).
public enum HttpRequestText {
    /// - Parameters:
    ///   - path: With the query.
    ///   - host: The Host field.
    /// - Returns: The whole request; Content-Length is added where there is a body.
    public static func bytes(method: String, path: String, host: String, headers: [(String, String)] = [], body: String? = nil) -> [UInt8] {
        var text = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" } else { text += "\r\n" }
        return Array(text.utf8)
    }
}
