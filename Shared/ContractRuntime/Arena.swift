internal import CProtobufC
internal import Faults

/// Memory of the C structs of one message, released as a whole; valid only inside `Arena.with`.
public struct Arena {
    let raw: UnsafeMutablePointer<boxoffice_arena>

    /// The most that one message may take on the heap, in bytes, beyond what it takes on the stack.
    static let limit = 64 * 1024 * 1024

    static func with<Result>(_ body: (Arena) throws(Fault) -> Result) throws(Fault) -> Result {
        let outcome = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 16) { stack -> Swift.Result<Result, Fault> in
            var arena = boxoffice_arena()
            boxoffice_arena_begin(&arena, stack.baseAddress, stack.count, limit)
            return withUnsafeMutablePointer(to: &arena) { raw in
                defer { boxoffice_arena_end(raw) }
                do throws(Fault) {
                    return .success(try body(Arena(raw: raw)))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try outcome.get()
    }

    func take(_ size: Int) throws(Fault) -> UnsafeMutableRawPointer {
        guard let memory = boxoffice_arena_take(raw, size) else {
            throw Fault(.frameTooLarge, "The message needs more memory than one message may take.")
        }
        return memory
    }
}
