internal import CProtobufC
internal import Faults

/// Memory of the C structs of one message, released as a whole; valid only inside `Arena.with`.
public struct Arena {
    let raw: UnsafeMutablePointer<boxoffice_arena>

    /// The most that one message may take on the heap, in bytes, beyond what the thread keeps.
    static let limit = 64 * 1024 * 1024

    static func with<Result>(_ body: (Arena) throws(Fault) -> Result) throws(Fault) -> Result {
        var arena = boxoffice_arena()
        return try withUnsafeMutablePointer(to: &arena) { raw throws(Fault) in
            // `body` does not suspend: the arena ends on the thread where it began.
            boxoffice_arena_begin_on_thread(raw, limit)
            defer { boxoffice_arena_end(raw) }
            return try body(Arena(raw: raw))
        }
    }

    func take(_ size: Int) throws(Fault) -> UnsafeMutableRawPointer {
        guard let memory = boxoffice_arena_take(raw, size) else {
            throw Fault(.frameTooLarge, "The message needs more memory than one message may take.")
        }
        return memory
    }
}
