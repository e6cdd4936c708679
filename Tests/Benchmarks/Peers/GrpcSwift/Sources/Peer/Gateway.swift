import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Hummingbird
import Logging

/// HTTP to gRPC: `GET /v1/session?requestor=...&deviceId=...` asks the service over TLS and answers in JSON.
struct Gateway {
    let port: Int
    let name: String
    let anchors: String

    private struct Answer: ResponseEncodable {
        var requestor: String
        var mvpd: String
        var expires: Int64
    }

    func run() async throws {
        let client = try PeerClient.make(port: port, name: name, anchors: anchors)
        let router = Router()
        router.get("v1/session") { request, _ in
            let question = SessionQuestion(
                requestor: request.uri.queryParameters["requestor"].map(String.init) ?? "",
                deviceID: request.uri.queryParameters["deviceId"].map(String.init) ?? "")
            return try await client.unary(
                request: ClientRequest(message: question), descriptor: PeerService.checkSession, serializer: MessageEncoder<SessionQuestion>(),
                deserializer: MessageDecoder<SessionAnswer>(), options: .defaults
            ) { response in
                let answer = try response.message
                return Answer(requestor: answer.requestor, mvpd: answer.mvpd, expires: answer.expires)
            }
        }
        var logger = Logger(label: "gateway")
        logger.logLevel = .warning
        let application = Application(
            responder: router.buildResponder(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), backlog: 1024, reuseAddress: true),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await client.runConnections() }
            group.addTask { try await application.run() }
            try await group.waitForAll()
        }
    }
}
