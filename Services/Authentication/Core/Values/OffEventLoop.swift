package import Faults

/// Runs work of up to some milliseconds (an RSA signature, an XML signature check) where it holds up no connection.
package func offEventLoop<Value: Sendable>(_ work: @escaping @Sendable () throws(Fault) -> Value) async throws(Fault) -> Value {
    let result = await withTaskExecutorPreference(globalConcurrentExecutor) { () async -> Result<Value, Fault> in
        do throws(Fault) { return .success(try work()) } catch { return .failure(error) }
    }
    return try result.get()
}
