#if canImport(Glibc)
internal import Octets
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Reads key and certificate files.
enum SecretFile {
    /// Key and certificate files are far smaller; a wrong path (a log, a device) is refused instead of read.
    static let largestByteCount = 1 << 20

    /// - Throws: `CryptographyError.unreadableFile`.
    static func read(_ path: String) throws(CryptographyError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw unreadable(path) }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = systemRead(descriptor, &part, part.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(path) }
            guard count > 0 else { return content }
            content += part[..<count]
            guard content.count <= largestByteCount else { throw .unreadableFile(path: path, reason: "larger than \(largestByteCount) bytes") }
        }
    }

    private static func unreadable(_ path: String) -> CryptographyError {
        .unreadableFile(path: path, reason: String(cString: strerror(errno)))
    }
}

/// The C function; inside the type, its own `read` hides the name.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int { read(descriptor, buffer, count) }
