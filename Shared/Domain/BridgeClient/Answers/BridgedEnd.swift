public import Clocks

/// How long the end that an upstream tells is believed: a clock or a unit that is wrong there must not keep anything here for ever (bridge §8.1).
///
/// A later end is stored, and told to apps, as this one. When it comes upstream is asked again, as of a session that has to be confirmed.
public enum BridgedEnd {
    /// Longer than any login, permit or media token lives.
    public static let farthest: Duration = .seconds(400 * 86_400)

    /// The end to keep.
    /// - Parameter now: When upstream told it.
    public static func kept(_ told: Timestamp, now: Timestamp) -> Timestamp { min(told, now + farthest) }

    /// True for an end that upstream did not tell.
    /// - Parameters:
    ///   - end: As it was kept.
    ///   - moment: When upstream told it last.
    public static func isOurs(_ end: Timestamp, toldAt moment: Timestamp) -> Bool { end >= moment + farthest }
}
