import ContractRuntime
import Contracts
import Testing

@Suite struct EncodingTests {
    @Test("texts and bytes of sizes around those of the memory behind them", arguments: [0, 1, 7, 8, 9, 4000, 4080, 4096, 16_384, 100_000])
    func keepsAnySize(_ count: Int) throws {
        let programmer = Programmer(id: String(repeating: "x", count: count))
        #expect(try Programmer(serialized: programmer.serialized()) == programmer)
        let echo = EchoMessage(content: [UInt8](repeating: 0, count: count))
        #expect(try EchoMessage(serialized: echo.serialized()) == echo)
    }

    @Test func encodesIntoTheCallersMemory() throws {
        let message = EchoMessage(content: [1, 2, 3], delayMilliseconds: 300)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        defer { memory.deallocate() }
        let base = try #require(memory.baseAddress)
        var asked = 0
        let size = try message.serialize { count in
            asked = count
            return base
        }
        #expect(asked == size)
        #expect(Array(memory.prefix(size)) == (try message.serialized()))
    }

    @Test func asksForNoMemoryForAMessageWithoutFields() throws {
        let size = try CheckHealthRequest().serialize { _ in
            Issue.record("asked for memory")
            return UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        }
        #expect(size == 0)
    }

    @Test func aTextThatEndsInANulIsRefusedNotCut() {
        #expect(throws: (any Error).self) { try Programmer(serialized: [0x0a, 2, 0x61, 0]) }
        #expect(throws: (any Error).self) { try Programmer(id: "a\0").serialized() }
    }

    @Test func theLastMemberOfAOneofCounts() throws {
        let saml = try Mvpd(signIn: .saml(SamlEndpoint())).serialized()
        let oauth = try Mvpd(signIn: .oauth(OAuthEndpoint())).serialized()
        #expect(try Mvpd(serialized: saml + oauth).signIn == .oauth(OAuthEndpoint()))
        #expect(try Mvpd(serialized: oauth + saml).signIn == .saml(SamlEndpoint()))
    }

    @Test func twoHalvesOfAMessageAreOne() throws {
        let whole = try Programmer(serialized: Programmer(id: "a").serialized() + Programmer(name: "b").serialized())
        #expect(whole == Programmer(id: "a", name: "b"))
    }
}
