internal import Octets
public import Foundation

/// The time, for the library. Tests have one of their own.
public protocol ClientClock: Sendable {
    /// The device's time of day; it may be wrong and may jump.
    var now: Date { get }
    /// Time since an arbitrary moment; never jumps.
    var uptime: Duration { get }
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The device's clock.
public struct SystemClientClock: ClientClock {
    private let start = ContinuousClock.now

    /// A clock that counts ``uptime`` from now on.
    public init() {}

    public var now: Date { Date() }
    public var uptime: Duration { ContinuousClock.now - start }
    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
