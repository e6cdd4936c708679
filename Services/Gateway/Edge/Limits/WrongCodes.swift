/// How many wrong registration codes an address has sent, and how long it must therefore pause (dashboard §8): five a minute are free, the fifth
/// and each further one begin a pause that is twice as long as the one before.
struct WrongCodes: AddressRecord {
    static let free = 5
    static let minute: Int64 = 60_000_000_000
    static let firstPause: Int64 = 30_000_000_000
    static let longestPause: Int64 = 3_600_000_000_000

    /// Wrong codes since `windowStart`.
    private var count = 0
    private var windowStart: Int64 = 0
    /// Pauses so far.
    private var pauses = 0
    private var pausedUntil: Int64 = 0

    init() {}

    /// A pause is remembered for ten minutes more, or once more its own length.
    var expires: Int64 {
        pauses == 0 ? windowStart + Self.minute : pausedUntil + max(10 * Self.minute, Self.pause(pauses))
    }

    /// True as long as no wrong code is remembered.
    var isClean: Bool { count == 0 && pauses == 0 }

    /// The pause that is left, in nanoseconds; 0: a code may be tried.
    func pause(at now: Int64) -> Int64 { max(0, pausedUntil - now) }

    /// Counts a wrong code.
    mutating func charge(at now: Int64) {
        if pauses == 0, count == 0 || now >= windowStart + Self.minute {
            windowStart = now
            count = 0
        }
        count += 1
        guard pauses > 0 || count >= Self.free else { return }
        pauses += 1
        pausedUntil = now + Self.pause(pauses)
    }

    /// Nanoseconds.
    private static func pause(_ number: Int) -> Int64 {
        number > 7 ? longestPause : min(longestPause, firstPause << Int64(number - 1))
    }
}
