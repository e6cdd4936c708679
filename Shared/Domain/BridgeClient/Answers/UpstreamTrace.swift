public import OutboundHttp
internal import StrictJson

/// The id by which the upstream knows an answer, for people who ask its operator about it.
public enum UpstreamTrace {
    private static let longest = 128
    /// Errors are small.
    private static let largestBody = 16_384

    /// - Returns: Printable, at most 128 octets; empty where the answer does not say.
    public static func of(_ answer: OutboundAnswer) -> String {
        let named = answer.header("Adobe-Request-Id") ?? ""
        guard answer.status >= 400, answer.body.count <= largestBody, let root = try? JsonDocument(parsing: answer.body).root,
            let trace = root["trace"]?.string
        else { return clean(named) }
        return clean(trace)
    }

    private static func clean(_ text: String) -> String {
        text.utf8.allSatisfy { (0x21...0x7e).contains($0) } ? String(decoding: text.utf8.prefix(longest), as: UTF8.self) : ""
    }
}
