/// The head of a GET that its bytes show to be a whole request: in the usual form, without a body, and without anything that concerns the connection.
///
/// Whatever is in doubt is none: then the parser has its say.
struct PlainGet {
    let target: String
    let accept: String?

    /// - Parameter bytes: All that the client has sent since the request before.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count < 16 * 1024, bytes.suffix(4).elementsEqual(Self.end), bytes.starts(with: Self.method) else { return nil }
        var accept: String?
        var hosts = 0
        var target: String?
        var start = 0
        // The last line is the empty one, of which there is but one.
        let last = bytes.count - 2
        while start < last {
            guard let feed = bytes[start...].firstIndex(of: 0x0a), feed > start + 1, bytes[feed - 1] == 0x0d else { return nil }
            let line = bytes[start..<feed - 1]
            start = feed + 1
            guard target != nil else {
                guard let found = Self.target(line) else { return nil }
                target = found
                continue
            }
            switch Self.kind(line) {
            case .host: hosts += 1
            case .accept where accept == nil: accept = String(decoding: line.dropFirst(7).drop { $0 == 0x20 }, as: UTF8.self)
            case .harmless: break
            case .accept, .doubtful: return nil
            }
        }
        guard let target, hosts == 1 else { return nil }
        self.target = target
        self.accept = accept
    }

    private static let method = Array("GET /".utf8)
    private static let version = Array(" HTTP/1.1".utf8)
    private static let end: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a]

    private static func target(_ line: Slice<UnsafeRawBufferPointer>) -> String? {
        guard line.count >= method.count + version.count, line.suffix(version.count).elementsEqual(version) else { return nil }
        let target = line.dropFirst(4).dropLast(version.count)
        return target.allSatisfy { (0x21..<0x7f).contains($0) } ? String(decoding: target, as: UTF8.self) : nil
    }

    private enum Kind {
        case host, accept, harmless, doubtful
    }

    /// Fields that tell of a body, an expectation, or what becomes of the connection (RFC 9110 §7.6.1, §8.6, §10.1.1; RFC 9112 §6.1).
    private static let doubtful = [
        "content-length", "content-type", "content-encoding", "connection", "transfer-encoding", "expect", "upgrade", "te", "trailer", "keep-alive",
        "proxy-connection",
    ].map { Array($0.utf8) }

    private static func kind(_ line: Slice<UnsafeRawBufferPointer>) -> Kind {
        // A continued line, one that is no field, or a name with a blank before its colon, which others on the way may have read as the name without it.
        guard let colon = line.firstIndex(of: 0x3a), colon > line.startIndex, line[..<colon].allSatisfy(isOfName), !line.contains(0x0d),
            !line.contains(0)
        else { return .doubtful }
        let name = line[..<colon]
        if isNamed(name, host) { return .host }
        if isNamed(name, acceptance) { return .accept }
        return doubtful.contains { isNamed(name, $0) } ? .doubtful : .harmless
    }

    private static let host = Array("host".utf8)
    private static let acceptance = Array("accept".utf8)

    /// What names of fields are made of: letters, digits and `-`; of the other characters that RFC 9110 §5.6.2 allows, nobody has need.
    private static func isOfName(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) || byte == 0x2d }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7a).contains(byte | 0x20) }

    /// - Parameter other: In lower case.
    private static func isNamed(_ name: Slice<UnsafeRawBufferPointer>, _ other: [UInt8]) -> Bool {
        name.count == other.count && zip(name, other).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 && isLetter($0)) }
    }
}
