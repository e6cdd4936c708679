internal import BridgeClient
internal import Clocks
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import OutboundHttp

/// What a look at a server showed.
struct PeerSight: Sendable {
    /// Why there was no answer; `nil`: there was one.
    var failure: OutboundFailure?
    /// Its answer's.
    var status: Int?
    /// By how much its clock is ahead of ours; `nil`: it does not say.
    var clockOffset: Duration?
    /// When the certificate that it shows ends, whoever signed it; `nil`: it shows none, or nobody looked.
    var certificateEnd: Timestamp?
}

/// Looks at servers of others: each gets one GET of its root, with nothing of ours in it. It changes nothing there.
final class PeerProbe: Sendable {
    private static let connectTimeout: Duration = .seconds(2)
    private static let answerTimeout: Duration = .seconds(3)
    /// Of one look.
    static let longest: Duration = .seconds(4)
    private static let largestAnswer = 4 * 1024 * 1024

    private let transport: OutboundHttp
    /// Through a proxy no other connection is made than the one that asks.
    private let looksAtCertificates: Bool

    init(_ options: OutboundOptions) {
        transport = OutboundHttp(options, largestAnswer: Self.largestAnswer)
        looksAtCertificates = options.proxies.isEmpty
    }

    func shutdown() async { await transport.shutdown() }

    func look(_ server: PeerServer) async -> PeerSight {
        async let end = looksAtCertificates ? Self.certificateEnd(server.origin) : nil
        var sight = PeerSight()
        let route = OutboundRoute(
            peer: "doctor \(server.origin)", trustAnchors: server.trustAnchors, connectTimeout: Self.connectTimeout,
            responseTimeout: Self.answerTimeout, connections: 1)
        do throws(OutboundFailure) {
            let answer = try await transport.send(OutboundRequest(.get, server.origin + "/"), by: route, timeLeft: Self.longest)
            sight.status = answer.status
            sight.clockOffset = UpstreamClock.offset(answer, now: SystemClock().now())
        } catch {
            sight.failure = error
        }
        sight.certificateEnd = await end
        return sight
    }

    /// Begins TLS with the server, reads its certificate, and ends it: nothing is sent, and nothing that it says is believed.
    private static func certificateEnd(_ origin: String) async -> Timestamp? {
        guard let parts = URLComponents(string: origin), parts.scheme == "https", let written = parts.host,
            let context = try? NIOSSLContext(configuration: .makeClientConfiguration())
        else { return nil }
        let host = written.hasPrefix("[") && written.hasSuffix("]") ? String(written.dropFirst().dropLast()) : written
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let seen = loop.makePromise(of: Timestamp?.self)
        let limit = loop.scheduleTask(in: TimeAmount(longest)) { seen.succeed(nil) }
        let bootstrap = ClientBootstrap(group: loop).connectTimeout(TimeAmount(connectTimeout)).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let read: NIOSSLCustomVerificationCallback = { chain, verdict in
                    seen.succeed(chain.first.map { Timestamp(seconds: Int64($0.notValidAfter)) })
                    verdict.succeed(.failed)
                }
                let name = isAddress ? nil : host
                let tls = try NIOSSLClientHandler(context: context, serverHostname: name, customVerificationCallback: read)
                try channel.pipeline.syncOperations.addHandler(tls)
                channel.closeFuture.whenComplete { _ in seen.succeed(nil) }
            }
        }
        let connection = bootstrap.connect(host: host, port: parts.port ?? 443)
        connection.whenFailure { _ in seen.succeed(nil) }
        let end = try? await seen.futureResult.get()
        limit.cancel()
        connection.whenSuccess { $0.close(promise: nil) }
        return end
    }
}
