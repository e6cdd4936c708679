import Foundation
import NIOCore
import NIOPosix
import OutboundHttp
import Testing

/// Servers that take a connection, and then go on too slowly or not at all.
@Suite struct HangingServerTests {
    private static let timeLeft: Duration = .milliseconds(400)
    private let route = OutboundRoute(peer: "test", connectTimeout: .seconds(5), responseTimeout: .milliseconds(300), connections: 4)

    /// Sends what it is told to, a part every 50 ms, and never ends.
    private final class Dripping: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        private let parts: [String]

        init(_ parts: [String]) { self.parts = parts }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let (channel, parts) = (context.channel, parts)
            for (number, part) in parts.enumerated() {
                context.eventLoop.scheduleTask(in: .milliseconds(Int64(50 * number))) {
                    channel.writeAndFlush(ByteBuffer(string: part), promise: nil)
                }
            }
        }
    }

    /// - Returns: How the call failed, and after how long.
    private func call(_ port: Int) async -> (failure: OutboundFailure?, after: Duration) {
        let transport = OutboundHttp()
        let begin = ContinuousClock.now
        var failure: OutboundFailure?
        do throws(OutboundFailure) {
            _ = try await transport.send(OutboundRequest(.get, "http://127.0.0.1:\(port)/"), by: route, timeLeft: Self.timeLeft)
        } catch { failure = error }
        let time = begin.duration(to: .now)
        await transport.shutdown()
        return (failure, time)
    }

    @Test(
        "bridge B43: whatever a server does after it took the connection, a call ends in its time",
        arguments: [
            [], ["HTTP/1.1 200 OK\r\n"], ["HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"],
            ["HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"] + Array(repeating: "x", count: 100),
            ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"] + Array(repeating: "1\r\nx\r\n", count: 100),
        ])
    func ends(_ parts: [String]) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in channel.pipeline.addHandler(Dripping(parts)) }
            .bind(host: "127.0.0.1", port: 0).get()
        let (failure, time) = await call(try #require(server.localAddress?.port))
        try await server.close()
        #expect([.responseTimeout, .budgetSpent].contains(failure?.kind), "\(String(describing: failure))")
        #expect(time < .seconds(45), "\(time)")
    }

    @Test("bridge B43: a connection that is half open, which nobody accepts, costs the time of a call and no more")
    func halfOpen() async throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        (address.sin_family, address.sin_addr.s_addr) = (sa_family_t(AF_INET), inet_addr("127.0.0.1"))
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && listen(descriptor, 8) == 0 && getsockname(descriptor, address, &length) == 0
            }
        }
        try #require(isBound)
        let (failure, time) = await call(Int(UInt16(bigEndian: address.sin_port)))
        #expect([.responseTimeout, .budgetSpent].contains(failure?.kind), "\(String(describing: failure))")
        #expect(time < .seconds(45), "\(time)")
    }
}
