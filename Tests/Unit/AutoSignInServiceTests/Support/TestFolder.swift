import Foundation

/// A folder that is removed after the test.
final class TestFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-autosignin-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)")) }

    /// Every file, whole.
    func contents() throws -> [Data] {
        try FileManager.default.contentsOfDirectory(atPath: path).map { try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)")) }
    }
}
