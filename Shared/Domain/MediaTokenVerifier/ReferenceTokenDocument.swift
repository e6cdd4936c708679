public import Clocks
internal import Cryptography
internal import Octets

/// The reference form of a media token, taken apart (rest-v1 §7).
struct ReferenceTokenDocument: Sendable {
    /// In bytes after Base64; genuine tokens are far shorter.
    static let largestByteCount = 64 * 1024

    let signature: [UInt8]
    let signedBytes: [UInt8]
    let facts: MediaTokenFacts

    private static let openingTag = Array("<signatureInfo>".utf8)
    // The documented tag that ends the signature lacks its slash; some senders write it.
    private static let endingTags = [Array("<signatureInfo>".utf8), Array("</signatureInfo>".utf8)]
    private static let roots = ["shortAuthorizationToken", "authToken"]

    /// - Returns: `nil` unless the text is of the documented shape, in Base64 or in clear.
    init?(serialized: String) {
        guard serialized.utf8.count <= Self.largestByteCount * 4 / 3 else { return nil }
        // Players of the vendor's SDKs pass the decoded text on.
        let isPlain = serialized.utf8.first == UInt8(ascii: "<")
        guard let bytes = isPlain ? Array(serialized.utf8) : Base64.standard.decode(serialized), bytes.starts(with: Self.openingTag) else {
            return nil
        }
        let rest = bytes.dropFirst(Self.openingTag.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "<")),
            let tag = Self.endingTags.first(where: { rest[end...].starts(with: $0) }),
            let signature = Base64.standard.decode(Array(rest[..<end])), !signature.isEmpty
        else { return nil }
        self.signature = signature
        signedBytes = Array(rest[(end + tag.count)...])
        guard let facts = Self.facts(signedBytes) else { return nil }
        self.facts = facts
    }

    private static func facts(_ bytes: [UInt8]) -> MediaTokenFacts? {
        guard let text = String(validating: bytes, as: UTF8.self), let fields = FlatElement(text, roots: roots)?.fields else { return nil }
        guard let guid = fields["sessionGUID"], let requestor = fields["requestorID"], let resource = fields["resourceID"],
            let ttl = fields["ttl"].flatMap({ Int64($0) }), (0...maximalTTL).contains(ttl),
            let issuedAt = fields["issueTime"].flatMap(IssueTime.parse), let mvpd = fields["mvpdId"]
        else { return nil }
        let proxy = fields["proxyMvpdId"].flatMap { $0.isEmpty ? nil : $0 }
        return MediaTokenFacts(
            sessionGUID: guid, requestor: requestor, resource: resource, ttl: .milliseconds(ttl), issuedAt: issuedAt, mvpd: mvpd, proxyMvpd: proxy)
    }

    /// A year in milliseconds; keeps the arithmetic away from overflow.
    private static let maximalTTL: Int64 = 366 * 86_400_000
}

/// `issueTime` of the reference form: `2025-03-04 10:15:30 +0000`.
public enum IssueTime {
    /// - Parameters:
    ///   - moment: Written in whole seconds.
    ///   - zone: Minutes east of UTC in which the moment is written; it stays the same moment. 0 to 1439.
    public static func format(_ moment: Timestamp, zone: Int64 = 0) -> String {
        let seconds = moment.seconds + zone * 60
        let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
        let (year, month, dayOfMonth) = CivilDate.fromDay(day)
        let time = seconds - day * 86_400
        var text: [UInt8] = []
        text.reserveCapacity(template.count)
        let parts: [(number: Int64, width: Int, separator: String)] = [
            (year, 4, "-"), (month, 2, "-"), (dayOfMonth, 2, " "), (time / 3600, 2, ":"), (time / 60 % 60, 2, ":"), (time % 60, 2, " +"),
            (zone / 60, 2, ""), (zone % 60, 2, ""),
        ]
        for part in parts {
            pad(part.number, part.width, to: &text)
            text.append(contentsOf: part.separator.utf8)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` unless the text is a date, a time and an offset of hours and minutes, each possible.
    public static func parse(_ text: String) -> Timestamp? {
        let characters = Array(text.utf8)
        guard characters.count == template.count, zip(characters, template).allSatisfy(fits) else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            guard characters[range].allSatisfy({ (48...57).contains($0) }) else { return nil }
            return characters[range].reduce(0) { $0 * 10 + Int64($1 - 48) }
        }
        guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), let zoneHours = number(21..<23), let zoneMinutes = number(23..<25),
            hour < 24, minute < 60, second < 60, zoneHours < 24, zoneMinutes < 60, let date = CivilDate.day(year: year, month: month, day: day)
        else { return nil }
        let offset = (zoneHours * 3600 + zoneMinutes * 60) * (characters[20] == UInt8(ascii: "-") ? -1 : 1)
        return Timestamp(seconds: date * 86_400 + hour * 3600 + minute * 60 + second - offset)
    }

    /// The digits are checked later; a minus may take the place of the plus.
    private static func fits(_ character: UInt8, _ model: UInt8) -> Bool {
        model == UInt8(ascii: "0") || character == model || (model == UInt8(ascii: "+") && character == UInt8(ascii: "-"))
    }

    private static let template = Array("0000-00-00 00:00:00 +0000".utf8)

    /// With leading zeros.
    private static func pad(_ number: Int64, _ width: Int, to text: inout [UInt8]) {
        let digits = String(number).utf8
        for _ in 0..<max(0, width - digits.count) { text.append(UInt8(ascii: "0")) }
        text.append(contentsOf: digits)
    }
}

/// Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day is a year's last. Its own, beside that of `Clocks`:
/// the verifier shares no reading of a token with those that make tokens.
enum CivilDate {
    private static let daysPerEra: Int64 = 146_097
    private static let daysFromEraTo1970: Int64 = 719_468

    static func fromDay(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + daysFromEraTo1970
        let era = (shifted >= 0 ? shifted : shifted - daysPerEra + 1) / daysPerEra
        let dayOfEra = shifted - era * daysPerEra
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    /// - Returns: `nil` for a day that does not exist.
    static func day(year: Int64, month: Int64, day: Int64) -> Int64? {
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let result = era * daysPerEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - daysFromEraTo1970
        let (backYear, backMonth, backDay) = fromDay(result)
        return backYear == year && backMonth == month && backDay == day ? result : nil
    }
}

/// One XML element with children that hold only text: all that a media token needs. Any other XML is refused.
struct FlatElement {
    let fields: [String: String]

    /// - Parameters:
    ///   - text: The element and nothing beside it.
    ///   - roots: Names that the element may have.
    init?(_ text: String, roots: [String]) {
        var scanner = Scanner(text[...])
        guard let root = scanner.openingTag(), roots.contains(root) else { return nil }
        var fields: [String: String] = [:]
        while true {
            scanner.skipWhiteSpace()
            if scanner.closingTag(root) { break }
            guard let name = scanner.openingTag(), let content = scanner.content(of: name) else { return nil }
            guard fields.updateValue(content, forKey: name) == nil else { return nil }
        }
        guard scanner.isAtEnd else { return nil }
        self.fields = fields
    }
}

private struct Scanner {
    private var rest: Substring.UnicodeScalarView

    init(_ text: Substring) { rest = text.unicodeScalars }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skipWhiteSpace() { rest = rest.drop { " \t\r\n".unicodeScalars.contains($0) } }

    /// A start tag without attributes.
    mutating func openingTag() -> String? {
        guard rest.first == "<" else { return nil }
        let name = rest.dropFirst().prefix { $0.isASCII && ($0.properties.isAlphabetic) }
        let after = rest[name.endIndex...]
        guard !name.isEmpty, after.first == ">" else { return nil }
        rest = after.dropFirst()
        return String(String.UnicodeScalarView(name))
    }

    mutating func closingTag(_ name: String) -> Bool {
        let tag = "</\(name)>".unicodeScalars
        guard rest.starts(with: tag) else { return false }
        rest = rest.dropFirst(tag.count)
        return true
    }

    /// Text up to the end tag, its references resolved.
    mutating func content(of name: String) -> String? {
        let raw = rest.prefix { $0 != "<" }
        rest = rest[raw.endIndex...]
        guard closingTag(name) else { return nil }
        return XMLText.unescape(raw)
    }
}

/// Character data of an XML element.
public enum XMLText {
    private static let named: [String: Unicode.Scalar] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

    /// - Returns: `nil` when a reference is broken or unknown.
    public static func unescape(_ raw: Substring.UnicodeScalarView) -> String? {
        guard raw.contains("&") else { return String(String.UnicodeScalarView(raw)) }
        var text = String.UnicodeScalarView()
        var rest = raw
        while let scalar = rest.first {
            rest = rest.dropFirst()
            guard scalar == "&" else {
                text.append(scalar)
                continue
            }
            let name = rest.prefix { $0 != ";" }
            rest = rest[name.endIndex...]
            guard rest.popFirst() == ";", let resolved = resolve(String(String.UnicodeScalarView(name))) else { return nil }
            text.append(resolved)
        }
        return String(text)
    }

    private static func resolve(_ reference: String) -> Unicode.Scalar? {
        guard reference.hasPrefix("#") else { return named[reference] }
        let digits = reference.dropFirst()
        let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return value.flatMap(Unicode.Scalar.init)
    }
}
