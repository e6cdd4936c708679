internal import CommandKit
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Foundation
internal import Rpc

/// One question after a service's health over the wire, as the operator.
struct HealthQuestion: Sendable {
    let address: String
    let service: ClusterService
    let pki: ClusterFile.Pki

    /// - Returns: What it says of itself, and what keeps it from being used; no problems: it serves.
    func ask() async -> (report: HealthReport?, problems: [String]) {
        guard let address = RpcAddress(address) else { return (nil, ["cluster.json has no address for it: \(address)"]) }
        let probe = ReplacementProbe(
            replacement: Replacement(service: service, address: address),
            pki: LocalPki(folder: URL(fileURLWithPath: pki.ca).deletingLastPathComponent()), console: Console(isQuiet: true), patience: .zero)
        return await probe.report()
    }
}
