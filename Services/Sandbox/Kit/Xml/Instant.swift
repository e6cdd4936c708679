internal import Clocks
internal import FoundationEssentials

/// `xs:dateTime` in UTC, as SAML writes it (SAML core §1.3.3).
enum Instant {
    static func text(_ moment: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(moment.milliseconds) / 1000).formatted(style(fraction: true))
    }

    /// - Returns: nil when the text is not an instant in UTC.
    static func parse(_ text: String) -> Timestamp? {
        guard text.hasSuffix("Z") else { return nil }
        let date = (try? style(fraction: true).parse(text)) ?? (try? style(fraction: false).parse(text))
        return date.map { Timestamp(milliseconds: Int64(($0.timeIntervalSince1970 * 1000).rounded())) }
    }

    private static func style(fraction: Bool) -> Date.ISO8601FormatStyle {
        Date.ISO8601FormatStyle(includingFractionalSeconds: fraction)
    }
}
