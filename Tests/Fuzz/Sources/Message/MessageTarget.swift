internal import ContractRuntime
internal import Contracts
internal import Faults

/// Bytes of a message: what decodes must encode, and decode to the same. The first byte chooses the message.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessages(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = UnsafeRawBufferPointer(start: start, count: count)
    guard let choice = input.first else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: input.dropFirst())
    switch choice % 8 {
    case 0: roundTrip(Configuration.self, bytes)
    case 1: roundTrip(Mvpd.self, bytes)
    case 2: roundTrip(DeviceInformation.self, bytes)
    case 3: roundTrip(RegistrationCode.self, bytes)
    case 4: roundTrip(HealthReport.self, bytes)
    case 5: roundTrip(GetDescriptorSetResponse.self, bytes)
    case 6: roundTrip(EchoMessage.self, bytes)
    default: roundTrip(RegisterClientRequest.self, bytes)
    }
    return 0
}

private func roundTrip<Value: Message>(_ type: Value.Type, _ bytes: UnsafeRawBufferPointer) {
    guard let value = try? Value(serialized: bytes) else { return }
    guard let encoded = try? value.serialized(), let back = try? Value(serialized: encoded), let again = try? back.serialized() else {
        fatalError("a decoded message does not encode")
    }
    if again != encoded { fatalError("a message changed on its way") }
    // A number that is not a number differs from itself, but not in words.
    if value != back, String(describing: value) != String(describing: back) { fatalError("a message lost something on its way") }
}
