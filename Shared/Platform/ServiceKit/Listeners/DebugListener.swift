#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import EventLoops
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// HTTP for operators: `/metrics`, `/healthz` and `/readyz`. `/healthz` says that the process answers. `/readyz` says that it can do its work. It is
/// 503 and reasons when not, and with 200 a line for each thing that operators are to know.
struct DebugListener: Service {
    let endpoint: Endpoint
    let metrics: PrometheusMetrics
    let readiness: Readiness
    let logger: Logger
    /// Called with the port that is listened on.
    var onListening: @Sendable (Int) -> Void = { _ in }

    func run() async throws {
        let shield = ListenerShield()
        let application = Application(
            router: router(), server: .http1(configuration: .init(additionalChannelHandlers: [OneProtocol()])),
            configuration: ApplicationConfiguration(address: .hostname(endpoint.address, port: Int(endpoint.port))),
            onServerRunning: { channel in
                shield.hasBegun()
                let port = channel.localAddress?.port ?? Int(endpoint.port)
                logger.info("debug.listening", metadata: ["address": "\(endpoint.address)", "port": "\(port)"])
                onListening(port)
            },
            logger: quiet)
        do {
            try await shield.run(application)
        } catch let error as IOError {
            throw StartFailure.cannotListen(key: "debug", endpoint, error)
        }
    }

    /// Hummingbird tells of its own start at `info`.
    private var quiet: Logger {
        var logger = logger
        logger.logLevel = max(.warning, logger.logLevel)
        return logger
    }

    func router() -> Router<BasicRequestContext> {
        let router = Router(options: .autoGenerateHeadEndpoints)
        router.get("metrics") { _, _ in
            Self.answer(.ok, metrics.text() + ProcessMetrics.text(), type: "text/plain; version=0.0.4; charset=utf-8")
        }
        router.get("healthz") { _, _ in Self.answer(.ok, "ok\n") }
        router.get("readyz") { _, _ in
            let lacking = readiness.lacking
            if lacking.isEmpty { return Self.answer(.ok, "ready\n" + readiness.degraded.map { "degraded: \($0)\n" }.joined()) }
            return Self.answer(.serviceUnavailable, lacking.joined(separator: "\n") + "\n")
        }
        return router
    }

    private static func answer(_ status: HTTPResponse.Status, _ text: String, type: String = "text/plain; charset=utf-8") -> Response {
        Response(status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension StartFailure {
    static func cannotListen(key: String, _ endpoint: Endpoint, _ error: any Error) -> StartFailure {
        let reason = (error as? IOError)?.errnoCode == EADDRINUSE ? "the port is in use; stop its owner or choose another port" : "\(error)"
        return StartFailure("\(key): cannot listen on \(endpoint): \(reason)")
    }
}
