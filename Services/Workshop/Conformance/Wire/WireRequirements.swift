/// The requirements of WIRE.md for every service.
enum WireRequirements {
    static let all: [Requirement] = connection + hello + frames + calls + failures + limits + streams + ends + platform

    /// Those that a new implementation meets first: TLS and names, hello, frames and calls as they come, deadline and cancel, faults, streams,
    /// health. The others are about peers that break rules, and about limits.
    static let minimal = [1, 3, 4, 6, 7, 8, 19, 20, 22, 26, 28, 29, 32, 34, 35, 38, 39, 42, 47, 48, 53, 54, 55, 57].map { "WIRE-\($0)" }
}
