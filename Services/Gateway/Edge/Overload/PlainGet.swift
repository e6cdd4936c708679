internal import Glibc

/// The head of a GET that its bytes show to be a whole request. It has the usual form, no body, and nothing that concerns the connection.
///
/// A doubtful head is none: then the parser has its say. The C library looks for the ends of lines, many octets at a time: where this is called,
/// there is no time.
struct PlainGet {
    /// The part before the query.
    let path: String
    let accept: String?

    /// - Parameter bytes: All that the client has sent since the request before.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard (24..<Http1Bounds.longestHead).contains(bytes.count), let begin = bytes.baseAddress, memcmp(begin, Self.method.utf8Start, 5) == 0,
            memcmp(begin + (bytes.count - 4), Self.end.utf8Start, 4) == 0, memchr(begin, 0, bytes.count) == nil
        else { return nil }
        // The last line is the empty one, of which there is but one.
        let last = begin + (bytes.count - 2)
        guard let first = Self.line(begin, last), let path = Self.path(first) else { return nil }
        var accept: String?
        var hosts = 0
        var fields = 0
        var next = begin + (first.count + 2)
        while next < last {
            guard let line = Self.line(next, last) else { return nil }
            next += line.count + 2
            fields += 1
            switch Self.kind(line) {
            case .host: hosts += 1
            case .accept where accept == nil: accept = String(decoding: line.dropFirst(7).drop { $0 == 0x20 }, as: UTF8.self)
            case .harmless: break
            case .accept, .doubtful: return nil
            }
        }
        guard hosts == 1, fields <= Http1Bounds.mostFields else { return nil }
        self.path = path
        self.accept = accept
    }

    private static let method: StaticString = "GET /"
    private static let version: StaticString = " HTTP/1.1"
    private static let end: StaticString = "\r\n\r\n"

    /// The line that begins there, without its end. `nil` when it is empty, or does not end with the first CR and the first LF in it.
    private static func line(_ start: UnsafeRawPointer, _ last: UnsafeRawPointer) -> UnsafeRawBufferPointer? {
        guard let feed = memchr(start, 0x0a, last - start).map({ UnsafeRawPointer($0) }), feed > start + 1,
            let carriage = memchr(start, 0x0d, feed - start), UnsafeRawPointer(carriage) == feed - 1
        else { return nil }
        return UnsafeRawBufferPointer(start: start, count: feed - 1 - start)
    }

    private static func path(_ line: UnsafeRawBufferPointer) -> String? {
        guard line.count >= 5 + 9, memcmp(line.baseAddress! + (line.count - 9), version.utf8Start, 9) == 0 else { return nil }
        let target = UnsafeRawBufferPointer(rebasing: line[4..<line.count - 9])
        var length = target.count
        for (place, byte) in target.enumerated() {
            guard byte > 0x20, byte < 0x7f else { return nil }
            if byte == 0x3f || byte == 0x23 { length = min(length, place) }
        }
        return String(decoding: target.prefix(length), as: UTF8.self)
    }

    private enum Kind {
        case host, accept, harmless, doubtful
    }

    private static func kind(_ line: UnsafeRawBufferPointer) -> Kind {
        // It is a continued line, no field, or a name with a blank before its colon. Others on the way may have read such a name as the name without
        // it.
        guard let start = line.baseAddress, let colon = memchr(start, 0x3a, line.count) else { return .doubtful }
        let name = UnsafeRawBufferPointer(start: start, count: UnsafeRawPointer(colon) - start)
        guard name.count > 0, name.allSatisfy(isOfName) else { return .doubtful }
        if isNamed(name, "host") { return .host }
        if isNamed(name, "accept") { return .accept }
        return isDoubtful(name) ? .doubtful : .harmless
    }

    /// True for fields about a body, an expectation, the origin of a page, or the connection's end (RFC 9110 §7.6.1, §8.6, §10.1.1; RFC 9112 §6.1).
    private static func isDoubtful(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 2: isNamed(name, "te")
        // The answer to a page is its own.
        case 6: isNamed(name, "expect") || isNamed(name, "origin")
        case 7: isNamed(name, "upgrade") || isNamed(name, "trailer")
        case 10: isNamed(name, "connection") || isNamed(name, "keep-alive")
        case 12: isNamed(name, "content-type")
        case 14: isNamed(name, "content-length")
        case 16: isNamed(name, "content-encoding") || isNamed(name, "proxy-connection")
        case 17: isNamed(name, "transfer-encoding")
        default: false
        }
    }

    /// The characters of field names: letters, digits and `-`. Nobody needs the other characters that RFC 9110 §5.6.2 allows.
    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7a).contains(byte | 0x20) || (0x30...0x39).contains(byte) || byte == 0x2d
    }

    /// - Parameters:
    ///   - name: Made of what names are made of.
    ///   - other: The same; letters of either case are the same.
    private static func isNamed(_ name: UnsafeRawBufferPointer, _ other: StaticString) -> Bool {
        name.count == other.utf8CodeUnitCount && strncasecmp(name.baseAddress!, other.utf8Start, name.count) == 0
    }
}
