internal import Foundation

/// Tells whether an address is one of this machine.
package enum LocalAddress {
    /// - Parameter host: A name or an address.
    package static func isLocal(_ host: String) -> Bool {
        if host == "localhost" { return true }
        let wanted = addresses(of: host)
        let own = interfaceAddresses()
        return !wanted.isEmpty && wanted.allSatisfy { $0.hasPrefix("127.") || $0 == "::1" || own.contains($0) }
    }

    private static func addresses(of host: String) -> [String] {
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, nil, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        return sequence(first: list) { $0?.pointee.ai_next }.compactMap { entry in
            entry.flatMap { text(of: $0.pointee.ai_addr, length: $0.pointee.ai_addrlen) }
        }
    }

    private static func interfaceAddresses() -> Set<String> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        let entries = sequence(first: list) { $0?.pointee.ifa_next }
        return Set(
            entries.compactMap { entry in
                guard let address = entry?.pointee.ifa_addr else { return nil }
                switch Int32(address.pointee.sa_family) {
                case AF_INET: return text(of: address, length: socklen_t(MemoryLayout<sockaddr_in>.size))
                case AF_INET6: return text(of: address, length: socklen_t(MemoryLayout<sockaddr_in6>.size))
                default: return nil
                }
            })
    }

    private static func text(of address: UnsafePointer<sockaddr>?, length: socklen_t) -> String? {
        guard let address else { return nil }
        var name = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, length, &name, socklen_t(name.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
