package import Foundation

/// Finds the processes that listen on a port of this machine.
package enum PortOwner {
    /// - Returns: Process ids, ascending; empty when no process listens there or this user may not read it from `/proc`.
    package static func find(port: Int) -> [Int32] { all([port])[port] ?? [] }

    /// The same for many ports in one look.
    package static func all(_ ports: Set<Int>) -> [Int: [Int32]] {
        var found = look(ports)
        // The system's tables change while they are read: what one look misses another one sees.
        for _ in 0..<2 where found.count < ports.count { found.merge(look(ports.subtracting(found.keys))) { $1 } }
        return found
    }

    private static func look(_ ports: Set<Int>) -> [Int: [Int32]] {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].compactMap(SystemFile.read)
        var wanted: [String: Int] = [:]
        for port in ports {
            for inode in tables.flatMap({ listeners($0, port: port) }) { wanted["socket:[\(inode)]"] = port }
        }
        guard !wanted.isEmpty, let entries = try? FileManager.default.contentsOfDirectory(atPath: "/proc") else { return [:] }
        var found: [Int: [Int32]] = [:]
        for pid in entries.compactMap({ Int32($0) }).sorted() {
            for port in owned(by: pid, of: wanted) { found[port, default: []].append(pid) }
        }
        return found
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

    /// - Parameter sockets: The port of each, by what a link to it says.
    private static func owned(by pid: Int32, of sockets: [String: Int]) -> Set<Int> {
        let path = "/proc/\(pid)/fd"
        // Not by `FileManager`, which gives the whole folder up when a descriptor is closed meanwhile.
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var found: Set<Int> = []
        var target = [CChar](repeating: 0, count: 64)
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) } }
            let count = readlink("\(path)/\(name)", &target, target.count)
            guard count > 0, count < target.count else { continue }
            if let port = sockets[String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)] { found.insert(port) }
        }
        return found
    }
}

/// Tells whether a port of 127.0.0.1 can be listened at.
package enum ListenProbe {
    package static func isFree(_ port: Int) -> Bool {
        guard let number = in_port_t(exactly: port) else { return false }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // As servers do, so that connections that have just ended are no hindrance.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = number.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) } == 0
        }
    }
}

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
