#if canImport(Glibc)
internal import Glibc
#endif
internal import Foundation
internal import Logging
internal import ServiceLifecycle

/// Gives back the pages of programs and libraries that only the start needed (Shared/Documents/Decisions/0009).
///
/// Starting a Swift program walks the metadata of every library, and the kernel maps the surroundings of each page that is touched. Two thirds of the
/// resident memory of an idle service are code that it does not run and metadata that it does not read. Dropping a clean page of a file costs nothing
/// but a minor fault when it is needed after all.
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
        return mappings(allMappings()).reduce(0) { total, mapping in
            guard let start = UnsafeMutableRawPointer(bitPattern: mapping.range.lowerBound) else { return total }
            return madvise(start, mapping.range.count, Int32(MADV_DONTNEED)) == 0 ? total + mapping.residentBytes : total
        }
        #else
        return 0
        #endif
    }

    /// All of `/proc/self/smaps`. The kernel gives a page of it at a time, and reading a file as a whole ends at the first short read.
    /// - Returns: Nothing where it cannot be read.
    static func allMappings() -> String {
        var text: [UInt8] = []
        #if canImport(Glibc)
        let file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return "" }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        #endif
        return String(decoding: text, as: UTF8.self)
    }

    struct Mapping: Hashable {
        let range: Range<UInt>
        let residentBytes: Int
    }

    /// Mappings of programs and libraries, of code or of constants (some linkers keep these apart), in which no page was ever written. Only those may
    /// be dropped, for only those are on disk as they are. A file without code is left alone: it may be gone, and its addresses be memory, by the
    /// time of the call.
    static func mappings(_ smaps: String) -> [Mapping] {
        var found: [(file: Substring, mapping: Mapping)] = []
        var programs: Set<Substring> = []
        var area: (range: Range<UInt>, file: Substring)?
        var resident = 0
        for line in smaps.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            if let header = header(words) {
                area = header.file.map { (header.range, $0) }
                if words[1] == "r-xp", let file = header.file { programs.insert(file) }
            } else if words.first == "Rss:", words.count > 1 {
                resident = (Int(words[1]) ?? 0) * 1024
            } else if words.first == "Anonymous:", words.count > 1, let area, words[1] == "0", resident > 0 {
                found.append((area.file, Mapping(range: area.range, residentBytes: resident)))
            }
        }
        return found.filter { programs.contains($0.file) }.map(\.mapping)
    }

    /// `from-to mode offset device inode path` (proc(5)); `file` where it is code or constants of one.
    private static func header(_ words: [Substring]) -> (range: Range<UInt>, file: Substring?)? {
        guard words.count >= 5, let dash = words[0].firstIndex(of: "-"), let from = UInt(words[0][..<dash], radix: 16),
            let to = UInt(words[0][words[0].index(after: dash)...], radix: 16), from < to
        else { return nil }
        return (from..<to, words.count >= 6 && ["r-xp", "r--p"].contains(words[1]) && words[5].hasPrefix("/") ? words[5] : nil)
    }
}
