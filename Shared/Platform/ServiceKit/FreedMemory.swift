internal import CMemory
internal import Logging
internal import ServiceLifecycle

/// Gives memory that was freed back to the system.
///
/// The C library keeps freed memory for the next use, in each thread's arena, and gives back only the end of one. After a flood of large frames or
/// bodies a service would keep their size for ever, of which it needs nothing.
struct FreedMemory: Service {
    let logger: Logger
    /// Between two looks.
    var interval: Duration = .seconds(5)
    /// The amount that a service may keep for its next work, in bytes.
    var kept = 32 * 1024 * 1024

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: interval)
                release()
            }
        }
    }

    /// - Returns: True when there was more than may be kept.
    @discardableResult
    func release() -> Bool {
        let free = boxoffice_memory_free()
        guard free > kept else { return false }
        boxoffice_memory_release()
        logger.debug("program.memory_released", metadata: ["bytes": "\(free)"])
        return true
    }
}
