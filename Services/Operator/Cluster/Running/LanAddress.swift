internal import CommandKit
internal import Foundation

/// This machine's IPv4 address in the network that it is in.
enum LanAddress {
    /// Of the documentation's networks (RFC 5737): the way there is the way to all others, and nothing is sent.
    private static let elsewhere = "198.51.100.1"

    /// The address with which this machine reaches others; `nil`: it reaches none.
    static func current() -> String? {
        let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0, var target = address(elsewhere, port: 9) else { return nil }
        defer { close(descriptor) }
        guard with(&target, { connect(descriptor, $0, $1) }) == 0 else { return nil }
        var own = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard with(&own, { pointer, _ in getsockname(descriptor, pointer, &size) }) == 0 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET_ADDRSTRLEN))
        guard inet_ntop(AF_INET, &own.sin_addr, &text, socklen_t(INET_ADDRSTRLEN)) != nil else { return nil }
        let found = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return found.hasPrefix("127.") ? nil : found
    }

    /// - Throws: `CommandFailure` when that is no address of this machine, or one that nobody else reaches.
    static func check(_ text: String) throws {
        guard address(text, port: 0) != nil else {
            throw CommandFailure("--lan-address is '\(text)'", advice: "give an IPv4 address of this machine, such as 192.168.1.5", exit: .usage)
        }
        guard !text.hasPrefix("127."), text != "0.0.0.0" else {
            throw CommandFailure("nobody else reaches \(text)", advice: "give the machine's address in its network", exit: .usage)
        }
        guard LocalAddress.isLocal(text) else {
            throw CommandFailure("this machine has no address \(text)", advice: "'ip -4 addr' lists those that it has", exit: .usage)
        }
    }

    private static func address(_ text: String, port: in_port_t) -> sockaddr_in? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return inet_pton(AF_INET, text, &address.sin_addr) == 1 ? address : nil
    }

    private static func with(_ address: inout sockaddr_in, _ call: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
