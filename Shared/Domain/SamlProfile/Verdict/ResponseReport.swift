/// The outcome of one response and how it came about.
public struct ResponseReport: Sendable {
    public let verdict: ResponseVerdict
    public let trace: CheckTrace
    /// The XML security library's message about a failed signature or decryption; for logs only.
    public let diagnostic: String?
    /// True when a signature failed because the content is not the signed one. It was changed on purpose, or on its way, for example by an app that
    /// collapses white space in a platform's answer (mvpd §2.8).
    public let digestDiffers: Bool
}
