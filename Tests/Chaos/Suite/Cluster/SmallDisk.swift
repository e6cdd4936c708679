import Foundation
import Glibc

/// A small file system of its own for one folder, which can be filled up.
struct SmallDisk: Sendable {
    let folder: URL
    private var filler: String { folder.appendingPathComponent("filler").path }

    /// Why there can be none here; `nil` when there can.
    static let obstacle: String? = geteuid() == 0 ? nil : "only root may mount a file system; run it as root"

    /// Puts a file system of so many MiB over the folder, with what the folder holds.
    static func mount(over folder: URL, mebibytes: Int) throws -> SmallDisk {
        let held = folder.deletingLastPathComponent().appendingPathComponent(folder.lastPathComponent + ".held")
        try FileManager.default.moveItem(at: folder, to: held)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        guard Glibc.mount("tmpfs", folder.path, "tmpfs", 0, "size=\(mebibytes)m,mode=700") == 0 else {
            throw ChaosFailure("no file system can be mounted over \(folder.path): \(String(cString: strerror(errno)))")
        }
        try move(from: held, to: folder)
        try FileManager.default.removeItem(at: held)
        return SmallDisk(folder: folder)
    }

    /// Takes the file system away and leaves what it holds in the folder.
    func unmount() async throws {
        empty()
        let held = folder.deletingLastPathComponent().appendingPathComponent(folder.lastPathComponent + ".held")
        try FileManager.default.createDirectory(at: held, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try Self.move(from: folder, to: held)
        try await Wait.until("\(folder.path) can be unmounted", within: .seconds(10), every: .milliseconds(20)) {
            // The system lets go of the files of a process that has ended a moment later.
            if umount(folder.path) == 0 { return true }
            guard errno == EBUSY else { throw ChaosFailure("\(folder.path) cannot be unmounted: \(String(cString: strerror(errno)))") }
            return false
        }
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: held, to: folder)
    }

    /// Takes up all room that is left, and goes on doing so whenever it is called.
    func fill() throws {
        let descriptor = open(filler, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw ChaosFailure("cannot write \(filler)") }
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
        guard errno == ENOSPC else { throw ChaosFailure("cannot fill the disk: \(String(cString: strerror(errno)))") }
    }

    func empty() { unlink(filler) }

    private static func move(from: URL, to: URL) throws {
        for item in try FileManager.default.contentsOfDirectory(at: from, includingPropertiesForKeys: nil) {
            try FileManager.default.copyItem(at: item, to: to.appendingPathComponent(item.lastPathComponent))
            try FileManager.default.removeItem(at: item)
        }
    }
}
