internal import AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A way through a proxy to one server, and what its failures mean.
struct ProxyTunnel: Sendable {
    let proxy: EgressProxy
    /// As CONNECT names it, with the port.
    let target: String
    let userAgent: String

    /// - Parameters:
    ///   - host: As CONNECT names it: a name, or an address without brackets.
    init(_ proxy: EgressProxy, host: String, port: Int, userAgent: String) {
        self.proxy = proxy
        self.userAgent = userAgent
        target = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// The proxy's part in a failed call.
    /// - Returns: `nil` where the server behind it failed.
    func failure(_ error: any Error, timeLeft: Duration) async -> OutboundFailure? {
        if let error = error as? HTTPClientError {
            switch error {
            case .proxyAuthenticationRequired: return refused(407)
            case .invalidProxyResponse: return refused(await RefusedTunnel.status(self, timeLeft: min(timeLeft, .seconds(2))))
            case .httpProxyHandshakeTimeout, .connectTimeout:
                return OutboundFailure(
                    .connectTimeout,
                    cause:
                        "the proxy \(proxy) opened no tunnel to \(target) in time: it cannot be reached, or the server behind it does not answer it")
            default: return nil
            }
        }
        guard error is NIOConnectionError || (error as? ChannelError).map({ if case .connectTimeout = $0 { true } else { false } }) == true else {
            return nil
        }
        return OutboundFailure(.notSent, cause: "the proxy \(proxy) cannot be reached: look at its address in outbound, and whether it runs")
    }

    private func refused(_ status: Int?) -> OutboundFailure {
        switch status {
        // Tinyproxy answers wrong credentials with 401.
        case 401?, 407?:
            let missing =
                proxy.credentials == nil ? "it wants credentials, and the settings give none" : "it does not take the credentials of the settings"
            return OutboundFailure(.notSent, cause: "the proxy \(proxy) answered \(status ?? 407): \(missing); look at proxyCredentials in outbound")
        case 403:
            return OutboundFailure(
                .notSent,
                cause:
                    "the proxy \(proxy) answered 403: its rules do not let calls go to \(target); allow that there, or name the host in outbound.noProxy"
            )
        case 502, 503, 504:
            return OutboundFailure(
                .notSent,
                cause: "the proxy \(proxy) answered \(status ?? 0): it cannot reach \(target); look at its log, and whether that server is there")
        case let status?:
            return OutboundFailure(.notSent, cause: "the proxy \(proxy) answered CONNECT to \(target) with \(status); its log says why")
        case nil:
            return OutboundFailure(
                .notSent,
                cause: "the proxy \(proxy) refused the tunnel to \(target), or is no HTTP proxy; look at its log, and at its address in outbound")
        }
    }
}

/// The status of a refusal. The client tells only that there is no tunnel; so the proxy is asked once more, at most once a minute for each target.
enum RefusedTunnel {
    private static let fresh: Duration = .seconds(60)
    private static let mostKnown = 256
    private static let known = Mutex<[String: (status: Int?, end: ContinuousClock.Instant)]>([:])

    static func status(_ tunnel: ProxyTunnel, timeLeft: Duration) async -> Int? {
        let key = "\(tunnel.proxy) \(tunnel.target)"
        if let known = known.withLock({ $0[key] }), ContinuousClock.now < known.end { return known.status }
        guard timeLeft > .zero else { return nil }
        let status = await ask(tunnel, timeLeft)
        known.withLock { known in
            if known.count >= mostKnown { known = [:] }
            known[key] = (status, .now + fresh)
        }
        return status
    }

    private static func ask(_ tunnel: ProxyTunnel, _ timeLeft: Duration) async -> Int? {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = loop.makePromise(of: Int?.self)
        let bound = loop.scheduleTask(in: TimeAmount(timeLeft)) { answer.succeed(nil) }
        var request = "CONNECT \(tunnel.target) HTTP/1.1\r\nHost: \(tunnel.target)\r\nUser-Agent: \(tunnel.userAgent)\r\n"
        if let credentials = tunnel.proxy.credentials {
            request += "Proxy-Authorization: Basic \(Data("\(credentials.user):\(credentials.password)".utf8).base64EncodedString())\r\n"
        }
        let text = request + "\r\n"
        let channel = try? await ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(timeLeft))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(StatusLine(answer)) }
            }
            .connect(host: tunnel.proxy.host, port: tunnel.proxy.port).get()
        guard let channel else {
            bound.cancel()
            answer.succeed(nil)
            return nil
        }
        try? await channel.writeAndFlush(ByteBuffer(string: text))
        let status = (try? await answer.futureResult.get()) ?? nil
        bound.cancel()
        // It is closed already where the proxy closed it.
        try? await channel.close()
        return status
    }

    /// Reads the status of an answer, and nothing behind it.
    private final class StatusLine: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let answer: EventLoopPromise<Int?>
        private var octets: [UInt8] = []

        init(_ answer: EventLoopPromise<Int?>) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            octets += Array(unwrapInboundIn(data).readableBytesView.prefix(64))
            guard octets.count >= 12 else { return }
            let text = String(decoding: octets.prefix(12), as: UTF8.self)
            answer.succeed(text.hasPrefix("HTTP/1.") ? Int(text.suffix(3)) : nil)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            answer.succeed(nil)
            context.fireChannelInactive()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
