internal import Foundation

/// Finds the processes that listen on a port of this machine.
enum PortOwner {
    /// - Returns: Process ids, ascending; empty when no process listens there or this user may not read it from `/proc`.
    static func find(port: Int) -> [Int32] {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        let wanted = Set(tables.flatMap { listeners($0, port: port) }.map { "socket:[\($0)]" })
        guard !wanted.isEmpty, let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else { return [] }
        return entries.compactMap { Int32($0) }.filter { owns($0, anyOf: wanted) }.sorted()
    }

    /// Inodes of the listening sockets in `/proc/net/tcp`: field 2 is the local address with the port in hexadecimal, 4 the state, 10 the inode.
    static func listeners(_ table: String, port: Int) -> [UInt64] {
        table.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[3] == "0A", let text = fields[1].split(separator: ":").last, Int(text, radix: 16) == port else {
                return nil
            }
            return UInt64(fields[9])
        }
    }

    private static func owns(_ pid: Int32, anyOf sockets: Set<String>) -> Bool {
        let folder = "/proc/\(pid)/fd"
        guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
        return descriptors.contains { descriptor in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(descriptor)")).map(sockets.contains) ?? false
        }
    }
}
