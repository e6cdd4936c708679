package import Foundation

/// One of the copies of a service in a local cluster.
package struct ServiceCopy: Sendable, Hashable {
    package let service: ClusterService
    /// From 1 on.
    package let number: Int

    package init(_ service: ClusterService, _ number: Int = 1) { (self.service, self.number) = (service, number) }

    /// `authentication`, then `authentication-2`.
    package var name: String { number == 1 ? service.rawValue : "\(service.rawValue)-\(number)" }
}

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
    package func main(_ copy: ServiceCopy) -> Int { copy.number == 1 ? main(copy.service) : block(copy, 7000) + copy.service.index }

    func debug(_ copy: ServiceCopy) -> Int {
        copy.number == 1 ? debug(copy.service) : base == nil ? block(copy, 9000) + copy.service.index : block(copy, 0) + 5 + copy.service.index
    }

    /// Whether the ports of all copies are ports.
    var hasRoomForCopies: Bool { debug(ServiceCopy(.autosignin, ClusterCopies.most)) < 65536 }

    /// Of ten ports.
    private func block(_ copy: ServiceCopy, _ standard: Int) -> Int { (base.map { $0 + 30 } ?? standard) + 10 * (copy.number - 1) }
}

extension ClusterHome {
    package func settings(of copy: ServiceCopy) -> URL { settings.appendingPathComponent("\(copy.name).json") }
    package func log(of copy: ServiceCopy) -> URL { logs.appendingPathComponent("\(copy.name).log") }
}
