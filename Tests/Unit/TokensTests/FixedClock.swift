import Clocks

/// A clock that shows what it was told.
struct FixedClock: WallClock {
    var moment: Timestamp

    init(_ moment: Timestamp = Timestamp(milliseconds: 1_741_083_330_250)) { self.moment = moment }

    func now() -> Timestamp { moment }
}
