package import Foundation

/// The one folder that holds all state of a local cluster.
package struct ClusterHome: Sendable {
    package let root: URL

    /// - Parameters:
    ///   - environment: Read for `BOXOFFICE_HOME`.
    ///   - checkout: The folder whose `.boxoffice` is the default.
    package init(environment: [String: String], checkout: URL) {
        let given = environment["BOXOFFICE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        root = (given.map { URL(fileURLWithPath: $0) } ?? checkout.appendingPathComponent(".boxoffice")).standardizedFileURL
    }

    package init(root: URL) { self.root = root.standardizedFileURL }

    package var pki: URL { root.appendingPathComponent("pki") }
    package var data: URL { root.appendingPathComponent("data") }
    package var logs: URL { root.appendingPathComponent("logs") }
    package var settings: URL { root.appendingPathComponent("settings") }
    package var catalogue: URL { root.appendingPathComponent("catalogue.json") }
    /// Digests of the settings and of the catalogue as this command wrote them.
    package var writtenFiles: URL { settings.appendingPathComponent("written.json") }
    package var clusterFile: URL { root.appendingPathComponent("cluster.json") }
    package var lockFile: URL { root.appendingPathComponent("lock") }

    package func settings(of service: ClusterService) -> URL { settings.appendingPathComponent("\(service.rawValue).json") }
    package func log(of service: ClusterService) -> URL { logs.appendingPathComponent("\(service.rawValue).log") }

    /// Makes the folders that are missing, readable by their owner alone.
    /// - Throws: `CommandFailure` naming the folder.
    package func prepare() throws {
        for folder in [root, pki, data, logs, settings] {
            do {
                try FileManager.default.createDirectory(
                    at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw CommandFailure(
                    "cannot make the folder \(folder.path)",
                    advice: "check its parent's permissions, or set BOXOFFICE_HOME (\(PlainReason.of(error)))")
            }
        }
    }

    /// What `forgetState` removes.
    package var state: [URL] {
        [data, logs, settings, catalogue, root.appendingPathComponent("postgres")].filter { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Removes what the services remember, their logs, settings and catalogue; the PKI stays.
    package func forgetState() throws {
        for item in state where FileManager.default.fileExists(atPath: item.path) {
            try FileManager.default.removeItem(at: item)
        }
    }
}
