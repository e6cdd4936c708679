#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Foundation

/// Tells systemd about this program, by datagrams to the socket that it names (sd_notify(3)). Nothing waits for it, and nothing depends on it.
struct ServiceManager: Sendable {
    /// Where the socket is: a path, or `@` and an abstract name.
    static let variable = "NOTIFY_SOCKET"

    private let address: sockaddr_un
    private let length: socklen_t

    /// - Parameter environment: The environment of the process.
    /// - Returns: `nil` where nobody listens: without systemd, or where the unit has no `NotifyAccess`.
    init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        guard let name = environment[Self.variable], let first = name.utf8.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first) else {
            return nil
        }
        var octets = Array(name.utf8)
        if first == UInt8(ascii: "@") { octets[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
        self.address = address
        // An abstract name ends where the address does, a path with a NUL.
        let ending = first == UInt8(ascii: "@") ? 0 : 1
        length = socklen_t((MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2) + octets.count + ending)
    }

    /// - Parameter lines: Each `NAME=value`.
    func tell(_ lines: String...) {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #endif
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = Array(lines.joined(separator: "\n").utf8)
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT), $0, length)
            }
        }
    }
}

extension Duration {
    /// As systemd counts.
    var wholeMicroseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
