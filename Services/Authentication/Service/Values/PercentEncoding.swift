/// Percent-encoding of a query value: everything but the unreserved characters of RFC 3986 §2.3.
enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    static func encoded(_ value: String) -> String {
        var text: [UInt8] = []
        for octet in value.utf8 {
            if isUnreserved(octet) {
                text.append(octet)
            } else {
                text += [UInt8(ascii: "%"), digits[Int(octet >> 4)], digits[Int(octet & 15)]]
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isUnreserved(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._~".utf8.contains(octet)
        }
    }
}
