internal import Faults
internal import Glibc
internal import NIOPosix

/// Which copies of a peer a configured address stands for.
enum NameLookup {
    /// True when the host is an address already.
    static func isLiteral(_ host: String) -> Bool {
        var buffer = in6_addr()
        return inet_pton(AF_INET, host, &buffer) == 1 || inet_pton(AF_INET6, host, &buffer) == 1
    }

    /// - Returns: All addresses that the host has now, as text.
    /// - Throws: `unavailable` when it has none.
    static func addresses(of host: String) async throws -> [String] {
        try await NIOThreadPool.singleton.runIfActive { try resolve(host) }
    }

    /// - Parameters:
    ///   - found: The addresses of the name.
    ///   - hadSeveral: True when the name stood for several copies before.
    /// - Returns: An entry for each IPv4 address, or for each IPv6 address when there are no two of IPv4, in the order of their text. The name itself
    ///   when it has no two of a family and never had: connecting then tries its addresses in turn (RFC 8305).
    static func copies(of name: RpcAddress, _ found: [String], hadSeveral: Bool) -> [RpcAddress] {
        let families = [found.filter { !$0.contains(":") }, found.filter { $0.contains(":") }].map { Set($0).sorted() }
        guard let chosen = families.first(where: { $0.count > (hadSeveral ? 0 : 1) }) else { return [name] }
        return chosen.map { RpcAddress(host: $0, port: name.port) }
    }

    /// Asks the system's resolver; blocks.
    private static func resolve(_ host: String) throws(Fault) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw Fault(.unavailable, "The name '\(host)' cannot be resolved: \(String(cString: gai_strerror(status))).")
        }
        defer { freeaddrinfo(list) }
        var texts: [String] = []
        var entry = list
        while let current = entry?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(current.ai_addr, current.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
                texts.append(text.withUnsafeBufferPointer { String(cString: $0.baseAddress!) })
            }
            entry = current.ai_next
        }
        return texts
    }
}
