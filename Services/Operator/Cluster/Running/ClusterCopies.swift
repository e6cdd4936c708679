internal import CommandKit

/// How many copies there are of each service of a local cluster.
struct ClusterCopies: Sendable, Equatable {
    /// As many as have ports of their own.
    static let most = 8

    private let count: Int
    /// Services of which there is one, whatever the count is.
    private let lone: Set<ClusterService>

    /// - Parameters:
    ///   - count: 1 to `most`.
    ///   - store: `config` has one writer, unless its store is in PostgreSQL.
    init(_ count: Int = 1, store: ClusterStore? = nil) {
        self.count = count
        lone = store?.isServer(.config) == true ? [.gateway, .sandbox] : [.gateway, .sandbox, .config]
    }

    func count(_ service: ClusterService) -> Int { lone.contains(service) ? 1 : count }

    func all(_ services: [ClusterService]) -> [ServiceCopy] {
        services.flatMap { service in (1...count(service)).map { ServiceCopy(service, $0) } }
    }
}

extension PortPlan {
    /// Whether the ports of all copies are ports.
    var hasRoomForCopies: Bool { debug(ServiceCopy(.autosignin, ClusterCopies.most)) < 65536 }
}
