internal import Faults

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
