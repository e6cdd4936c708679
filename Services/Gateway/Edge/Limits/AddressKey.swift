/// Under what a client address is counted: an IPv4 address as it is, an IPv6 address by its /64, which is what one customer gets.
///
/// Only a digest is kept, keyed anew in each process: nobody outside can choose addresses that meet in one place of a table.
struct AddressKey: Hashable, Sendable {
    /// Never 0, which marks a free place.
    let digest: UInt64

    init(_ address: IPAddress) {
        var hasher = Hasher()
        hasher.combine(address.isIPv4)
        hasher.combine(address.high)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }

    /// - Parameter digest: Of a key.
    init(digest: UInt64) { self.digest = digest }

    /// For what is counted by a name: of each kind in a table of its own.
    init(name: String) {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}

extension AddressKey {
    /// For what is counted by two names together.
    init(name: String, with other: String) {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        hasher.combine(0xff as UInt8)
        hasher.combine(bytes: other)
        digest = max(1, UInt64(bitPattern: Int64(hasher.finalize())))
    }
}

extension AddressKey {
    /// For a client as it is at one address; at one that cannot be read, as it is everywhere.
    init(client: String, at address: ClientAddress) {
        guard let address = IPAddress(address.text) else {
            self.init(name: client)
            return
        }
        self.init(name: client, with: "\(address.isIPv4) \(address.high)")
    }
}

extension Hasher {
    /// The octets of a text: cheaper than the text, whose canonical equivalents hash alike.
    fileprivate mutating func combine(bytes text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
