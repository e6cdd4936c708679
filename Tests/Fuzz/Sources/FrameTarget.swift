internal import ContractRuntime
internal import Faults
internal import Frames

/// Bytes of a connection: decoded in reads of odd sizes, encoded again, and handed to the state machine of the other side.
///
/// The first byte chooses role, read size and limits; the rest is what the peer sends.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzFrames(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = input.first else { return 0 }
    var connection = FuzzedConnection(choice: choice)
    connection.run([UInt8](input.dropFirst()))
    return 0
}
