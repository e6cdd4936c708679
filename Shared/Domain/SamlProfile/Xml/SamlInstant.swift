internal import Clocks

/// Moments as SAML writes them: `YYYY-MM-DDThh:mm:ss[.fraction]Z`, always UTC (SAML core §1.3.3).
enum SamlInstant {
    /// The moment, rounded down to milliseconds; nil when the text has another form.
    static func parse(_ text: String) -> Timestamp? {
        text.utf8.withContiguousStorageIfAvailable(parse) ?? Array(text.utf8).withUnsafeBufferPointer(parse)
    }

    private static func parse(_ characters: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard characters.count >= 20, characters.last == UInt8(ascii: "Z"), characters[4] == UInt8(ascii: "-"),
            characters[7] == UInt8(ascii: "-"), characters[10] == UInt8(ascii: "T"), characters[13] == UInt8(ascii: ":"),
            characters[16] == UInt8(ascii: ":")
        else { return nil }
        guard let year = number(characters[0..<4]), let month = number(characters[5..<7]), let day = number(characters[8..<10]),
            let hour = number(characters[11..<13]), let minute = number(characters[14..<16]), let second = number(characters[17..<19]),
            let milliseconds = fraction(characters[19..<characters.count - 1])
        else { return nil }
        guard let date = CivilDate(year: year, month: month, day: day), hour < 24, minute < 60, second < 60 else { return nil }
        let seconds = ((date.daysSince1970 * 24 + hour) * 60 + minute) * 60 + second
        return Timestamp(milliseconds: Int64(seconds * 1000 + milliseconds))
    }

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
        guard point == UInt8(ascii: "."), text.count > 1, text.count <= 13, number(text.dropFirst()) != nil else { return nil }
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
