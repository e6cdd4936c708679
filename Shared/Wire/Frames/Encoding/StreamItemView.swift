internal import CContracts

/// An item of a stream in the decoder's memory: valid until the decoder's next frame.
public struct StreamItemView {
    private let item: UnsafePointer<Boxoffice__Wire__V1__StreamItem>

    init(_ item: UnsafeMutablePointer<Boxoffice__Wire__V1__StreamItem>) {
        self.item = UnsafePointer(item)
    }

    public var callID: UInt64 { item.pointee.call_id }

    /// The encoded item.
    public var payload: UnsafeRawBufferPointer { CText.bytes(item.pointee.payload) }
}
