import Faults
import Testing
import Frames

@Suite struct GoldenFrameTests {
    @Test(arguments: GoldenFrames.names) func decodesToItsValue(_ name: String) throws {
        let decoded = try decode(GoldenFrames.bytes(name))
        #expect(decoded.frames == [try #require(GoldenFrames.kind(name))])
        #expect(decoded.rest == 0)
    }

    @Test(arguments: GoldenFrames.names) func valueEncodesToItsBytes(_ name: String) throws {
        let kind = try #require(GoldenFrames.kind(name))
        #expect(try FrameEncoder.encoded(Frame(kind: kind)) == GoldenFrames.bytes(name))
    }

    @Test(arguments: GoldenFrames.names) func decodesHoweverItIsCut(_ name: String) throws {
        let bytes = try GoldenFrames.bytes(name)
        let expected = try #require(GoldenFrames.kind(name))
        for size in 1...bytes.count { #expect(try decode(bytes + bytes, readSize: size).frames == [expected, expected]) }
    }

    @Test(arguments: GoldenFrames.names) func isNoFrameUntilItsLastByte(_ name: String) throws {
        let bytes = try GoldenFrames.bytes(name).dropLast()
        let decoded = try decode([UInt8](bytes))
        #expect(decoded.frames == [])
        #expect(decoded.rest == bytes.count)
    }

    @Test func everyFileHasAValue() throws {
        let files = try TextFile.names(in: "Golden").filter { $0.hasSuffix(".hex") }.map { String($0.dropLast(4)) }.sorted()
        #expect(files == GoldenFrames.names.sorted())
    }

    @Test func everyKindHasAFile() {
        let kinds = Set(GoldenFrames.values.map { String(describing: $0.kind).prefix { $0 != "(" } })
        #expect(kinds == ["hello", "request", "response", "streamItem", "streamEnd", "cancel", "ping", "pong", "goAway"])
    }
}
