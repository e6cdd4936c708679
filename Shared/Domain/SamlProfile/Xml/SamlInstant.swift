internal import Clocks

/// Moments as SAML writes them: xs:dateTime, in messages always of UTC (SAML core §1.3.3).
enum SamlInstant {
    /// The reading of a text as xs:dateTime (XML Schema part 2 §3.2.7).
    enum Reading: Hashable, Sendable {
        /// `Z`, `+00:00` or `-00:00`.
        case utc(Timestamp)
        /// The moment of a text with another offset.
        case offset(Timestamp)
        /// Which moment it is, nobody knows.
        case withoutZone
        case unreadable
    }

    /// Characters; a longer text is no moment.
    private static let longest = 64

    /// The moment of a message, rounded down to milliseconds; nil when the text has another form, or another offset than that of UTC.
    static func parse(_ text: String) -> Timestamp? { if case .utc(let moment) = read(text) { moment } else { nil } }

    /// The moment of a document that may have any offset, such as metadata.
    static func parseAnyOffset(_ text: String) -> Timestamp? {
        switch read(text) {
        case .utc(let moment), .offset(let moment): moment
        case .withoutZone, .unreadable: nil
        }
    }

    /// Returns why a text is no moment of a message, to go on from its name; nil when it is one.
    static func problem(_ text: String) -> String? {
        switch read(text) {
        case .utc: nil
        case .offset: "has an offset from UTC; SAML writes moments in UTC, ending in Z (SAML core §1.3.3)"
        case .withoutZone: "names no time zone; SAML writes moments in UTC, ending in Z (SAML core §1.3.3)"
        case .unreadable: "is no xs:dateTime, such as 2031-03-04T10:00:00Z"
        }
    }

    static func read(_ text: String) -> Reading {
        text.utf8.withContiguousStorageIfAvailable(read) ?? Array(text.utf8).withUnsafeBufferPointer(read)
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) -> Reading {
        // The white space of xs:dateTime is collapsed (§4.3.6).
        func isSpace(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) }), last - first < longest else {
            return .unreadable
        }
        let characters = UnsafeBufferPointer(rebasing: text[first...last])
        guard characters.count >= 19, characters[4] == UInt8(ascii: "-"), characters[7] == UInt8(ascii: "-"), characters[10] == UInt8(ascii: "T"),
            characters[13] == UInt8(ascii: ":"), characters[16] == UInt8(ascii: ":")
        else { return .unreadable }
        let zoneStart = characters[19...].firstIndex { $0 != UInt8(ascii: ".") && !isDigit($0) } ?? characters.count
        guard let year = number(characters[0..<4]), let month = number(characters[5..<7]), let day = number(characters[8..<10]),
            let hour = number(characters[11..<13]), let minute = number(characters[14..<16]), let second = number(characters[17..<19]),
            let milliseconds = fraction(characters[19..<zoneStart]), let zone = zone(characters[zoneStart...])
        else { return .unreadable }
        // The end of a day may be written as its hour 24, and nothing else of that hour (§3.2.7.1). There are no leap seconds.
        let isEndOfDay =
            hour == 24 && minute == 0 && second == 0 && characters[19..<zoneStart].allSatisfy { !("1"..."9").contains(Unicode.Scalar($0)) }
        guard let date = CivilDate(year: year, month: month, day: day), hour < 24 || isEndOfDay, minute < 60, second < 60 else { return .unreadable }
        let seconds = ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        switch zone {
        case .none: return .withoutZone
        case .minutes(0): return .utc(Timestamp(milliseconds: Int64(seconds * 1000 + milliseconds)))
        case .minutes(let minutes): return .offset(Timestamp(milliseconds: Int64((seconds - minutes * 60) * 1000 + milliseconds)))
        }
    }

    private enum Zone {
        case none
        /// East of UTC.
        case minutes(Int)
    }

    /// Nil when the text is no time zone: `Z`, or an offset of up to 14 hours.
    private static func zone(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Zone? {
        guard let sign = text.first else { return Zone.none }
        if sign == UInt8(ascii: "Z") { return text.count == 1 ? .minutes(0) : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-"), text.count == 6, text[text.startIndex + 3] == UInt8(ascii: ":"),
            let hours = number(text[(text.startIndex + 1)..<(text.startIndex + 3)]), let minutes = number(text.suffix(2)),
            minutes < 60, hours * 60 + minutes <= 14 * 60
        else { return nil }
        return .minutes((hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1))
    }

    private static func isDigit(_ octet: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) }

    /// With milliseconds (mvpd §2.2).
    static func format(_ moment: Timestamp) -> String {
        let date = CivilDate(daysSince1970: Int(moment.seconds.flooredQuotient(86_400)))
        let second = Int(moment.seconds - moment.seconds.flooredQuotient(86_400) * 86_400)
        let milliseconds = Int(moment.milliseconds - moment.seconds * 1000)
        return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T" + padded(second / 3600, 2) + ":"
            + padded(second / 60 % 60, 2) + ":" + padded(second % 60, 2) + "." + padded(milliseconds, 3) + "Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var value = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            value = value * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return value
    }

    /// Milliseconds of `.123456`; 0 of nothing.
    private static func fraction(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let point = text.first else { return 0 }
        guard point == UInt8(ascii: "."), text.count > 1, text.dropFirst().allSatisfy(isDigit) else { return nil }
        let digits = text.dropFirst().prefix(3)
        return number(digits).map { digits.count == 3 ? $0 : digits.count == 2 ? $0 * 10 : $0 * 100 }
    }
}

extension Int64 {
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
