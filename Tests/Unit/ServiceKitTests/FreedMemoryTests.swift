import Foundation
import Logging
import Testing

@testable import ServiceKit

@Suite("Memory that was freed")
struct FreedMemoryTests {
    private static let count = 2000
    private static let size = 100 * 1024

    @Test("goes back to the system, though something behind it is still in use")
    func givesBack() throws {
        var pieces: [UnsafeMutableRawPointer] = []
        for _ in 0..<Self.count {
            let piece = UnsafeMutableRawPointer.allocate(byteCount: Self.size, alignment: 16)
            memset(piece, 1, Self.size)
            pieces.append(piece)
        }
        let last = pieces.removeLast()
        defer { last.deallocate() }
        for piece in pieces { piece.deallocate() }
        let before = try residentBytes()
        #expect(FreedMemory(logger: Logger(label: "test")).release())
        #expect(try residentBytes() < before - Self.count * Self.size / 2)
    }

    @Test("stays where it is little")
    func keepsLittle() {
        #expect(!FreedMemory(logger: Logger(label: "test"), kept: .max).release())
    }

    private func residentBytes() throws -> Int {
        let statm = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return try #require(Int(statm.split(separator: " ")[1])) * Int(getpagesize())
    }
}
