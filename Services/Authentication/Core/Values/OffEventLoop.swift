package import Faults

/// Runs work of up to some milliseconds (an RSA signature, an XML signature check) where it holds up no connection.
package func offEventLoop<Value: Sendable>(_ work: @escaping @Sendable () throws(Fault) -> Value) async throws(Fault) -> Value {
    let result = await withTaskExecutorPreference(globalConcurrentExecutor) { () async -> Result<Value, Fault> in
        do throws(Fault) { return .success(try work()) } catch { return .failure(error) }
    }
    return try result.get()
}

/// The time that is left for all calls of one step together.
package struct CallBudget: Sendable {
    private let end: ContinuousClock.Instant

    package init(_ span: Duration) { end = .now + span }

    package var left: Duration { max(.zero, end - .now) }
}
