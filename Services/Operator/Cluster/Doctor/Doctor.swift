internal import Clocks
internal import CommandKit
internal import Foundation

/// Examines a local cluster: what is there of it, whether it runs or not. It changes nothing.
struct Doctor: Sendable {
    let home: ClusterHome
    let ports: PortPlan
    /// Of the programs, where the cluster does not say from which it runs.
    let binaries: URL
    /// Nil: none runs.
    var cluster: ClusterFile?
    /// Why `cluster.json` cannot be read.
    var damage: String?
    var now = SystemClock().now()
    /// How long programs may take to adopt a catalogue that has just been pushed.
    var patience: Duration = .seconds(2)

    func diagnosis() async throws -> Diagnosis {
        var findings = home(cluster) + settings() + signIns() + keys() + certificates() + clock() + disk()
        if let cluster {
            let status = try await StatusReader.read(home, cluster)
            findings += ports(of: cluster, status) + programs(status) + catalogueFile() + (try await catalogueVersions(status, cluster))
            findings += await openSecrets(cluster)
            findings += await liveCatalogue(cluster)
            findings += await endedStatements(cluster)
        } else {
            findings +=
                freePorts() + [damage.map { .wrong(.programs, $0, advice: "then ./Services/up starts a cluster anew") } ?? Self.noCluster(home)]
            findings += catalogueFile()
        }
        return Diagnosis(home: home.root.path, findings: findings)
    }

    private static func noCluster(_ home: ClusterHome) -> Finding {
        .note(.programs, "no cluster runs in \(home.root.path)", advice: "./Services/up starts one; BOXOFFICE_HOME names another")
    }

    var isMade: Bool { FileManager.default.fileExists(atPath: home.root.path) }

    /// Programs of this cluster that have settings of their own here.
    var services: [ClusterService] {
        let all = ClusterService.allCases
        guard let cluster else { return all }
        let others = Set(cluster.replacements.map(\.service))
        return all.filter { service in
            guard service != .sandbox else { return cluster.sandbox.pid != 0 }
            return cluster.services[service.rawValue] != nil && !others.contains(service) && cluster.doubles?.contains(service.rawValue) != true
        }
    }

    /// The folder and what in it only its owner may read.
    private func home(_ cluster: ClusterFile?) -> [Finding] {
        guard isMade else {
            return [.note(.home, "\(home.root.path) is not there yet", advice: "./Services/up makes it; BOXOFFICE_HOME names another")]
        }
        var findings: [Finding] = []
        for folder in [home.pki, home.data, home.logs, home.settings] {
            guard let mode = FileMode(folder.path) else {
                findings.append(.note(.home, "there is no folder \(folder.path)", advice: "./Services/up makes it"))
                continue
            }
            if mode.isOpen { findings.append(.wrong(.home, "others may enter \(folder.path) (\(mode))", advice: "chmod 700 \(folder.path)")) }
            if access(folder.path, R_OK | W_OK | X_OK) != 0 {
                findings.append(
                    .wrong(
                        .home, "this user may not write in \(folder.path)", advice: "run the cluster as its owner, or give it to this user (chown)"))
            }
        }
        if let mode = FileMode(home.clusterFile.path), mode.isOpen {
            let path = home.clusterFile.path
            findings.append(.wrong(.home, "others may read \(path), which holds the admin token (\(mode))", advice: "chmod 600 \(path)"))
        }
        return findings.isEmpty ? [.fine(.home, "\(home.root.path) is this user's alone")] : findings
    }
}

/// Who may do what with a file.
struct FileMode: CustomStringConvertible {
    private let bits: UInt32

    /// - Returns: Nil when it is not there.
    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        bits = UInt32(facts.st_mode) & 0o777
    }

    /// Others than its owner may do something with it.
    var isOpen: Bool { bits & 0o077 != 0 }
    /// Others than its owner and its group may.
    var isOpenToAll: Bool { bits & 0o007 != 0 }
    var description: String { "mode \(String(bits, radix: 8))" }
}
