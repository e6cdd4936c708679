public import Clocks
public import OutboundHttp

/// Reads what time it is upstream (bridge §5.2).
public enum UpstreamClock {
    /// Differences up to this are the network's, or of two clocks that are set well.
    public static let tolerance: Duration = .seconds(30)
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// By how much the clock that wrote an answer's `Date` is ahead of ours; negative: behind; `nil`: the answer does not say.
    /// - Parameter now: When it came.
    public static func offset(_ answer: OutboundAnswer, now: Timestamp) -> Duration? {
        answer.header("Date").flatMap(moment).map { $0 - now }
    }

    /// A date as HTTP writes it (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Older forms are not sent any more.
    static func moment(_ text: String) -> Timestamp? {
        guard text.utf8.count == 29 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 6, words[5] == "GMT", words[0].utf8.last == 0x2c, let month = months.firstIndex(of: String(words[2])) else { return nil }
        let times = words[4].split(separator: ":", omittingEmptySubsequences: false)
        guard times.count == 3, let day = number(words[1], 1...31), let year = number(words[3], 1970...9999), let hour = number(times[0], 0...23),
            let minute = number(times[1], 0...59), let second = number(times[2], 0...60)
        else { return nil }
        let seconds = days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
        return Timestamp(milliseconds: seconds * 1000)
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int64>) -> Int64? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(text), range.contains(number) else { return nil }
        return number
    }

    /// Since 1970, in the proleptic Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let (y, m) = month <= 2 ? (year - 1, Int64(month) + 9) : (year, Int64(month) - 3)
        return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719_469
    }
}

/// Something whose times are upstream's.
public protocol UpstreamTimed {
    /// The same by a clock that is so far behind.
    func earlier(by offset: Duration) -> Self
}

extension Array: UpstreamTimed where Element: UpstreamTimed {
    public func earlier(by offset: Duration) -> [Element] { map { $0.earlier(by: offset) } }
}

extension BridgedProfile: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedProfile { BridgedProfile(self, start: start - offset, end: end - offset) }
}

extension BridgedSignIn: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedSignIn {
        guard case .browser(let path, let code, let end) = self else { return self }
        return .browser(path: path, code: code, end: end - offset)
    }
}

extension BridgedDecision: UpstreamTimed {
    public func earlier(by offset: Duration) -> BridgedDecision {
        BridgedDecision(
            self, end: end.map { $0 - offset },
            token: token.map { MediaToken(serialized: $0.serialized, start: $0.start - offset, end: $0.end - offset) })
    }
}
