@testable import GatewayEdge
internal import HummingbirdTesting
internal import Testing

/// `Expect: 100-continue` (RFC 9110 §10.1.1): clients that send a body when they are told to.
@Suite struct ContinueTests {
    private static let head =
        "POST /o/client/token HTTP/1.1\r\nHost: tv.example\r\nContent-Type: application/x-www-form-urlencoded\r\nExpect: 100-Continue\r\n"
    private static let body = "grant_type=client_credentials&client_id=a&client_secret=b"
    private static let length = "Content-Length: \(body.utf8.count)\r\n"

    private func converse(_ work: @escaping @Sendable (RawConnection) async throws -> Void) async throws {
        try await TestGateway().exchange(over: .live) { client in
            try await RawConnection.with(try #require(client.port)) { try await work($0) }
        }
    }

    @Test(
        "who waits is told to go on, once for each request", arguments: ["Content-Length: \(body.utf8.count)\r\n", "Transfer-Encoding: chunked\r\n"])
    func goesOn(framing: String) async throws {
        let isChunked = framing.hasPrefix("T")
        try await converse { connection in
            for round in 1...2 {
                await connection.send("\(Self.head)\(framing)\r\n")
                try await connection.wait(for: "100") { $0.statuses.count == 2 * round - 1 }
                #expect(connection.statuses.last == 100)
                await connection.send(isChunked ? "\(String(Self.body.utf8.count, radix: 16))\r\n\(Self.body)\r\n0\r\n\r\n" : Self.body)
                try await connection.wait(for: "the answer") { $0.statuses.count == 2 * round }
                #expect(connection.statuses.last == 201)
            }
        }
    }

    @Test("whose head is refused gets the final status at once")
    func refused() async throws {
        try await converse { connection in
            await connection.send("\(Self.head)Content-Length: 10485760\r\n\r\n")
            try await connection.wait(for: "the refusal") { !$0.statuses.isEmpty }
            #expect(connection.statuses == [413])
        }
        try await converse { connection in
            await connection.send(Self.head.replacing("/o/client/token", with: "/nowhere") + Self.length + "\r\n")
            try await connection.wait(for: "the refusal") { !$0.statuses.isEmpty }
            #expect(connection.statuses == [404])
        }
    }

    @Test("who has begun its body, and who speaks HTTP/1.0, is told nothing")
    func silence() async throws {
        try await converse { connection in
            await connection.send("\(Self.head)\(Self.length)\r\n\(Self.body.prefix(5))")
            await connection.send(String(Self.body.dropFirst(5)))
            try await connection.wait(for: "the answer") { !$0.statuses.isEmpty }
            #expect(connection.statuses == [201])
        }
        try await converse { connection in
            await connection.send(Self.head.replacing("HTTP/1.1", with: "HTTP/1.0") + Self.length + "\r\n")
            await connection.send(Self.body)
            try await connection.wait(for: "the end") { $0.isClosed }
            #expect(connection.statuses == [201])
        }
    }

    @Test("an answer under way is not interrupted")
    func pipelined() async throws {
        try await converse { connection in
            await connection.send("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n\(Self.head)\(Self.length)\r\n")
            try await connection.wait(for: "100") { $0.statuses.count == 2 }
            #expect(connection.statuses == [200, 100])
            await connection.send(Self.body)
            try await connection.wait(for: "the answer") { $0.statuses.count == 3 }
            #expect(connection.statuses == [200, 100, 201])
        }
    }

    @Test("streams of HTTP/2 are told, too")
    func streams() async throws {
        try await HttpsTests.serving { port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(HostileHttp2Tests.greeting)
                let fields = [
                    ("content-type", "application/x-www-form-urlencoded"), ("expect", "100-continue"),
                    ("content-length", String(Self.body.utf8.count)),
                ]
                await connection.send(HostileHttp2Tests.headers(1, HostileHttp2Tests.request("POST", "/o/client/token", fields), ends: false))
                func heads(_ connection: RawConnection) -> [[UInt8]] {
                    HostileHttp2Tests.frames(connection.bytes).filter { $0.type == 1 && $0.stream == 1 }.map(\.payload)
                }
                try await connection.wait(for: "100") { heads($0).count == 1 }
                // `:status: 100` is in no table: its value stands as text, by itself or in the code of Huffman.
                #expect(heads(connection)[0].count <= 12)
                await connection.send(HostileHttp2Tests.frame(0, flags: 1, stream: 1, Array(Self.body.utf8)))
                try await connection.wait(for: "the answer") { heads($0).count == 2 }
                // A head that is refused is told the final status alone.
                let long = [("expect", "100-continue"), ("content-length", "10485760")]
                await connection.send(HostileHttp2Tests.headers(3, HostileHttp2Tests.request("POST", "/o/client/token", long), ends: false))
                try await connection.wait(for: "the refusal") { HostileHttp2Tests.frames($0.bytes).contains { $0.type == 0 && $0.stream == 3 } }
                #expect(HostileHttp2Tests.frames(connection.bytes).count { $0.type == 1 && $0.stream == 3 } == 1)
            }
        }
    }
}
