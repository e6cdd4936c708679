import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// The service of `echo.proto`, registered by hand.
struct PeerService: RegistrableRPCService {
    private static let service = ServiceDescriptor(fullyQualifiedService: "boxoffice.peers.v1.Peer")
    static let echo = MethodDescriptor(service: service, method: "Echo", type: .unary)
    static let checkSession = MethodDescriptor(service: service, method: "CheckSession", type: .unary)

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.echo, deserializer: MessageDecoder<EchoMessage>(), serializer: MessageEncoder<EchoMessage>()) {
            request, _ in
            let request = try await ServerRequest(stream: request)
            return StreamingServerResponse(single: ServerResponse(message: request.message))
        }
        router.registerHandler(
            forMethod: Self.checkSession, deserializer: MessageDecoder<SessionQuestion>(), serializer: MessageEncoder<SessionAnswer>()
        ) { request, _ in
            let request = try await ServerRequest(stream: request)
            let answer = SessionAnswer(requestor: request.message.requestor, mvpd: "NorthCable", expires: 1_893_456_000_000)
            return StreamingServerResponse(single: ServerResponse(message: answer))
        }
    }
}

/// A client of it, over TLS.
enum PeerClient {
    static func make(port: Int, name: String, anchors: String) throws -> GRPCClient<HTTP2ClientTransport.Posix> {
        GRPCClient(
            transport: try .http2NIOPosix(
                target: .ipv4(address: "127.0.0.1", port: port),
                transportSecurity: .tls { $0.trustRoots = .certificates([.file(path: anchors, format: .pem)]) },
                config: .defaults { $0.http2.authority = name }))
    }
}
