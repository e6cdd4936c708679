internal import CommandKit
internal import Foundation

/// Copies of services.
extension ClusterStarter {
    /// A cluster that runs keeps its copies unless others are asked for.
    func copies(beside running: ClusterFile?) -> ClusterCopies {
        let known = running?.services.values.map { 1 + ($0.copies?.count ?? 0) }.max()
        return ClusterCopies(copies ?? known ?? 1, store: stores)
    }

    /// Stops copies that are not to be there any more.
    /// - Returns: Those that go on.
    func stopSurplus(_ found: [ServiceCopy: Int32], besides wanted: [ServiceCopy]) async -> [ServiceCopy: Int32] {
        let surplus = found.filter { !wanted.contains($0.key) }
        guard !surplus.isEmpty else { return found }
        console.note("  Stopping \(surplus.keys.map(\.name).sorted().joined(separator: ", "))")
        _ = await ClusterStopper.stop(surplus.map { ServiceProcess($0.key, pid: $0.value) })
        return found.filter { wanted.contains($0.key) }
    }

    /// Settings as they are now, to find out whose have changed.
    func settingsNow() -> [ClusterService: Data] {
        ClusterService.allCases.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: home.settings(of: $1).path) }
    }
}

extension SettingsWriter {
    /// Gives each further copy of a service its settings: those of the first one, but for the ports.
    /// - Throws: `CommandFailure` when they cannot be read or written.
    func writeCopies(_ copies: ClusterCopies) throws {
        for service in ClusterService.allCases {
            let content = try Data(contentsOf: home.settings(of: service))
            for number in 2...ClusterCopies.most {
                let copy = ServiceCopy(service, number)
                let file = home.settings(of: copy)
                guard number <= copies.count(service) else {
                    try? FileManager.default.removeItem(at: file)
                    continue
                }
                // What cannot be read the first copy complains about.
                guard var settings = try? JSONSerialization.jsonObject(with: content) as? [String: Any] else { continue }
                for (key, port) in [("listen", ports.main(copy)), ("debug", ports.debug(copy))] {
                    var place = settings[key] as? [String: Any] ?? ["address": "127.0.0.1"]
                    place["port"] = port
                    settings[key] = place
                }
                try WrittenFiles.replace(file, with: try Self.content(settings))
            }
        }
    }
}
