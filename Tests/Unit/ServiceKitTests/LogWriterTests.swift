import Foundation
import Testing

@testable import ServiceKit

@Suite("Log writer")
struct LogWriterTests {
    @Test("lines of many threads come out whole, and all of them by the time it is finished")
    func losesNothing() async throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<8 {
                group.addTask { for number in 0..<100 { writer.add(Array("\(caller):\(number)\n".utf8)) } }
            }
        }
        writer.finish()
        try pipe.fileHandleForWriting.close()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let lines = text.split(separator: "\n")
        #expect(lines.count == 800)
        for caller in 0..<8 {
            let own = lines.filter { $0.hasPrefix("\(caller):") }
            #expect(own == (0..<100).map { "\(caller):\($0)" }, "in the order in which its caller added them")
        }
    }

    @Test("an urgent line is not kept back, nor are those before it")
    func writesUrgentLinesAtOnce() throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, gathering: .seconds(3600), start: .seconds(0))
        writer.add(Array("calm\n".utf8))
        writer.add(Array("urgent\n".utf8), isUrgent: true)
        var text = ""
        while !text.contains("urgent\n") { text += String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) }
        #expect(text == "calm\nurgent\n")
    }

    @Test("much at once is not kept back")
    func writesMuchAtOnce() throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, gathering: .seconds(3600), start: .seconds(0))
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023) + [0x0a]
        for _ in 0..<256 { writer.add(line) }
        var received = 0
        while received < 256 * 1024 { received += pipe.fileHandleForReading.availableData.count }
        #expect(received == 256 * 1024)
    }

    @Test("once it is closed, what came before is written and nothing comes after")
    func hasALastWord() throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        writer.add(Array("before\n".utf8))
        writer.close()
        writer.add(Array("after\n".utf8))
        writer.finish()
        try pipe.fileHandleForWriting.close()
        #expect(String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self) == "before\n")
    }

    @Test("logging never waits for a reader that does not read, and what waits is bounded")
    func dropsWhenNobodyReads() throws {
        let pipe = Pipe()
        let writer = LogWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor, limit: 64 * 1024)
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023) + [0x0a]
        // Far more than the pipe and the writer hold together; a writer that waited would never come back.
        for _ in 0..<1024 { writer.add(line) }
        DispatchQueue.global().async {
            writer.finish()
            try? pipe.fileHandleForWriting.close()
        }
        let received = try pipe.fileHandleForReading.readToEnd()?.count ?? 0
        #expect(received > 0 && received < 1024 * 1024)
        #expect(received % 1024 == 0, "only whole lines are dropped")
    }
}
