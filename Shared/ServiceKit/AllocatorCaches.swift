#if canImport(Glibc)
internal import Glibc
#endif

/// The C library's caches of freed memory.
///
/// A thread of its allocator keeps 7 freed pieces of each size up to 1 KiB for the next use. A request or a document frees dozens of a size at once:
/// the others are merged with their neighbours, and cut out again for the next request (Shared/Decisions/0024-bounds-of-speed.md).
enum AllocatorCaches {
    private static let variable = "GLIBC_TUNABLES"
    /// Costs at most 8 MiB for each thread.
    private static let setting = "glibc.malloc.tcache_count=256"

    /// Starts the program anew with larger ones, as the same process: the allocator reads its settings at the start only.
    ///
    /// Returns when it has them, when the operator has settings of their own, or when the program cannot be started again.
    static func enlarge() {
        #if canImport(Glibc)
        guard getenv(variable) == nil, let program = realpath("/proc/self/exe", nil) else { return }
        defer { free(program) }
        setenv(variable, setting, 1)
        execv(program, CommandLine.unsafeArgv)
        #endif
    }
}
