#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Synchronization

/// The time of the header `Date`, in the form of RFC 9110 §5.6.7, written once a second.
enum HttpDate {
    private struct Written {
        var second: time_t = -1
        var text = ""
    }

    private static let last = Mutex(Written())

    static func now() -> String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = Written(second: second, text: text(second)) }
            return last.text
        }
    }

    /// Names of days and months are English: the program keeps the C locale.
    static func text(_ second: time_t) -> String {
        var (second, parts) = (second, tm())
        gmtime_r(&second, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            // The capacity is more than twice what the form needs, so that the address exists and the text fits.
            guard let start = buffer.baseAddress, strftime(start, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0 else { return "" }
            return String(cString: start)
        }
    }
}
