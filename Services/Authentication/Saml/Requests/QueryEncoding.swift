/// Percent-encoding of a query value: everything but the unreserved characters of RFC 3986 §2.3.
enum QueryEncoding {
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
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
