public import Contracts
internal import ContractRuntime
internal import Cryptography
internal import Foundation

/// The last configuration that a service received, in a file, so that it can start while `config` is unreachable.
///
/// One line `boxoffice-catalogue 1 <SHA-256 of the rest>`, then the encoded `Configuration`.
public struct CatalogueSnapshot: Sendable {
    /// Why a file cannot be used.
    public struct Unusable: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    private static let prefix = "boxoffice-catalogue 1 "
    public let file: String

    /// - Parameter file: Path of the file; it need not exist yet.
    public init(file: String) { self.file = file }

    /// - Returns: `nil` when there is no file yet.
    /// - Throws: `Unusable` when the file cannot be read, is cut off or was changed.
    public func load() throws(Unusable) -> Configuration? {
        guard FileManager.default.fileExists(atPath: file) else { return nil }
        do {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
            guard let end = bytes.firstIndex(of: 0x0a) else { throw Unusable(description: "\(file) is no catalogue snapshot") }
            let content = Array(bytes[(end + 1)...])
            guard String(decoding: bytes[..<end], as: UTF8.self) == Self.prefix + Hex.encode(SHA256.hash(content)) else {
                throw Unusable(description: "\(file) is damaged: its checksum does not fit")
            }
            return try Configuration(serialized: content)
        } catch let error as Unusable {
            throw error
        } catch {
            throw Unusable(description: "\(file) cannot be read: \(error)")
        }
    }

    /// Replaces the file in one step; a reader sees the old or the new one, also after a crash.
    /// - Throws: `Unusable` when it cannot be written; the old file stays.
    public func save(_ configuration: Configuration) throws(Unusable) {
        // Copies of a program may share the folder.
        let draft = "\(file).\(UUID().uuidString).new"
        do {
            let content = try configuration.serialized()
            let header = Array((Self.prefix + Hex.encode(SHA256.hash(content)) + "\n").utf8)
            try write(Data(header + content), to: draft)
            guard rename(draft, file) == 0 else { throw Unusable(description: "\(file) cannot be replaced: errno \(errno)") }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw error as? Unusable ?? Unusable(description: "\(file) cannot be written: \(error)")
        }
    }

    private func write(_ data: Data, to path: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw Unusable(description: "\(path) cannot be created")
        }
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.write(contentsOf: data)
        try handle.synchronize()
    }
}
