/// The limits of data that waits for a peer that reads slowly.
struct OutboundLimits: Sendable {
    /// Bytes at all; over it the peer is dropped.
    var bytes: Int
    /// The high water mark may be exceeded for this long before the peer is dropped.
    var slowReaderTime: Duration
}
