internal import CContracts

/// The contracts' own description, for reflection.
public enum ContractDescriptors {
    /// A serialized `google.protobuf.FileDescriptorSet` of all contracts.
    public static let fileDescriptorSet: [UInt8] = {
        var size = 0
        let bytes = boxoffice_descriptor_set(&size)
        return [UInt8](UnsafeBufferPointer(start: bytes, count: size))
    }()
}
