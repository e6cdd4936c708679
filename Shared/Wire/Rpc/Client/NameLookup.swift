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

/// A copy of a peer as a look-up found it.
struct FoundCopy: Hashable, Sendable {
    var address: RpcAddress
    var rank = CopyRank()
}

/// Where the copies of a peer are looked for, again and again.
enum PeerLookup: Sendable {
    /// A host with one or more addresses, and the port of all of them.
    case host(RpcAddress)
    /// A name with SRV records (RFC 2782), for example `_authentication._tcp.example`.
    case service(String)

    /// Stands for the copies until it is known which ones there are.
    var placeholder: RpcAddress {
        switch self {
        case .host(let name): name
        case .service(let name): RpcAddress(host: name, port: 0)
        }
    }

    /// - Parameter hadSeveral: True when a host stood for several copies before.
    /// - Returns: The copies, and how long that holds; `nil`: for the usual time.
    /// - Throws: `unavailable` when nothing was found, or nobody answers.
    func copies(
        _ configuration: RpcClient.Configuration, hadSeveral: Bool
    ) async throws -> (found: [FoundCopy], timeToLive: Duration?) {
        switch self {
        case .host(let name):
            let found = try await configuration.lookup(name.host)
            return (NameLookup.copies(of: name, found, hadSeveral: hadSeveral).map { FoundCopy(address: $0) }, nil)
        case .service(let name):
            let records = try await configuration.serviceLookup(name)
            return (try ServiceRecord.copies(of: name, records), ServiceRecord.timeToLive(of: records))
        }
    }
}

/// One SRV record (RFC 2782).
package struct ServiceRecord: Hashable, Sendable {
    package var target: String
    package var port: Int
    package var priority: Int
    package var weight: Int
    /// Seconds that it may be kept.
    package var timeToLive: Int

    package init(target: String, port: Int, priority: Int = 0, weight: Int = 0, timeToLive: Int) {
        (self.target, self.port, self.priority, self.weight, self.timeToLive) = (target, port, priority, weight, timeToLive)
    }
}

extension ServiceRecord {
    /// The records of a name are kept for this long whatever they say, in seconds. So a copy that comes is found, and a name server is not asked
    /// without end.
    private static let keptTime = 2...60
    /// A weight of 0 gets a small share beside others (RFC 2782).
    private static let unit = 64

    /// - Returns: A copy for each target and port, in the order of their text.
    /// - Throws: `unavailable` when there is none; a target `.` says that the service is not offered.
    static func copies(of name: String, _ records: [ServiceRecord]) throws(Fault) -> [FoundCopy] {
        let offered = records.filter { !$0.target.isEmpty && $0.target != "." && $0.port > 0 }
        guard !offered.isEmpty else { throw Fault(.unavailable, "The name '\(name)' has no SRV records of copies.") }
        let isWeighted = offered.contains { $0.weight > 0 }
        var ranks: [RpcAddress: CopyRank] = [:]
        for record in offered {
            let rank = CopyRank(priority: record.priority, weight: isWeighted ? max(1, record.weight * unit) : 1)
            ranks[RpcAddress(host: record.target, port: record.port)] = rank
        }
        return ranks.map { FoundCopy(address: $0.key, rank: $0.value) }.sorted { $0.address.description < $1.address.description }
    }

    /// The shortest of the records, within bounds.
    static func timeToLive(of records: [ServiceRecord]) -> Duration {
        let shortest = records.map(\.timeToLive).min() ?? keptTime.lowerBound
        return .seconds(min(max(shortest, keptTime.lowerBound), keptTime.upperBound))
    }
}
