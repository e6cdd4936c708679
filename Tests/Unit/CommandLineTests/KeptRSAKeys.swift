import Foundation

@testable import ClusterCommands
@testable import CommandKit

/// The RSA keys of a local PKI, which take most of the time of its making: made once.
private enum KeptRSAKeys {
    static let files = Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try LocalPki(folder: folder).ensure()
        let names = LocalPki.signers.flatMap { ["\($0).crt", "\($0).key"] } + [LocalPki.platformKey, LocalPki.platformKeySet]
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
    }
}

extension LocalPki {
    /// Makes everything that `ensure` makes, but for RSA keys: those are the same in all tests.
    func ensureQuickly() throws {
        for (name, content) in try KeptRSAKeys.files.get() where isMissing(name) {
            let mode = name.hasSuffix(".key") ? 0o600 : 0o644
            guard FileManager.default.createFile(atPath: path(name), contents: content, attributes: [.posixPermissions: mode]) else {
                throw CommandFailure("\(path(name)) cannot be written")
            }
        }
        try ensure()
    }
}
