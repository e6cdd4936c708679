internal import LoadReporting

/// What one operation did.
struct OperationRecord: Sendable {
    var sent = 0
    var succeeded = 0
    var failed = 0
    var responseTime = LatencyHistogram()
    var serviceTime = LatencyHistogram()
    var errors = ErrorTally()

    mutating func record(response: Nanoseconds, service: Nanoseconds, failure: String?, _ message: String) {
        if let failure {
            failed += 1
            errors.record(failure, message)
        } else {
            succeeded += 1
        }
        responseTime.record(response)
        serviceTime.record(service)
    }

    mutating func add(_ other: OperationRecord) {
        sent += other.sent
        succeeded += other.succeeded
        failed += other.failed
        responseTime.add(other.responseTime)
        serviceTime.add(other.serviceTime)
        errors.add(other.errors)
    }

    func result(_ name: String) -> OperationResult {
        OperationResult(
            name: name, sent: sent, succeeded: succeeded, failed: failed, responseTime: responseTime.summary, serviceTime: serviceTime.summary,
            errors: errors.counts)
    }
}
