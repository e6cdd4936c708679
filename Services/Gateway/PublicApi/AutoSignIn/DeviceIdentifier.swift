internal import Cryptography
internal import Faults
internal import Hummingbird

/// `AP-Device-Identifier: fingerprint <Base64>` (rest-v2 §1.3).
enum DeviceIdentifier {
    /// The decoded id, the same text as `deviceId` of the v1 API.
    /// - Throws: `invalid_device_id` when the header is absent, of another type, or its id is no printable text of 1 to 512 characters.
    static func sent(_ exchange: Exchange) throws(Fault) -> String {
        let sent = exchange.headers[values: .apDeviceIdentifier]
        guard let header = sent.first else { throw Fault(.invalidDeviceID, "Required 'AP-Device-Identifier' is not present") }
        let parts = header.split(separator: " ")
        guard sent.count == 1, parts.count == 2, parts[0] == "fingerprint", let id = decode(parts[1]) else {
            throw Fault(.invalidDeviceID, "'AP-Device-Identifier' must be 'fingerprint' and the Base64 of the device's id")
        }
        guard isPrintable(id), (1...512).contains(id.unicodeScalars.count), id != "dummy" else {
            throw Fault(.invalidDeviceID, "The device's id must have 1 to 512 printable characters")
        }
        return id
    }

    private static func decode(_ encoded: Substring) -> String? {
        guard encoded.utf8.count <= 4096 else { return nil }
        return Base64.tolerant(encoded).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func isPrintable(_ id: String) -> Bool {
        id.utf8.allSatisfy { (0x20..<0x7f).contains($0) } || id.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
