package import Foundation

/// Reads a file that a person named.
package enum TextFile {
    /// - Throws: `CommandFailure` naming the file that cannot be read.
    package static func content(_ path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure("cannot read \(path)", advice: PlainReason.of(error), exit: .usage)
        }
    }

    package static func read(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw CommandFailure("cannot read \(path)", advice: PlainReason.of(error), exit: .usage)
        }
    }
}

/// Files of `/proc`. Foundation takes their size, which is 0, for how much there is, and ends after the first page.
package enum SystemFile {
    /// - Returns: Nil when it cannot be read.
    package static func read(_ path: String) -> String? {
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
