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

    /// The text of a query value, in which `+` stands for a space; nil for a broken escape, for NUL, and for what is not UTF-8.
    static func decoded(_ value: Substring) -> String? {
        var octets: [UInt8] = []
        var rest = value.utf8[...]
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "+"): octets.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
                octets.append(high << 4 | low)
            default: octets.append(octet)
            }
        }
        return octets.contains(0) ? nil : String(validating: octets, as: UTF8.self)
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): octet - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): octet - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): octet - UInt8(ascii: "a") + 10
        default: nil
        }
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
