internal import ArgumentParser

/// A time on the command line: `250us`, `5ms`, `1.5s`, `2m`, `3h`, `4d`; a bare number is seconds.
package struct TimeSpan: ExpressibleByArgument, Hashable, Sendable {
    package let duration: Duration

    package init(_ duration: Duration) { self.duration = duration }

    package init?(argument: String) {
        let number = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let value = Double(number), value.isFinite, let unit = Self.units[String(argument.dropFirst(number.count))] else { return nil }
        guard let nanoseconds = Int64(exactly: (value * unit).rounded()) else { return nil }
        duration = .nanoseconds(nanoseconds)
    }

    /// As people write it: `10s`, `250ms`.
    package var defaultValueDescription: String {
        let milliseconds = duration / .milliseconds(1)
        if milliseconds != milliseconds.rounded() { return "\(Int64((duration / .microseconds(1)).rounded()))us" }
        return milliseconds.truncatingRemainder(dividingBy: 1000) == 0 ? "\(Int64(milliseconds / 1000))s" : "\(Int64(milliseconds))ms"
    }

    private static let units: [String: Double] = ["us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 86_400e9, "": 1e9]
}
