internal import ArgumentParser

/// A part of a whole on the command line: `1%`, `0.01`.
struct Share: ExpressibleByArgument, Hashable, Sendable {
    /// 0 to 1.
    let fraction: Double

    init(_ fraction: Double) { self.fraction = fraction }

    init?(argument: String) {
        let isPercent = argument.hasSuffix("%")
        guard let value = Double(isPercent ? argument.dropLast() : argument[...]), value.isFinite else { return nil }
        fraction = isPercent ? value / 100 : value
        guard (0...1).contains(fraction) else { return nil }
    }
}
