internal import TextEncodings

/// The form that a path may have. One place decides, before the throttle, the routes or a log looks at it. A path that a proxy, a router and a limit
/// can read in two ways goes around one of them.
enum PathRule {
    /// More segments than any route has are not even told apart.
    static let deepest = 16

    enum Verdict: Equatable {
        case plain
        /// Plain but for one slash at its end.
        case endsInSlash
        /// A segment is empty, `.` or `..`, encoded or not. Or it hides a slash, a backslash, `.` or a control, or there are too many.
        case refused
    }

    /// - Parameter path: As it was sent, without the query.
    static func verdict(on path: String) -> Verdict {
        var path = path
        return path.withUTF8 { verdict(on: $0) }
    }

    private static func verdict(on octets: UnsafeBufferPointer<UInt8>) -> Verdict {
        guard octets.first == slash else { return .refused }
        if octets.count == 1 { return .plain }
        var depth = 0
        var start = 1
        for index in 1...octets.count where index == octets.count || octets[index] == slash {
            if index == start { return index == octets.count && depth > 0 ? .endsInSlash : .refused }
            depth += 1
            guard depth <= deepest, isPlain(octets[start..<index]) else { return .refused }
            start = index + 1
        }
        return .plain
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    private static func isPlain(_ segment: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var index = segment.startIndex
        var dots = 0
        var count = 0
        while index < segment.endIndex {
            var octet = segment[index]
            index += 1
            if octet == UInt8(ascii: "%"), let decoded = hexPair(segment, index) {
                octet = decoded
                index += 2
                if octet == slash || octet < 0x20 || octet == 0x7f { return false }
            }
            // A control that was not encoded has no place in a request line; an encoded space is text.
            if octet == UInt8(ascii: "\\") || octet < 0x20 { return false }
            if octet == dot { dots += 1 }
            count += 1
        }
        return !(dots == count && count <= 2)
    }

    private static func hexPair(_ segment: Slice<UnsafeBufferPointer<UInt8>>, _ index: Int) -> UInt8? {
        guard index + 1 < segment.endIndex, let high = PercentEncoding.value(ofDigit: segment[index]),
            let low = PercentEncoding.value(ofDigit: segment[index + 1])
        else { return nil }
        return high << 4 | low
    }
}

/// Host and port that a request says it was sent to.
enum Authority {
    /// Octets, at most, of a name (RFC 1035 §2.3.4) with a port.
    private static let longest = 300

    /// True when it is one host, with a port or without (RFC 9110 §4.2.1, §7.2; RFC 3986 §3.2.2). It is no list and has no path, name or password.
    /// Empty is plain, too: a request for a host that has no name.
    static func isPlain(_ authority: String) -> Bool {
        var rest = authority.utf8[...]
        guard rest.count <= longest else { return false }
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), rest[..<end].dropFirst().allSatisfy(isOfNumericAddress) else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            rest = rest.drop(while: isOfName)
        }
        guard let colon = rest.first else { return true }
        return colon == UInt8(ascii: ":") && rest.count <= 6 && rest.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isOfNumericAddress(_ octet: UInt8) -> Bool {
        (0x30...0x3a).contains(octet) || (0x61...0x66).contains(octet | 0x20) || octet == UInt8(ascii: ".")
    }

    /// Letters, digits, and what else names are made of; `%` begins an octet in its encoding.
    private static func isOfName(_ octet: UInt8) -> Bool {
        (0x61...0x7a).contains(octet | 0x20) || (0x30...0x39).contains(octet) || [0x2d, 0x2e, 0x5f, 0x7e, 0x25].contains(octet)
    }
}
