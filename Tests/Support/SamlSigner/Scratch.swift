internal import Foundation

/// A folder for one use of a command line program; it disappears with the value.
final class Scratch {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("saml-signer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func write(_ content: Data, as name: String) throws -> String {
        try content.write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    func write(_ content: String, as name: String) throws -> String { try write(Data(content.utf8), as: name) }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }
}
