/// Something that puts load on a service as a plan says.
public protocol ServiceLoad: Sendable {
    /// Connects, puts the load on, and closes its connections.
    /// - Parameters:
    ///   - begun: Gets the run, to interrupt it, and when its measured part begins.
    ///   - progress: Called about once a second.
    /// - Throws: Why a connection could not be opened.
    func run(
        begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void
    ) async throws -> RunMeasurement
}
