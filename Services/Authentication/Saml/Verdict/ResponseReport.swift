/// The outcome of one response and how it came about.
public struct ResponseReport: Sendable {
    public let verdict: ResponseVerdict
    public let trace: CheckTrace
    /// A technical word of the XML security library about a failed signature or decryption; for logs only.
    public let diagnostic: String?
}
