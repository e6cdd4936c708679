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
        let atFirst = watch.hasChanged()
        #expect(!atFirst)
        try Data("one".utf8).write(to: file)
        let whenWritten = watch.hasChanged()
        #expect(whenWritten)
        let afterwards = watch.hasChanged()
        #expect(!afterwards)
        try Data("two".utf8).write(to: file, options: .atomic)
        let whenReplaced = watch.hasChanged()
        #expect(whenReplaced, "a replaced file of the same size")
        try FileManager.default.removeItem(at: file)
        let whenRemoved = watch.hasChanged()
        #expect(whenRemoved)
        let inTheEnd = watch.hasChanged()
        #expect(!inTheEnd)
    }
}
