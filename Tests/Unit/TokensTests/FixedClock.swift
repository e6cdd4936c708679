import Clocks

/// A clock that shows the time that a test sets.
struct FixedClock: WallClock {
    var moment: Timestamp

    init(_ moment: Timestamp = Timestamp(milliseconds: 1_741_083_330_250)) { self.moment = moment }

    func now() -> Timestamp { moment }
}
