import AsyncHTTPClient
@testable import ClusterCommands
@testable import CommandKit
import Cryptography
import Faults
import Foundation
import NIOCore
import NIOPosix
import Testing
import Transport

@Suite("Reasons in plain words")
struct PlainReasonTests {
    /// Words of libraries, of which none may be told.
    private static let foreign = [
        "error set", "PEM lib", "errno", "NIO", "BoringSSL", "HTTPClient", "Error Domain", "The operation could", "couldn’t", "Optional(", "sslv3",
        "tlsv1", "SSL routines",
    ]

    private static func expect(_ error: any Error, _ reason: String, place: SourceLocation = #_sourceLocation) {
        let text = PlainReason.of(error)
        #expect(text == reason, sourceLocation: place)
        for word in foreign { #expect(!text.contains(word), "\(text)", sourceLocation: place) }
    }

    private static func error(_ work: () throws -> Void) throws -> any Error {
        do { try work() } catch { return error }
        struct None: Error {}
        throw None()
    }

    @Test("files")
    func files() throws {
        try withHome { home in
            let missing = home.root.appendingPathComponent("no/file")
            Self.expect(try Self.error { _ = try Data(contentsOf: missing) }, "there is no such file or folder")
            Self.expect(try Self.error { _ = try String(contentsOfFile: missing.path, encoding: .utf8) }, "there is no such file or folder")
            Self.expect(try Self.error { try Data().write(to: missing, options: .atomic) }, "there is no such file or folder")
            Self.expect(try Self.error { _ = try FileManager.default.contentsOfDirectory(atPath: missing.path) }, "there is no such file or folder")
            Self.expect(try Self.error { _ = try Data(contentsOf: home.root) }, "it is a folder")
            let file = home.root.appendingPathComponent("file")
            try Data([0xff, 0xfe, 0xfd]).write(to: file)
            Self.expect(try Self.error { _ = try String(contentsOfFile: file.path, encoding: .utf8) }, "it is damaged, or no UTF-8 text")
            let below = file.appendingPathComponent("x")
            Self.expect(
                try Self.error { try FileManager.default.createDirectory(at: below, withIntermediateDirectories: true) },
                "a part of the path is no folder")
            Self.expect(try Self.error { _ = try Subprocess.run(missing.path, []) }, "cannot start \(missing.path): there is no such file or folder")
        }
    }

    @Test("connections")
    func connections() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        try await listener.close()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        await #expect { try await bootstrap.connect(host: "127.0.0.1", port: port).get() } throws: {
            PlainReason.of($0) == "connection refused: nobody listens there"
        }
        let client = HTTPExchange.makeClient()
        await #expect { try await HTTPExchange(client: client).send("GET", "http://127.0.0.1:\(port)/") } throws: {
            "\($0)".hasPrefix("GET to http://127.0.0.1:\(port) failed (connection refused: nobody listens there)")
        }
        try await client.shutdown()
        Self.expect(HTTPClientError.deadlineExceeded, "the other side did not answer in time")
        Self.expect(HTTPClientError.remoteConnectionClosed, "the other side broke the connection off")
        Self.expect(HTTPClientError.invalidURL, "that is no address: it must be http://HOST or https://HOST")
        Self.expect(HTTPClientError.bodyLengthMismatch, "the other side does not keep to HTTP")
        Self.expect(IOError(errnoCode: ECONNRESET, reason: "read (error set)"), "the other side broke the connection off")
        Self.expect(ChannelError.connectTimeout(.seconds(1)), "the other side did not answer in time")
        Self.expect(ChannelError.writeMessageTooLarge, "the connection failed")
    }

    @Test("TLS and keys")
    func tls() throws {
        Self.expect(
            TlsError(.unusableFile, "the key file /k cannot be used: PEM lib"),
            "the key file /k cannot be used: it is damaged, no PEM, or does not fit the others")
        Self.expect(
            TlsError(.refusedByPeer, "tlsv13 alert certificate required"), "it refuses the certificate of this side: it wants one, and got none")
        Self.expect(TlsError(.refusedByPeer, "tlsv1 alert unknown ca"), "it refuses the certificate of this side: it does not know its authority")
        Self.expect(
            TlsError(.untrustedPeer, "self-signed certificate in certificate chain"),
            "its certificate is not trusted here: its authority is another one")
        Self.expect(TlsError(.handshakeFailed, "wrong version number"), "no TLS came about: it speaks no TLS 1.3, or no TLS at all")
        Self.expect(
            Fault(
                .unavailable, "config.boxoffice cannot be reached.", cause: IOError(errnoCode: ECONNREFUSED, reason: "connection reset (error set)")),
            "config.boxoffice cannot be reached (connection refused: nobody listens there)")
        Self.expect(
            CryptographyError.failed(operation: "reading a key", reason: "PEM lib"), "reading a key failed: the file is damaged or no such key")
        try withHome { home in
            let pki = LocalPki(folder: home.pki)
            try pki.ensureConnections()
            let kind = "PRIVATE" + " KEY-----"
            try Data("-----BEGIN \(kind)\nx\n-----END \(kind)\n".utf8).write(to: URL(fileURLWithPath: pki.path("config.key")))
            let error = try Self.error {
                _ = try TlsIdentity(
                    files: TlsFiles(certificate: pki.path("config.crt"), key: pki.path("config.key"), trustAnchors: pki.path("ca.crt")))
            }
            let text = PlainReason.of(error)
            #expect(text.contains("config.key") && Self.foreign.allSatisfy { !text.contains($0) }, "\(text)")
        }
    }

    @Test("JSON, and errors that nobody foresaw")
    func others() throws {
        struct Form: Decodable { let a: [[String: Int]] }
        let error = try Self.error { _ = try JSONDecoder().decode(Form.self, from: Data(#"{"a": [{"b": "x"}]}"#.utf8)) }
        Self.expect(error, "it is not the JSON that is expected, at a[0].b")
        Self.expect(try Self.error { _ = try JSONDecoder().decode(Form.self, from: Data("{".utf8)) }, "it is not the JSON that is expected")
        Self.expect(CommandFailure("no", advice: "do"), "no: do")
        Self.expect(NSError(domain: "X", code: 3), "an error that is not foreseen here (NSError)")
        Self.expect(CancellationError(), "it was given up")
    }
}
