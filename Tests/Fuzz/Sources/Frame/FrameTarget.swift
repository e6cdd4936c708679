internal import ContractRuntime
internal import Faults
internal import Frames

/// Bytes of a connection: decoded in reads of odd sizes, encoded again, and handed to the state machine of the other side.
///
/// The first byte chooses role and read size, the second how fast time passes; the rest is what the peer sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard count >= 2 else { return 0 }
    var connection = FuzzedConnection(choice: input[0], pace: input[1])
    connection.run(UnsafeRawBufferPointer(rebasing: input.dropFirst(2)))
    return 0
}
