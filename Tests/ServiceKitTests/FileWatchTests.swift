import Foundation
import Testing

@testable import ServiceKit

@Suite struct FileWatchTests {
    @Test func noticesWritingReplacingAndRemoving() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "key.pem")
        var watch = FileWatch([file.path])
        #expect(!watch.hasChanged())
        try Data("one".utf8).write(to: file)
        #expect(watch.hasChanged())
        #expect(!watch.hasChanged())
        try Data("two".utf8).write(to: file, options: .atomic)
        #expect(watch.hasChanged(), "a replaced file of the same size")
        try FileManager.default.removeItem(at: file)
        #expect(watch.hasChanged())
        #expect(!watch.hasChanged())
    }
}
