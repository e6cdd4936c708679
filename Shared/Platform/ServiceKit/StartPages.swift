#if canImport(Glibc)
internal import Glibc
#endif
internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// Gives back the pages of programs and libraries that only the start needed (Shared/Documents/Decisions/0009).
///
/// Starting a Swift program walks the metadata of every library, and the kernel maps what surrounds each page that is touched: two thirds of the
/// resident memory of an idle service are code that it does not run and metadata that it does not read. Dropping a clean page of a file costs nothing but a minor fault when
/// it is needed after all.
struct StartPages: Service {
    let logger: Logger
    /// Pauses before each round.
    var pauses: [Duration] = [.seconds(1), .seconds(4), .seconds(25)]

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            for pause in pauses {
                try await Task.sleep(for: pause)
                let bytes = Self.release()
                logger.debug("program.start_pages_released", metadata: ["bytes": "\(bytes)"])
            }
        }
    }

    /// Drops the resident pages of all mappings that qualify.
    /// - Returns: Bytes that were resident in them.
    @discardableResult
    static func release() -> Int {
        #if canImport(Glibc)
        guard let smaps = try? String(contentsOfFile: "/proc/self/smaps", encoding: .utf8) else { return 0 }
        return mappings(smaps).reduce(0) { total, mapping in
            guard let start = UnsafeMutableRawPointer(bitPattern: mapping.range.lowerBound) else { return total }
            return madvise(start, mapping.range.count, Int32(MADV_DONTNEED)) == 0 ? total + mapping.residentBytes : total
        }
        #else
        return 0
        #endif
    }

    struct Mapping: Hashable {
        let range: Range<UInt>
        let residentBytes: Int
    }

    /// Mappings of files, of code or of constants (some linkers keep these apart), in which no page was ever written: only those may be dropped, for only
    /// those are on disk as they are.
    static func mappings(_ smaps: String) -> [Mapping] {
        var found: [Mapping] = []
        var range: Range<UInt>?
        var resident = 0
        for line in smaps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            if let header = header(words) {
                range = header.isOfFile ? header.range : nil
            } else if words.first == "Rss:", words.count > 1 {
                resident = (Int(words[1]) ?? 0) * 1024
            } else if words.first == "Anonymous:", words.count > 1, let clean = range, words[1] == "0", resident > 0 {
                found.append(Mapping(range: clean, residentBytes: resident))
            }
        }
        return found
    }

    /// `from-to mode offset device inode path` (proc(5)).
    private static func header(_ words: [Substring]) -> (range: Range<UInt>, isOfFile: Bool)? {
        guard words.count >= 5, let dash = words[0].firstIndex(of: "-"), let from = UInt(words[0][..<dash], radix: 16),
            let to = UInt(words[0][words[0].index(after: dash)...], radix: 16), from < to
        else { return nil }
        return (from..<to, words.count >= 6 && ["r-xp", "r--p"].contains(words[1]) && words[5].hasPrefix("/"))
    }
}
