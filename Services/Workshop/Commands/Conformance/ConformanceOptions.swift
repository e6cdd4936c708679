internal import CommandKit
internal import ContractConformance
internal import Foundation

/// What to examine, as given on the command line.
struct ConformanceOptions: Sendable {
    var service: ExaminedService
    /// `host:port`; `nil`: the service of this checkout.
    var address: String?
    var home: String?
    var authority: String?
    var certificate: String?
    var key: String?
    var peersPort: Int?
    var change: String?
    var restart: String?
    var wait: Duration = .seconds(30)
    /// Of the service of this checkout.
    var ports = PortPlan(base: nil)
    var binaries = Checkout.binaries
}
