internal import ContractRuntime
internal import Contracts
internal import Faults

/// Listens to what the copy at the other end says of itself, for as long as the connection lasts.
///
/// Somebody else's service may not offer `Health.Watch`: then nothing is known, and it counts as serving.
final class HealthWatch: PendingCall, @unchecked Sendable {
    private let report: @Sendable (HealthReport) -> Void

    /// - Parameter report: Called on the event loop, with each report.
    init(report: @escaping @Sendable (HealthReport) -> Void) {
        self.report = report
        let method = HealthMethods.watch.identity
        super.init(service: method.service, method: method.name, isStream: true, context: CallContext(), payload: [])
    }

    override func deliver(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard let health = try? HealthReport(serialized: payload) else { return false }
        report(health)
        return true
    }

    override func fail(_ fault: Fault, mayHaveBegun: Bool) { isOver = true }

    override func end() { isOver = true }
}
