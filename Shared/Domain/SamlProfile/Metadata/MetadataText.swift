internal import CXmlSec

/// The text of a metadata file (XML 1.0 §4.3.3, appendix F). Its encoding is that of its first octets' mark, or of its declaration; else UTF-8.
///
/// Tools on Windows write UTF-16, with or without a byte order mark, and Latin-1. Messages of a sign-in are never read so: they are UTF-8.
public enum MetadataText {
    /// Octets of a file; a longer one is refused before it is read.
    public static let largestFile = 4 * IdentityProviderMetadata.largest

    /// Octets are no text for this reason, to go on from the file's name.
    public struct Rejection: Error, Hashable, Sendable {
        public let message: String
    }

    /// - Parameter octets: The whole file.
    /// - Returns: The text, without a byte order mark. Its declaration is as it was, and no more true.
    /// - Throws: The reason why it cannot be read.
    public static func text(of octets: [UInt8]) throws(Rejection) -> String {
        guard octets.count <= largestFile else { throw Rejection(message: "is larger than \(largestFile / 1024) KiB") }
        let (encoding, content, isMarked) = encoding(of: octets)
        let text = try text(content, in: encoding, isMarked)
        guard !text.utf8.contains(0) else { throw Rejection(message: "holds a NUL, which no XML may") }
        return text
    }

    private enum Encoding {
        case utf8
        case utf16(isBigEndian: Bool)
        case named(String)
    }

    private static func encoding(of octets: [UInt8]) -> (Encoding, ArraySlice<UInt8>, isMarked: Bool) {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, octets.dropFirst(3), true) }
        if octets.starts(with: [0xFF, 0xFE, 0x00, 0x00]) { return (.named("UTF-32LE"), octets.dropFirst(4), true) }
        if octets.starts(with: [0x00, 0x00, 0xFE, 0xFF]) { return (.named("UTF-32BE"), octets.dropFirst(4), true) }
        if octets.starts(with: [0xFF, 0xFE]) { return (.utf16(isBigEndian: false), octets.dropFirst(2), true) }
        if octets.starts(with: [0xFE, 0xFF]) { return (.utf16(isBigEndian: true), octets.dropFirst(2), true) }
        // A document begins with a character of ASCII: which of its octets are zero tells the rest.
        if octets.count >= 4, octets[0] != 0, octets[1] == 0 {
            return (octets[2] == 0 && octets[3] == 0 ? .named("UTF-32LE") : .utf16(isBigEndian: false), octets[...], true)
        }
        if octets.count >= 4, octets[0] == 0 {
            return (octets[1] == 0 && octets[2] == 0 ? .named("UTF-32BE") : .utf16(isBigEndian: true), octets[...], true)
        }
        guard let declared = XmlDeclaration(octets)?.encoding else { return (.utf8, octets[...], false) }
        // Such a text would not begin with octets of ASCII: it was saved again as UTF-8, as editors do.
        let name = declared.uppercased()
        return (name == "UTF-8" || name.hasPrefix("UTF-16") || name.hasPrefix("UTF-32") ? .utf8 : .named(name), octets[...], false)
    }

    private static func text(_ octets: ArraySlice<UInt8>, in encoding: Encoding, _ isMarked: Bool) throws(Rejection) -> String {
        switch encoding {
        case .utf8:
            guard let text = String(validating: octets, as: UTF8.self) else {
                throw Rejection(
                    message: "is not UTF-8 text, and neither a byte order mark nor an XML declaration names another encoding: save it as UTF-8")
            }
            return text
        case .utf16(let isBigEndian):
            var units: [UInt16] = []
            units.reserveCapacity(octets.count / 2)
            for place in stride(from: octets.startIndex, to: octets.endIndex - 1, by: 2) {
                let (first, second) = (UInt16(octets[place]), UInt16(octets[place + 1]))
                units.append(isBigEndian ? first << 8 | second : second << 8 | first)
            }
            guard octets.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
                throw Rejection(message: "begins as UTF-16 and does not go on so: it was cut or changed on its way")
            }
            return text
        case .named("ISO-8859-1"), .named("LATIN1"):
            var text = String.UnicodeScalarView()
            for octet in octets { text.append(Unicode.Scalar(octet)) }
            return String(text)
        case .named(let name):
            var length = 0
            var isKnown: Int32 = 0
            let recoded = Array(octets).withUnsafeBufferPointer { cxs_recode(name, $0.baseAddress, $0.count, largestFile, &length, &isKnown) }
            guard let recoded else {
                throw Rejection(
                    message: isKnown == 0
                        ? "declares the encoding \(name), which is not known here: save it as UTF-8"
                        : "declares the encoding \(name) and is not written in it: save it as UTF-8")
            }
            defer { cxs_free(recoded) }
            return String(decoding: UnsafeBufferPointer(start: recoded, count: length), as: UTF8.self)
        }
    }
}

/// The declaration at the beginning of an XML text (XML 1.0 §2.8).
struct XmlDeclaration {
    /// The name in it; nil when it names none.
    let encoding: String?
    /// Where the name and what belongs to it stand, in octets.
    private let place: Range<Int>?

    private static let longest = 200

    /// Nil when there is none.
    init?(_ octets: [UInt8]) {
        guard octets.starts(with: Array("<?xml".utf8)), octets.count > 5, Self.isSpace(octets[5]),
            let end = octets.prefix(Self.longest).firstIndex(of: UInt8(ascii: ">"))
        else { return nil }
        let head = octets[..<end]
        let word = Array("encoding".utf8)
        guard let start = head.indices.first(where: { head[$0...].starts(with: word) && Self.isSpace(head[$0 - 1]) }) else {
            (encoding, place) = (nil, nil)
            return
        }
        var next = start + word.count
        func skipSpace() { while next < end, Self.isSpace(octets[next]) { next += 1 } }
        skipSpace()
        guard next < end, octets[next] == UInt8(ascii: "=") else { return nil }
        next += 1
        skipSpace()
        guard next < end, octets[next] == UInt8(ascii: "\"") || octets[next] == UInt8(ascii: "'"),
            let close = head[(next + 1)...].firstIndex(of: octets[next])
        else { return nil }
        let name = octets[(next + 1)..<close]
        guard (1...40).contains(name.count), name.allSatisfy(Self.isOfName) else { return nil }
        encoding = String(decoding: name, as: UTF8.self)
        place = start..<(close + 1)
    }

    /// The text without the name: whoever carried it as text has recoded it (RFC 7303 §3.2).
    static func withoutEncoding(_ text: String) -> [UInt8] {
        let octets = Array(text.utf8.drop { isSpace($0) })
        let content = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(octets.dropFirst(3).drop { isSpace($0) }) : octets
        guard let place = XmlDeclaration(content)?.place else { return content }
        return Array(content[..<place.lowerBound] + content[place.upperBound...])
    }

    private static func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }

    /// Letters, digits, `.`, `_` and `-` (§4.3.3).
    private static func isOfName(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
    }
}
