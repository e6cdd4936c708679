import Foundation
import GRPCCore
import GRPCNIOTransportHTTP2Posix

/// A gRPC server, a load on it and an HTTP gateway before it, each in a process of its own.
///
///     grpc-swift-peer serve CERTIFICATE KEY
///     grpc-swift-peer load PORT NAME ANCHORS PAYLOAD_BYTES IN_FLIGHT SECONDS
///     grpc-swift-peer gateway PORT NAME ANCHORS
///
/// Servers print their port and serve until they are killed.
@main
enum Peer {
    static func main() async {
        do {
            try await run()
        } catch {
            FileHandle.standardError.write(Data("grpc-swift-peer: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, words.count) {
        case ("serve", 3): try await serve(certificate: words[1], key: words[2])
        case ("load", 7):
            guard let port = Int(words[1]), let bytes = Int(words[4]), let inFlight = Int(words[5]), let seconds = Double(words[6]) else { usage() }
            try await Load(port: port, name: words[2], anchors: words[3], payloadBytes: bytes, inFlight: inFlight, seconds: seconds).run()
        case ("gateway", 4):
            guard let port = Int(words[1]) else { usage() }
            try await Gateway(port: port, name: words[2], anchors: words[3]).run()
        default: usage()
        }
    }

    private static func usage() -> Never {
        FileHandle.standardError.write(
            Data("grpc-swift-peer serve CERTIFICATE KEY | load PORT NAME ANCHORS PAYLOAD_BYTES IN_FLIGHT SECONDS | gateway PORT NAME ANCHORS\n".utf8))
        exit(2)
    }

    private static func serve(certificate: String, key: String) async throws {
        let server = GRPCServer(
            transport: .http2NIOPosix(
                address: .ipv4(host: "127.0.0.1", port: 0),
                transportSecurity: .tls(
                    certificateChain: [.file(path: certificate, format: .pem)], privateKey: .file(path: key, format: .pem))),
            services: [PeerService()])
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await server.serve() }
            let address = try await server.listeningAddress
            FileHandle.standardOutput.write(Data("\(address?.ipv4?.port ?? 0)\n".utf8))
        }
    }
}
