package import NIOCore
import NIOPosix

/// A TCP proxy that does to connections what networks do: it cuts, delays, throttles, garbles, and leaves both ends waiting.
///
/// It knows nothing of what it carries. Its rules can be changed at any time and hold for connections that are open, too.
package final class FaultProxy: Sendable {
    private let state: ProxyState
    private let target: SocketAddress
    private let group: any EventLoopGroup
    private let listener: any Channel

    private init(target: SocketAddress, group: any EventLoopGroup, listener: any Channel, state: ProxyState) {
        (self.target, self.group, self.listener) = (target, group, listener)
        self.state = state
    }

    /// - Parameters:
    ///   - port: On loopback; 0: any free one.
    ///   - host, targetPort: Where the bytes go.
    /// - Throws: When the port is taken.
    package static func start(port: Int, to host: String, _ targetPort: Int, group: any EventLoopGroup) async throws -> FaultProxy {
        let state = ProxyState()
        let target = try SocketAddress.makeAddressResolvingHost(host, port: targetPort)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { near in accept(near, target, state) }
            .bind(host: "127.0.0.1", port: port).get()
        return FaultProxy(target: target, group: group, listener: listener, state: state)
    }

    /// Where it listens.
    package var port: Int { listener.localAddress?.port ?? 0 }

    package var rules: WireRules {
        get { state.rules }
        set { state.rules = newValue }
    }

    package var openConnections: Int { state.links.count }

    package var counts: ProxyCounts { state.counts }

    /// Ends all open connections; new ones are served.
    /// - Parameter abruptly: By a reset instead of an orderly end.
    package func cut(abruptly: Bool) {
        for link in state.links { link.cut(abruptly: abruptly) }
    }

    /// Leaves the open connections half open: nothing passes on them any more, and nobody is told. New ones are served.
    package func muteOpenConnections() {
        for link in state.links { link.becomeMute() }
    }

    package func stop() async {
        try? await listener.close()
        cut(abruptly: true)
    }

    private static func accept(_ near: any Channel, _ target: SocketAddress, _ state: ProxyState) -> EventLoopFuture<Void> {
        if state.rules.refusesConnections { return near.close() }
        let link = Link(near: near)
        let inward = Relay(link: link, proxy: state)
        let outward = Relay(link: link, proxy: state) { near in connect(near, link, inward, target) }
        inward.twin = outward
        state.add(link)
        near.closeFuture.whenComplete { _ in state.remove(link) }
        return near.pipeline.addHandler(outward)
    }

    private static func connect(_ near: any Channel, _ link: Link, _ inward: Relay, _ target: SocketAddress) {
        ClientBootstrap(group: near.eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: false)
            .channelInitializer { far in far.pipeline.addHandler(inward) }
            .connect(to: target)
            .whenComplete { result in
                guard case .success(let far) = result else { return near.close(promise: nil) }
                link.join(far)
                inward.join(near)
                inward.twin?.join(far)
                inward.twin = nil
                for channel in [near, far] { _ = channel.setOption(.autoRead, value: true) }
            }
    }
}
