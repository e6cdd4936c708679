public import ContractRuntime
public import Contracts
internal import Faults
internal import Synchronization

/// States whether a server is ready for work, and who wants to know when that changes: the Health service.
public final class HealthState: Health {
    private struct State {
        var report: HealthReport
        var watchers: [UInt64: AsyncThrowingStream<HealthReport, any Error>.Continuation] = [:]
        var nextWatcher: UInt64 = 0
    }

    private let state: Mutex<State>
    /// Held while watchers are told, so that they hear in order. A watcher that is cancelled meanwhile waits for nothing but `state`: telling it under that lock
    /// would have each wait for the other.
    private let telling = Mutex(())

    /// Starts as not serving.
    public init(softwareVersion: String) {
        state = Mutex(State(report: HealthReport(status: .notServing, reason: "starting", softwareVersion: softwareVersion)))
    }

    public var report: HealthReport { state.withLock { $0.report } }

    public func setServing() { set(.serving, reason: "") }

    /// - Parameter reason: For an operator.
    public func setNotServing(reason: String) { set(.notServing, reason: reason) }

    public func check(_ request: CheckHealthRequest, context: CallContext) async throws -> HealthReport { report }

    public func watch(_ request: CheckHealthRequest, context: CallContext) async throws -> AsyncThrowingStream<HealthReport, any Error> {
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: HealthReport.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            let watcher = state.nextWatcher
            state.nextWatcher += 1
            continuation.onTermination = { [weak self] _ in self?.forget(watcher) }
            state.watchers[watcher] = continuation
            continuation.yield(state.report)
        }
        return stream
    }

    /// Ends all streams, after the last report: no call of their own ends them, and they would keep a stopping server waiting.
    func endWatches() {
        let watchers = state.withLock { state in
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        let stopping = Fault(.unavailable, "The service is stopping.", retryAfter: .milliseconds(100))
        for watcher in watchers { watcher.finish(throwing: stopping) }
    }

    /// - Parameter hasManyCallers: True when so many programs call that each should keep connections to some copies only.
    func set(hasManyCallers: Bool) { change { $0.hasManyCallers = hasManyCallers } }

    /// - Parameter certificates: Those that end soon, at most 10.
    public func set(certificates: [CertificateEnd]) { change { $0.certificates = certificates } }

    private func set(_ status: ServingStatus, reason: String) { change { ($0.status, $0.reason) = (status, reason) } }

    private func change(_ edit: (inout HealthReport) -> Void) {
        telling.withLock { _ in
            let (report, watchers) = state.withLock { state in
                var report = state.report
                edit(&report)
                let isNews = report != state.report
                state.report = report
                return (report, isNews ? Array(state.watchers.values) : [])
            }
            for watcher in watchers { watcher.yield(report) }
        }
    }

    private func forget(_ watcher: UInt64) {
        state.withLock { _ = $0.watchers.removeValue(forKey: watcher) }
    }
}
