import TestIdentities
import Cryptography
import NIOCore
import NIOEmbedded
import Testing
import Transport

@Suite struct TlsHandlerTests {
    let identities: TestIdentities
    let client: TlsIdentity
    let server: TlsIdentity

    init() throws {
        identities = try TestIdentities()
        client = try identities.identity("client.boxoffice")
        server = try identities.identity("server.boxoffice")
    }

    @Test func bothEndsLearnTheOthersNames() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        #expect(pair.clientEvents.peerNames == ["server.boxoffice"])
        #expect(pair.serverEvents.peerNames == ["client.boxoffice"])
    }

    @Test func carriesBytesBothWays() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        pair.client.writeAndFlush(ByteBuffer(string: "early"), promise: nil)
        try pair.exchange()
        #expect(String(buffer: pair.serverEvents.received) == "early")
        let large = ByteBuffer(repeating: 7, count: 300_000)
        try pair.server.writeOutbound(large)
        try pair.exchange()
        #expect(pair.clientEvents.received == large)
    }

    @Test func putsAllThatWasWrittenBeforeAFlushIntoOneRecord() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        for _ in 0..<100 { pair.client.write(ByteBuffer(string: "0123456789"), promise: nil) }
        pair.client.flush()
        let written = try pair.exchange()
        #expect(written.count == 1)
        // 1000 bytes, and one record's header, content type and tag.
        #expect(written.map(\.readableBytes) == [1022])
        #expect(pair.serverEvents.received.readableBytes == 1000)
    }

    @Test func completesWriteOfEachPartOfABatch() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        let first = pair.client.write(ByteBuffer(string: "a"))
        let second = pair.client.write(ByteBuffer(string: "b"))
        pair.client.flush()
        try first.wait()
        try second.wait()
    }

    @Test func refusesServerOfAnotherName() throws {
        let pair = try EmbeddedPair(client: client, expecting: "other.boxoffice", server: server)
        try pair.exchange()
        #expect(pair.clientEvents.errors.map(\.code) == [.wrongPeerName])
        #expect(pair.clientEvents.peerNames == nil)
        #expect(!pair.client.isActive)
        #expect(pair.serverEvents.errors.map(\.code) == [.refusedByPeer])
    }

    @Test func refusesWildcardInPlaceOfTheExactName() throws {
        let wildcard = try identities.identity("*.boxoffice")
        let pair = try EmbeddedPair(client: client, server: wildcard)
        try pair.exchange()
        #expect(pair.clientEvents.errors.map(\.code) == [.wrongPeerName])
    }

    @Test func refusesServerOfAnotherAuthority() throws {
        let pair = try EmbeddedPair(client: client, server: TestIdentities().identity("server.boxoffice"))
        try pair.exchange()
        #expect(pair.clientEvents.errors.map(\.code) == [.untrustedPeer])
    }

    @Test func refusesClientOfAnotherAuthority() throws {
        let strangers = try TestIdentities()
        try strangers.issue("client.boxoffice", names: ["client.boxoffice"])
        let files = TlsFiles(
            certificate: strangers.path("client.boxoffice.crt"), key: strangers.path("client.boxoffice.key"), trustAnchors: identities.path("ca.crt"))
        let pair = try EmbeddedPair(client: TlsIdentity(files: files), server: server)
        try pair.exchange()
        #expect(pair.serverEvents.errors.map(\.code) == [.untrustedPeer])
        #expect(pair.serverEvents.peerNames == nil)
        #expect(pair.clientEvents.errors.map(\.code) == [.refusedByPeer])
    }

    @Test func refusesExpiredClient() throws {
        let expired = try identities.identity(
            "late.boxoffice", validity: .init(notBefore: .init(seconds: 1_000_000), notAfter: .init(seconds: 2_000_000)))
        let pair = try EmbeddedPair(client: expired, server: server)
        try pair.exchange()
        #expect(pair.serverEvents.errors.map(\.code) == [.untrustedPeer])
    }

    @Test func closesHalfOpenHandshakeInTime() throws {
        let pair = try EmbeddedPair(client: client, server: server, limits: TlsLimits(handshakeTime: .seconds(5)))
        pair.server.embeddedEventLoop.advanceTime(by: .milliseconds(4999))
        #expect(pair.server.isActive)
        pair.server.embeddedEventLoop.advanceTime(by: .milliseconds(2))
        #expect(pair.serverEvents.errors.map(\.code) == [.handshakeTimedOut])
        #expect(!pair.server.isActive)
    }

    @Test func closesOnBytesThatAreNoTls() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        _ = try? pair.server.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        #expect(pair.serverEvents.errors.map(\.code) == [.handshakeFailed])
        #expect(!pair.server.isActive)
    }

    @Test func closesOnRecordThatDoesNotAuthenticate() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        _ = try? pair.server.writeInbound(ByteBuffer(bytes: [23, 3, 3, 0, 32] + [UInt8](repeating: 1, count: 32)))
        #expect(pair.serverEvents.errors.map(\.code) == [.protocolViolation])
        #expect(!pair.server.isActive)
    }

    @Test func saysGoodbye() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        pair.client.close(promise: nil)
        try pair.exchange()
        #expect(pair.serverEvents.errors.isEmpty)
        #expect(!pair.server.isActive)
    }

    @Test func reportsConnectionThatEndsWithoutGoodbye() throws {
        let pair = try EmbeddedPair(client: client, server: server)
        try pair.exchange()
        pair.server.pipeline.fireChannelInactive()
        #expect(pair.serverEvents.errors.map(\.code) == [.truncated])
    }

    @Test func holdsNoMoreThanTheLimitBeforeTheHandshake() throws {
        let pair = try EmbeddedPair(client: client, server: server, limits: TlsLimits(pendingOutboundBytes: 1000))
        let kept = pair.client.write(ByteBuffer(repeating: 0, count: 1000))
        let excess = pair.client.write(ByteBuffer(repeating: 0, count: 1))
        #expect(throws: (any Error).self) { try kept.wait() }
        #expect(throws: (any Error).self) { try excess.wait() }
        #expect(pair.clientEvents.errors.map(\.code) == [.outboundLimit])
        #expect(!pair.client.isActive)
    }
}
