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

    /// As people write it: `2.5%`.
    var defaultValueDescription: String {
        let percent = (fraction * 1000).rounded() / 10
        return percent == percent.rounded() ? "\(Int(percent))%" : "\(percent)%"
    }
}
