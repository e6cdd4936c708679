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

extension PortPlan {
    package func main(_ copy: ServiceCopy) -> Int { copy.number == 1 ? main(copy.service) : block(copy, 7000) + copy.service.index }

    package func debug(_ copy: ServiceCopy) -> Int {
        copy.number == 1 ? debug(copy.service) : base == nil ? block(copy, 9000) + copy.service.index : block(copy, 0) + 5 + copy.service.index
    }

    /// Of ten ports.
    private func block(_ copy: ServiceCopy, _ standard: Int) -> Int { (base.map { $0 + 30 } ?? standard) + 10 * (copy.number - 1) }
}

extension ClusterHome {
    package func settings(of copy: ServiceCopy) -> URL { settings.appendingPathComponent("\(copy.name).json") }
    package func log(of copy: ServiceCopy) -> URL { logs.appendingPathComponent("\(copy.name).log") }
}
