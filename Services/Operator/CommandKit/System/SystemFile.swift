internal import Foundation

/// Files of `/proc`. Foundation takes their size, which is 0, for how much there is, and ends after the first page.
enum SystemFile {
    /// - Returns: Nil when it cannot be read.
    static func read(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = Foundation.read(descriptor, &part, part.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            guard count > 0 else { return String(decoding: content, as: UTF8.self) }
            content += part[..<count]
        }
    }
}
