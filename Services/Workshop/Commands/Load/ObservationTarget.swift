internal import CommandKit
internal import Foundation
internal import LoadReporting

/// Where the loaded service can be looked at: its metrics and its processes.
struct ObservationTarget: Sendable, Equatable {
    /// `nil`: unknown.
    var metricsURL: String?
    var processes: [ObservedProcess]
    /// What is out of reach, and why.
    var remarks: [String]

    /// - Parameters:
    ///   - service: Its name, `gateway` for one.
    ///   - address: Target of the load: `host:port`, or a base URL.
    ///   - metricsURL: Given by the user; otherwise that of the local cluster, if the service is one of it.
    ///   - cluster: Asked for peers and debug addresses.
    static func find(service: String, address: String, metricsURL: String?, cluster: ClusterFile?) -> ObservationTarget {
        let url = URLComponents(string: address.contains("://") ? address : "tcp://\(address)")
        let host = (url?.host ?? "").filter { $0 != "[" && $0 != "]" }
        return find(
            service: service, host: host, port: url?.port ?? (url?.scheme == "https" ? 443 : 80), metricsURL: metricsURL, cluster: cluster,
            owners: PortOwner.find, isLocal: LocalAddress.isLocal)
    }

    static func find(
        service: String, host: String, port: Int, metricsURL: String?, cluster: ClusterFile?, owners: (Int) -> [Int32], isLocal: (String) -> Bool
    ) -> ObservationTarget {
        let own = ObservedProcess(name: "boxoffice load", pid: ProcessInfo.processInfo.processIdentifier, role: .load)
        guard isLocal(host) else {
            var remarks = ["\(host) is another machine: processor time and memory of \(service) are not known here."]
            if metricsURL == nil { remarks.append("No metrics of \(service): name them with --metrics http://HOST:PORT/metrics.") }
            return ObservationTarget(metricsURL: metricsURL, processes: [own], remarks: remarks)
        }
        let pids = owners(port)
        var target = ObservationTarget(metricsURL: metricsURL, processes: [], remarks: [])
        target.processes = pids.enumerated().map { number, pid in
            ObservedProcess(name: pids.count > 1 ? "\(service) \(number + 1)" : service, pid: pid, role: .target)
        }
        if pids.isEmpty {
            target.remarks.append("No process of this user listens on port \(port): processor time and memory of \(service) are not known.")
        }
        // The cluster's file only counts when the loaded process is one of that cluster.
        if let cluster, cluster.processes.contains(where: { pids.contains($0.pid) }) {
            if target.metricsURL == nil,
                let debug = cluster.services.values.flatMap({ [$0] + ($0.copies ?? []) }).first(where: { pids.contains($0.pid) })?.debug
            {
                target.metricsURL = "http://\(debug)/metrics"
            }
            target.processes += cluster.processes.filter { $0.pid > 0 && !pids.contains($0.pid) }.sorted { $0.copy.name < $1.copy.name }
                .map { ObservedProcess(name: $0.copy.name, pid: $0.pid, role: .peer) }
        }
        if target.metricsURL == nil { target.remarks.append("No metrics of \(service): name them with --metrics http://HOST:PORT/metrics.") }
        target.processes.append(own)
        return target
    }
}
