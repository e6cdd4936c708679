internal import CSpawn
internal import Clocks
internal import CommandKit
internal import Foundation

extension Doctor {
    /// Files of a machine whose clock is right are not much younger than now.
    private static let tolerance: Duration = .seconds(120)
    private static let mebibyte: Int64 = 1024 * 1024
    private static let leastSpace: Int64 = 256
    private static let enoughSpace: Int64 = 2048
    private static let leastFiles: Int64 = 1000
    private static let largestLog: Int64 = 1024

    /// The machine's clock, by what was written here and by who keeps it.
    func clock() -> [Finding] {
        let advice = "set the clock, and have chrony or systemd-timesyncd keep it: codes, tokens and SAML answers count by it"
        if let (path, moment) = newestFile, moment > now + Self.tolerance {
            return [.wrong(.clock, "the clock says \(Self.text(now)), but \(path) was written at \(Self.text(moment))", advice: advice)]
        }
        guard cspawn_clock_is_kept() == 1 else {
            let what = "the clock says \(Self.text(now)); as far as the system knows, nobody keeps it right"
            return [.note(.clock, what, advice: "have chrony or systemd-timesyncd keep it, here or on the host of this machine")]
        }
        return [.fine(.clock, "the clock says \(Self.text(now)) and is kept right")]
    }

    /// The newest file among the keys, stores, logs and settings.
    private var newestFile: (path: String, moment: Timestamp)? {
        var newest: (path: String, moment: Timestamp)?
        for folder in [home.pki, home.data, home.logs, home.settings] {
            // A store's folder holds few files.
            for name in (FileManager.default.enumerator(atPath: folder.path)?.prefix(2000).compactMap { $0 as? String }) ?? [] {
                var facts = stat()
                let path = folder.appendingPathComponent(name).path
                guard stat(path, &facts) == 0 else { continue }
                let moment = Timestamp(seconds: Int64(facts.st_mtim.tv_sec))
                if newest.map({ $0.moment < moment }) ?? true { newest = (path, moment) }
            }
        }
        return newest
    }

    /// Room for stores and logs.
    func disk() -> [Finding] {
        let folder = isMade ? home.root : home.root.deletingLastPathComponent()
        guard let facts = try? FileManager.default.attributesOfFileSystem(forPath: folder.path),
            let free = (facts[.systemFreeSize] as? NSNumber)?.int64Value
        else { return [] }
        let space = "\(free / Self.mebibyte) MiB are free where \(folder.path) is"
        let advice = "make room: logs are in \(home.logs.path), the stores' settings have storeMebibytes"
        var findings: [Finding] = []
        if free / Self.mebibyte < Self.leastSpace {
            findings.append(.wrong(.disk, space, advice: advice))
        } else if free / Self.mebibyte < Self.enoughSpace {
            findings.append(.note(.disk, space, advice: advice))
        }
        if let all = (facts[.systemNodes] as? NSNumber)?.int64Value, let left = (facts[.systemFreeNodes] as? NSNumber)?.int64Value, all > 0,
            left < Self.leastFiles
        {
            findings.append(.wrong(.disk, "the file system of \(folder.path) takes \(left) more files only", advice: "remove files there"))
        }
        for program in JoinedLogs.programs(in: home.logs) {
            let path = home.logs.appendingPathComponent("\(program).log").path
            guard let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int64, size / Self.mebibyte >= Self.largestLog
            else {
                continue
            }
            findings.append(
                .note(
                    .disk, "\(path) has \(size / Self.mebibyte) MiB",
                    advice: "truncate it ('truncate -s 0'), or rotate it by logrotate with copytruncate"))
        }
        return findings.isEmpty ? [.fine(.disk, space)] : findings
    }

    /// Before a start: each port must be nobody's.
    func freePorts() -> [Finding] {
        let taken = ports.named.filter { !ListenProbe.isFree($0.port) }
        guard !taken.isEmpty else { return [.fine(.ports, "the ports of a cluster are free (\(ports.main(.gateway)) for the gateway)")] }
        let owners = PortOwner.all(Set(taken.map(\.port)))
        return taken.map { place in
            .wrong(
                .ports, "port \(place.port), for \(place.use), is taken\(Self.text(owners[place.port] ?? []))",
                advice: "stop what listens there, or move all ports with BOXOFFICE_PORT_BASE")
        }
    }

    /// Beside a cluster: each port is that of the program whose it is to be.
    func ports(of cluster: ClusterFile, _ status: ClusterStatus) -> [Finding] {
        let places = cluster.ports
        let owners = PortOwner.all(Set(places.map(\.port)))
        let pids = Dictionary(status.programs.map { ($0.name, $0.pid) }) { first, _ in first }
        let findings = places.compactMap { place -> Finding? in
            let found = owners[place.port] ?? []
            guard !found.isEmpty, let own = pids[place.program], own.map({ !found.contains($0) }) ?? true else { return nil }
            return .wrong(
                .ports, "port \(place.port), for \(place.use), is not \(place.program)'s\(Self.text(found))",
                advice: "stop what listens there, then run ./Services/up")
        }
        return findings.isEmpty ? [.fine(.ports, "\(places.count) ports are those of their programs or free")] : findings
    }

    private static func text(_ pids: [Int32]) -> String {
        guard !pids.isEmpty else { return "" }
        let names = pids.map { pid in
            let name = try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
            return "process \(pid)\(name.map { " (\(TerminalText.printable($0)))" } ?? "")"
        }
        return ": by \(names.joined(separator: ", "))"
    }
}

/// A port and what it is for.
struct NamedPort: Sendable, Equatable {
    let port: Int
    let use: String
    /// The owner: a copy's name.
    let program: String
}

extension PortPlan {
    /// The ports of a cluster with one copy of each service and stores in files.
    var named: [NamedPort] {
        let services = ClusterService.allCases.filter { $0 != .sandbox }.flatMap { service in
            [
                NamedPort(port: main(service), use: service.rawValue, program: service.rawValue),
                NamedPort(port: debug(service), use: "metrics of \(service.rawValue)", program: service.rawValue),
            ]
        }
        return services + [
            NamedPort(port: https, use: "HTTPS", program: "gateway"), NamedPort(port: admin, use: "administration", program: "gateway"),
            NamedPort(port: main(.sandbox), use: "the stand-in MVPD", program: "sandbox"),
            NamedPort(port: apple, use: "the stand-in Apple", program: "sandbox"),
            NamedPort(port: upstream, use: "the stand-in upstream", program: "sandbox"),
        ]
    }
}

extension ClusterFile {
    /// The ports of this cluster's own programs.
    var ports: [NamedPort] {
        var found: [NamedPort] = []
        func add(_ address: String?, _ use: String, _ program: String) {
            guard let port = address?.split(separator: ":").last.flatMap({ Int($0) }) else { return }
            found.append(NamedPort(port: port, use: use, program: program))
        }
        for process in processes where process.service != .sandbox && doubles?.contains(process.service.rawValue) != true {
            let entry = entry(of: process.copy)
            add(entry?.address, process.copy.name, process.copy.name)
            add(entry?.debug, "metrics of \(process.copy.name)", process.copy.name)
        }
        if services["gateway"] != nil {
            add(gatewayTLS, "HTTPS", "gateway")
            add(admin, "administration", "gateway")
        }
        if sandbox.pid != 0 {
            add(sandbox.mvpd, "the stand-in MVPD", "sandbox")
            add(sandbox.apple, "the stand-in Apple", "sandbox")
            add(sandbox.upstream, "the stand-in upstream", "sandbox")
        }
        return found
    }
}
