import Clocks
import Foundation
import ManualClocks
import Synchronization
import Testing

@testable import ServiceKit

@Suite("Files of a program's log")
struct LogFilesTests {
    /// A log in a folder of its own, written as a program does.
    private struct Log {
        let folder: Folder
        let clock = ManualClock()
        let name: String
        let descriptor: Int32

        var path: String { "\(folder.path)/\(name).log" }

        init(_ folder: Folder, _ name: String = "config") {
            (self.folder, self.name) = (folder, name)
            descriptor = open("\(folder.path)/\(name).log", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        }

        func files(_ retention: LogRetention = LogRetention()) throws -> LogFiles {
            try #require(LogFiles(path: path, retention: retention, clock: clock, descriptors: [descriptor]))
        }

        func write(_ count: Int) {
            _ = [UInt8](repeating: 0x0a, count: count).withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, count) }
        }

        var size: Int { (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? -1 }
        var former: [String] { FormerLog.names(of: path) }
    }

    private static let kibibyte = 1024

    @Test("another file begins before one is too large, and the descriptor is that one's")
    func bySize() throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        var files = try log.files(LogRetention(fileBytes: 100 * Self.kibibyte))
        for _ in 0..<25 {
            files.makeRoom(for: 10 * Self.kibibyte)
            log.write(10 * Self.kibibyte)
            #expect(log.size <= 100 * Self.kibibyte)
            log.clock.advance(by: .seconds(1))
        }
        #expect(log.former == ["config.log.20310304T100010000Z", "config.log.20310304T100020000Z"])
        #expect(log.size == 50 * Self.kibibyte)
        #expect(FileIdentity(path: log.path) == FileIdentity(descriptor: log.descriptor))
    }

    @Test("a file is begun for each day, and former ones end when they are too old; a name is later than all before it, whatever the clock says")
    func byAge() throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        var files = try log.files(LogRetention(days: 3))
        log.write(10)
        log.clock.advance(by: .seconds(86_399))
        files.tend()
        #expect(log.former.isEmpty)
        log.clock.advance(by: .seconds(1))
        files.tend()
        #expect(log.former == ["config.log.20310305T100000000Z"] && log.size == 0)
        log.clock.advance(by: .seconds(86_400))
        files.tend()
        #expect(log.former.count == 1, "an empty file stays")
        log.write(10)
        log.clock.advance(by: .seconds(-2 * 86_400))
        try FileManager.default.removeItem(atPath: log.path)
        files.makeRoom(for: 1)
        log.write(10)
        #expect(log.size == 10, "a file that was removed is made anew")

        var later = try log.files(LogRetention(fileBytes: 1, days: 3))
        log.write(70 * Self.kibibyte)
        later.makeRoom(for: 1)
        #expect(log.former == ["config.log.20310305T100000000Z", "config.log.20310305T100000001Z"])

        log.clock.advance(by: .seconds(4 * 86_400))
        later.tend()
        #expect(log.former.count == 2)
        log.clock.advance(by: .milliseconds(1))
        later.tend()
        #expect(log.former == ["config.log.20310305T100000001Z"])
    }

    @Test("all files of all programs of a folder stay below the bound; the oldest former ones go, and nothing that is no log")
    func bound() throws {
        let folder = try Folder()
        let logs = ["config", "gateway", "sandbox"].map { Log(folder, $0) }
        defer { logs.forEach { close($0.descriptor) } }
        for name in ["config.log.1", "config.log.20310304", "notes.20310304T100000000Z", ".log.20310304T100000000Z"] {
            try folder.write(String(repeating: "x", count: 100_000), to: name)
        }
        let retention = LogRetention(fileBytes: 1 << 20, allBytes: 1200 * Self.kibibyte)
        var files = try logs.map { try $0.files(retention) }
        var most = 0
        for round in 0..<200 {
            for index in logs.indices where index == 0 || round < 20 {
                files[index].makeRoom(for: 20 * Self.kibibyte)
                logs[index].write(20 * Self.kibibyte)
                logs[index].clock.advance(by: .seconds(1))
            }
            let sizes = FormerLog.names(in: folder.path).filter { $0.hasSuffix(".log") || FormerLog.log(of: $0) != nil }.map {
                (try? FileManager.default.attributesOfItem(atPath: "\(folder.path)/\($0)")[.size] as? Int) ?? 0
            }
            most = max(most, sizes.reduce(0, +))
        }
        #expect(most <= retention.allBytes && most > retention.allBytes / 2)
        #expect(logs[0].former.count >= 3 && logs[1].former.isEmpty)
        #expect(FormerLog.names(in: folder.path).count { ["config.log.1", "config.log.20310304", "notes.20310304T100000000Z"].contains($0) } == 3)
    }

    @Test("a file that is not standard output is nobody's here, and one that was moved away is begun anew")
    func identity() throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        #expect(LogFiles(path: nil, retention: LogRetention(), clock: log.clock, descriptors: [log.descriptor]) == nil)
        try log.folder.write("x", to: "other.log")
        #expect(LogFiles(path: log.folder.path + "/other.log", retention: LogRetention(), clock: log.clock, descriptors: [log.descriptor]) == nil)
        var files = try log.files()
        log.write(5)
        #expect(rename(log.path, log.path + ".1") == 0)
        files.makeRoom(for: 1)
        log.write(7)
        #expect(log.size == 7)
    }

    @Test("while the folder takes no other file, lines go on to the one that is there")
    func folderIsAway() throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        var files = try log.files(LogRetention(fileBytes: 1))
        log.write(70 * Self.kibibyte)
        let moved = log.folder.path + "-moved"
        #expect(rename(log.folder.path, moved) == 0)
        files.makeRoom(for: 10)
        log.write(10)
        #expect(rename(moved, log.folder.path) == 0)
        #expect(log.size == 70 * Self.kibibyte + 10)
        files.makeRoom(for: 10)
        #expect(log.former.isEmpty, "it is not tried again at once")
        log.clock.advance(by: .seconds(61))
        files.makeRoom(for: 10)
        #expect(log.former.count == 1 && log.size == 0)
    }

    @Test("the writer loses and cuts no line while files change, whoever writes")
    func writer() async throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        let writer = LogWriter(descriptor: log.descriptor, gathering: .milliseconds(1), start: .seconds(0))
        writer.begin(try log.files(LogRetention(fileBytes: 1)), notices: LogNotices())
        let text = String(repeating: "x", count: 200)
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<4 {
                group.addTask {
                    for number in 0..<2000 {
                        writer.add(Array("\(caller):\(number):\(text)\n".utf8))
                        if number % 200 == 0 { try? await Task.sleep(for: .milliseconds(3)) }
                    }
                }
            }
        }
        writer.finish()
        let names = log.former + ["config.log"]
        #expect(names.count > 3)
        let content = try names.map { try String(contentsOfFile: "\(log.folder.path)/\($0)", encoding: .utf8) }
        #expect(content.allSatisfy { $0.hasSuffix("\n") })
        let lines = content.joined().split(separator: "\n")
        #expect(lines.count == 8000)
        for caller in 0..<4 { #expect(lines.filter { $0.hasPrefix("\(caller):") } == (0..<2000).map { "\(caller):\($0):\(text)" }) }
    }

    @Test("on a full disk lines wait, further ones are counted, and both is said once; then all that waited is written, whole")
    func fullDisk() throws {
        let folder = try Folder()
        // `/dev/full` answers each write as a full disk does.
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let own = open(folder.path + "/config.log", O_RDWR | O_CREAT | O_APPEND, 0o600)
        let output = dup(full)
        defer { close(output) }
        let said = Mutex<[String]>([])
        let writer = LogWriter(descriptor: output, limit: 1000, gathering: .milliseconds(1), start: .seconds(0), pause: .milliseconds(20))
        writer.begin(
            nil, notices: LogNotices(line: { Array("lost \($0): \($1)\n".utf8) }, aside: { text in said.withLock { $0.append(text) } }))
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 99) + [0x0a]
        for _ in 0..<50 {
            writer.add(line)
            usleep(1000)
        }
        #expect(said.withLock { $0.count } == 1)
        #expect(said.withLock { $0.first?.contains("No space left on device") } == true)
        dup2(own, output)
        let path = folder.path + "/config.log"
        for _ in 0..<500 where !((try? String(contentsOfFile: path, encoding: .utf8))?.contains("lost") ?? false) { usleep(10_000) }
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let whole = lines.count { $0.utf8.count == 99 }
        #expect(whole >= 10 && whole < 30 && lines.last == "lost \(50 - whole): No space left on device")
        #expect(said.withLock { $0.count } == 2)
        close(own)
    }

    @Test("a line that a killed program left without its end does not spoil the next one")
    func halfLine() throws {
        let log = Log(try Folder())
        defer { close(log.descriptor) }
        try Data("{\"time\"".utf8).write(to: URL(fileURLWithPath: log.path))
        let descriptor = open(log.path, O_WRONLY | O_APPEND)
        defer { close(descriptor) }
        let writer = LogWriter(descriptor: descriptor)
        writer.begin(
            LogFiles(path: log.path, retention: LogRetention(), clock: log.clock, descriptors: [descriptor]), notices: LogNotices())
        writer.add(Array("next\n".utf8))
        writer.finish()
        #expect(try String(contentsOfFile: log.path, encoding: .utf8) == "{\"time\"\nnext\n")
    }
}
