internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Transport
internal import Frames

extension ClientConnection {
    /// Begins to connect: TCP, then TLS, then the hello; what becomes of it after TCP is told by the events.
    /// - Returns: Fails when there is no TCP connection; the events then say nothing.
    static func connect(
        to address: RpcAddress, _ configuration: RpcClient.Configuration, on eventLoop: any EventLoop, logger: Logger, events: Events
    ) -> EventLoopFuture<Void> {
        ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTime))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.writeBufferWaterMark, value: .init(low: 512 * 1024, high: 1024 * 1024))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let limits = TlsLimits(handshakeTime: configuration.connectTime, pendingOutboundBytes: configuration.outboundBytes)
                    let tls = try TlsHandler(identity: configuration.identity, side: .client(expecting: configuration.peerName), limits: limits)
                    let connection = ClientConnection(
                        settings(configuration), limits: OutboundLimits(bytes: configuration.outboundBytes, slowReaderTime: .seconds(30)),
                        eventLoop: channel.eventLoop, logger: logger, events: events)
                    try channel.pipeline.syncOperations.addHandlers(tls, connection)
                }
            }
            .connect(host: address.host, port: address.port)
            .map { _ in }
    }

    private static func settings(_ configuration: RpcClient.Configuration) -> ConnectionSettings {
        var settings = ConnectionSettings(software: configuration.software, softwareVersion: configuration.softwareVersion)
        settings.zone = configuration.zone
        settings.host = configuration.identity.hostName ?? ""
        settings.instance = configuration.instance
        settings.maxFrameBytes = configuration.frameBytes
        settings.maxCallsInFlight = configuration.callsPerConnection
        settings.helloTimeout = configuration.connectTime
        settings.pingInterval = configuration.pingInterval
        settings.pingTimeout = configuration.pingTimeout
        settings.idleTimeout = nil
        settings.drainTimeout = configuration.drainTime
        return settings
    }
}
