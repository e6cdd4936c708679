/// A moment or a span in nanoseconds. Moments count from an arbitrary start, the same for all threads.
public typealias Nanoseconds = Int64

extension Int64 {
    static let nanosecondsPerSecond: Nanoseconds = 1_000_000_000

    /// - Parameter span: Up to 292 years.
    init(nanoseconds span: Duration) { self = span.components.seconds * Self.nanosecondsPerSecond + span.components.attoseconds / 1_000_000_000 }
}
