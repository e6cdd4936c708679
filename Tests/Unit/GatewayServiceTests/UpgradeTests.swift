@testable import GatewayEdge
internal import HummingbirdTesting
internal import NIOCore
internal import NIOEmbedded
internal import Testing

/// Requests that offer another protocol, or ask for one: each is answered as the last one of its connection, however it is written and cut.
@Suite struct UpgradeTests {
    static let offers = [
        "Connection: upgrade\t\r\nUpgrade: x\r\n", "Connection:\tupgrade\r\nUpgrade: x\r\n", "Connection: \t upgrade \t \r\nUpgrade:\tx\t\r\n",
        "Connection: keep-alive,\tupgrade\r\nUpgrade: x\r\n", "Connection: upgrade\r\nConnection: keep-alive\r\nUpgrade: x\r\n",
        "Proxy-Connection: upgrade\r\nUpgrade: x\r\n", "Upgrade: x\r\n", "UPGRADE: x\r\nCONNECTION: UPGRADE\r\n",
        "Connection: upgrade;q=1\r\nUpgrade: x\r\n",
        "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n",
    ]

    enum Cut: CaseIterable {
        case whole, pieces
    }

    private static let host = "Host: localhost\r\n"

    @Test("an offer to upgrade is ignored, answered, and the last request (RFC 9110 §7.8)", arguments: [ListenerKind.everybody, .administration])
    func offersEndTheConnection(door: ListenerKind) async throws {
        try await TestGateway(connections: Self.patient).exchange(over: .live, at: door) { client in
            let port = try #require(client.port)
            let next = "GET /readyz HTTP/1.1\r\n\(Self.host)\r\n"
            for (offer, cut) in Self.offers.flatMap({ offer in Cut.allCases.map { (offer, $0) } }) {
                try await Self.expectOne(port, "GET /healthz HTTP/1.1\r\n\(Self.host)\(offer)\r\n\(next)", cut, is: 200)
                try await Self.expectOne(port, "POST /healthz HTTP/1.1\r\n\(Self.host)\(offer)Content-Length: 3\r\n\r\na=b\(next)", cut, is: 405)
                try await Self.expectOne(port, "GET /healthz HTTP/1.1\r\n\(Self.host)\r\n", .whole, is: 200, ends: false)
            }
        }
    }

    /// A busy machine must not end connections.
    private static let patient = ConnectionLimits(head: .seconds(600), idle: .seconds(600))

    @Test("the same over HTTPS")
    func offersOverHttps() async throws {
        try await HttpsTests.serving { port, files, _ in
            for offer in Self.offers {
                try await RawConnection.with(port, tls: try files.client()) { connection in
                    await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)\(offer)\r\nGET /readyz HTTP/1.1\r\n\(Self.host)\r\n")
                    try await connection.wait(for: "the end") { $0.isClosed }
                    #expect(connection.statuses == [200], "\(offer)")
                }
            }
        }
    }

    @Test("requests before an offer are answered, too")
    func pipelines() async throws {
        try await TestGateway().exchange(over: .live) { client in
            let get = "GET /healthz HTTP/1.1\r\n\(Self.host)"
            try await RawConnection.with(try #require(client.port)) { connection in
                await connection.send("\(get)\r\n\(get)\r\n\(get)\(Self.offers[0])\r\n\(get)\r\n\(get)\r\n")
                try await connection.wait(for: "the end") { $0.isClosed }
                #expect(connection.statuses == [200, 200, 200])
            }
        }
    }

    /// `Tests/Hostile` looks at the memory of a process into which somebody pours.
    @Test("CONNECT is 501 and ends the connection; what follows is read by nobody")
    func connect() async throws {
        try await TestGateway().exchange(over: .live) { client in
            let port = try #require(client.port)
            for cut in Cut.allCases {
                try await Self.expectOne(port, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\nGET /healthz HTTP/1.1\r\n\(Self.host)\r\n", cut, is: 501)
            }
        }
    }

    @Test("the parser holds 24 KiB of what it does not understand")
    func parserIsBounded() throws {
        let channel = EmbeddedChannel(handlers: [Http1Parser().handler])
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.writeInbound(ByteBuffer(string: "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n"))
        try channel.writeInbound(ByteBuffer(repeating: 0x61, count: 24 << 10))
        #expect(throws: ByteToMessageDecoderError.PayloadTooLargeError.self) { try channel.writeInbound(ByteBuffer(repeating: 0x61, count: 1)) }
    }

    private static func expectOne(_ port: Int, _ text: String, _ cut: Cut, is status: Int, ends: Bool = true) async throws {
        try await RawConnection.with(port) { connection in
            switch cut {
            case .whole: await connection.send(text)
            case .pieces:
                let octets = Array(text.utf8)
                for start in stride(from: 0, to: octets.count, by: 17) where !connection.isClosed {
                    await connection.send(Array(octets[start..<min(start + 17, octets.count)]))
                }
            }
            try await connection.wait(for: "an answer") { !$0.statuses.isEmpty || $0.isClosed }
            if ends { try await connection.wait(for: "the end") { $0.isClosed } }
            #expect(connection.statuses == [status], "\(text)")
            #expect(connection.text.contains("\r\nConnection: close\r\n") == ends)
        }
    }
}
