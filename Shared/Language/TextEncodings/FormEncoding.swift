/// `application/x-www-form-urlencoded`, for bodies and queries (RFC 6749 appendix B): all but RFC 3986's unreserved characters as `%XX`.
public enum FormEncoding {
    public static func encode(_ fields: [(String, String)]) -> String {
        fields.map { "\(encode($0.0))=\(encode($0.1))" }.joined(separator: "&")
    }

    /// A name or a value.
    public static func encode(_ text: String) -> String { PercentEncoding.encode(text) }
}
