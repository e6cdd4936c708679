import NIOCore
import NIOPosix
import Testing

@testable import FaultProxy

/// The effect of the chaos suite's proxy on bytes, seen by both ends.
@Suite("Fault proxy")
struct FaultProxyTests {
    private static let text = Array("0123456789".utf8)

    @Test func passesBytesUnchangedAndCountsThem() async throws {
        try await withProxy { proxy, talk in
            let long = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
            try await talk.send(long)
            try await wait { talk.received.count == long.count }
            #expect(talk.received == long)
            #expect(proxy.counts == ProxyCounts(connections: 1, bytes: 2 * long.count, corrupted: 0))
        }
    }

    @Test func delaysBytesEachWayAndKeepsTheirOrder() async throws {
        try await withProxy { proxy, talk in
            proxy.rules = WireRules(delay: .milliseconds(40), jitter: .milliseconds(20))
            let start = ContinuousClock.now
            for piece in Self.text { try await talk.send([piece]) }
            try await wait { talk.received.count == Self.text.count }
            #expect(talk.received == Self.text)
            #expect(ContinuousClock.now - start >= .milliseconds(80))
        }
    }

    @Test func throttlesToTheGivenRate() async throws {
        try await withProxy { proxy, talk in
            proxy.rules = WireRules(bytesPerSecond: 100_000)
            let start = ContinuousClock.now
            try await talk.send([UInt8](repeating: 7, count: 20_000))
            try await wait { talk.received.count == 20_000 }
            // 0.2 s there; the way back begins before all of it has come.
            #expect(ContinuousClock.now - start >= .milliseconds(200))
        }
    }

    @Test func turnsBitsAtAboutTheGivenRate() async throws {
        try await withProxy { proxy, talk in
            proxy.rules = WireRules(corruptsOneIn: 1000)
            let zeros = [UInt8](repeating: 0, count: 400_000)
            try await talk.send(zeros)
            try await wait { talk.received.count == zeros.count }
            let changed = talk.received.count { $0 != 0 }
            // Both ways together 800 expected; a byte may be hit on both.
            #expect((500...1100).contains(proxy.counts.corrupted), "\(proxy.counts.corrupted)")
            #expect(changed > proxy.counts.corrupted * 9 / 10, "\(changed) of \(proxy.counts.corrupted)")
            #expect(talk.received.allSatisfy { $0.nonzeroBitCount <= 2 }, "single bits are turned")
        }
    }

    @Test(arguments: [false, true]) func cutsOpenConnectionsAndServesNewOnes(abruptly: Bool) async throws {
        try await withProxy { proxy, talk in
            try await talk.send(Self.text)
            try await wait { talk.received == Self.text }
            proxy.cut(abruptly: abruptly)
            try await wait { talk.isClosed }
            try await wait { proxy.openConnections == 0 }
            let next = try await Conversation.open(port: proxy.port)
            try await next.send(Self.text)
            try await wait { next.received == Self.text }
            await next.close()
        }
    }

    @Test func leavesOpenConnectionsHalfOpenAndServesNewOnes() async throws {
        try await withProxy { proxy, talk in
            try await talk.send(Self.text)
            try await wait { talk.received == Self.text }
            proxy.muteOpenConnections()
            try await talk.send(Self.text)
            let next = try await Conversation.open(port: proxy.port)
            try await next.send(Self.text)
            try await wait { next.received == Self.text }
            #expect(talk.received == Self.text && !talk.isClosed)
            await next.close()
        }
    }

    @Test func isMuteForAllWhileToldSo() async throws {
        try await withProxy { proxy, talk in
            proxy.rules = WireRules(isMute: true)
            try await talk.send(Self.text)
            let next = try await Conversation.open(port: proxy.port)
            try await next.send(Self.text)
            try await wait { proxy.counts.connections == 2 }
            #expect(talk.received.isEmpty && next.received.isEmpty && !talk.isClosed && !next.isClosed)
            await next.close()
        }
    }

    @Test func closesNewConnectionsWhileItRefusesThem() async throws {
        try await withProxy { proxy, talk in
            proxy.rules = WireRules(refusesConnections: true)
            let next = try await Conversation.open(port: proxy.port)
            try await wait { next.isClosed }
            try await talk.send(Self.text)
            try await wait { talk.received == Self.text }
        }
    }

    @Test func tellsACallerThatNobodyListensBehindIt() async throws {
        let server = try await EchoServer()
        let port = server.port
        try await server.stop()
        let proxy = try await FaultProxy.start(port: 0, to: "127.0.0.1", port, group: MultiThreadedEventLoopGroup.singleton)
        let talk = try await Conversation.open(port: proxy.port)
        try await wait { talk.isClosed }
        await proxy.stop()
    }

    private func withProxy(_ body: (FaultProxy, Conversation) async throws -> Void) async throws {
        let server = try await EchoServer()
        let proxy = try await FaultProxy.start(port: 0, to: "127.0.0.1", server.port, group: MultiThreadedEventLoopGroup.singleton)
        let talk = try await Conversation.open(port: proxy.port)
        try await wait { proxy.openConnections == 1 }
        try await body(proxy, talk)
        await talk.close()
        await proxy.stop()
        try await server.stop()
    }

    private func wait(_ isMet: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !isMet() {
            try #require(ContinuousClock.now < end, "waited a minute in vain")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
