/// The streaming device that a call is about (rest-v2 §1.3).
struct DeviceIdentifier: Sendable, Hashable {
    /// The decoded octets: the same text as v1's `deviceId`.
    let octets: [UInt8]

    init(_ name: String) { octets = Array(name.utf8) }

    /// - Parameter header: `AP-Device-Identifier`.
    /// - Throws: `invalid_header_device_identifier` unless it is `fingerprint` and Base64 of something.
    init(header: String?) throws(UpstreamRefusal) {
        let parts = (header ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "fingerprint", let octets = Base64.octets(String(parts[1])), (1...1024).contains(octets.count) else {
            throw UpstreamRefusal(.invalidDeviceIdentifier)
        }
        self.octets = octets
    }

    var name: String { String(decoding: octets, as: UTF8.self) }

    /// 40 hexadecimal digits, for the ids of people that nobody has signed in.
    var hash: String { String(Hexadecimal.text(Digest.sha256(octets)).prefix(40)) }
}
