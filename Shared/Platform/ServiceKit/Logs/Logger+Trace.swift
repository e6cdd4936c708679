public import ContractRuntime
public import Logging

extension Logger {
    /// This logger with the trace of a call on each line.
    public func following(_ context: CallContext) -> Logger {
        var logger = self
        logger[metadataKey: "trace_id"] = .string(context.trace.traceID)
        return logger
    }
}
