@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import NIOCore
internal import NIOEmbedded
internal import Testing

/// Clients that break the rules of HTTP/2: the stream or the connection ends, and other clients are not affected.
@Suite struct HostileHttp2Tests {
    private static let reset: UInt8 = 3
    private static let goAway: UInt8 = 7
    private static let endStream: UInt8 = 1
    private static let endHeaders: UInt8 = 4

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = [16, 8, 0].map { UInt8(truncatingIfNeeded: payload.count >> $0) }
        bytes += [type, flags]
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: stream >> $0) }
        return bytes + payload
    }

    /// Literal fields that no table keeps (RFC 7541 §6.2.2); names and values below 127 bytes.
    static func fields(_ list: [(String, String)]) -> [UInt8] {
        var block: [UInt8] = []
        for (name, value) in list {
            block += [0, UInt8(name.utf8.count)]
            block += Array(name.utf8)
            block.append(UInt8(value.utf8.count))
            block += Array(value.utf8)
        }
        return block
    }

    static func request(_ method: String, _ path: String, _ more: [(String, String)] = []) -> [UInt8] {
        fields([(":method", method), (":scheme", "https"), (":authority", "tv.example"), (":path", path)] + more)
    }

    static func headers(_ stream: UInt32, _ block: [UInt8], ends: Bool = true) -> [UInt8] {
        frame(1, flags: endHeaders | (ends ? endStream : 0), stream: stream, block)
    }

    static let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4) + frame(4, flags: 1)

    /// Frames that the server has sent: type, flags, stream, payload.
    static func frames(_ bytes: [UInt8]) -> [(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8])] {
        var found: [(UInt8, UInt8, UInt32, [UInt8])] = []
        var rest = bytes[...]
        while rest.count >= 9 {
            let head = Array(rest.prefix(9))
            let length = head[0..<3].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 9 + length else { break }
            let stream = head[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            found.append((head[3], head[4], stream, Array(rest.dropFirst(9).prefix(length))))
            rest = rest.dropFirst(9 + length)
        }
        return found
    }

    static func ended(_ connection: RawConnection) -> Bool {
        connection.isClosed || frames(connection.bytes).contains { $0.type == goAway }
    }

    /// Sends invalid bytes and checks that others are served meanwhile and afterwards.
    private func attack(body: Duration = .seconds(60), _ work: @escaping @Sendable (RawConnection) async throws -> Void) async throws {
        // A busy machine must not end connections.
        try await HttpsTests.serving(body: body) { port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(Self.greeting)
                try await work(connection)
                try await HttpsTests.expectService(port, files)
            }
        }
    }

    @Test func anOrdinaryRequestIsServed() async throws {
        try await attack { connection in
            await connection.send(Self.headers(1, Self.request("GET", "/healthz")))
            try await connection.wait(for: "the answer") {
                Self.frames($0.bytes).contains { $0.type == 0 && $0.stream == 1 && $0.payload == Array("ok\n".utf8) }
            }
        }
    }

    @Test("the streams of a connection wait for their turn, and none is refused where other connections would be")
    func streamsOfOneConnectionAreServed() async throws {
        try await HttpsTests.serving(
            overload: OverloadTests.strict, prepare: { OverloadTests.keepBusy($0, for: .milliseconds(2)) }
        ) {
            port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                let request = Self.request(
                    "GET", "/api/v1/checkauthn?requestor=ACME1&deviceId=d",
                    [("authorization", "Bearer good"), ("accept", "application/json"), ("x-device-info", "eyJtb2RlbCI6IlRWIn0=")])
                await connection.send(Self.greeting + (0..<50).flatMap { Self.headers($0 * 2 + 1, request) })
                try await connection.wait(for: "50 answers") { connection in
                    Set(Self.frames(connection.bytes).filter { $0.stream > 0 && $0.flags & Self.endStream != 0 }.map(\.stream)).count == 50
                }
                #expect(!connection.text.contains("temporarily unavailable"))
            }
        }
    }

    @Test("a flood of requests that are taken back at once ends the connection (CVE-2023-44487)")
    func rapidReset() async throws {
        try await attack { connection in
            var stream: UInt32 = 1
            while stream < 40_000, !Self.ended(connection) {
                let pair = Self.headers(stream, Self.request("GET", "/healthz")) + Self.frame(Self.reset, stream: stream, [0, 0, 0, 8])
                guard await connection.send(pair) else { break }
                stream += 2
            }
            #expect(stream < 40_000)
            try await connection.wait(for: "the end") { Self.ended($0) }
        }
    }

    @Test("a head that never ends is not collected (CVE-2024-27316)")
    func continuationFlood() async throws {
        try await attack { connection in
            await connection.send(Self.frame(1, flags: 0, stream: 1, Self.request("GET", "/healthz")))
            var count = 0
            while count < 5000, !Self.ended(connection), await connection.send(Self.frame(9, stream: 1, Self.fields([("x-\(count)", "y")]))) {
                count += 1
            }
            #expect(count < 5000)
            try await connection.wait(for: "the end") { Self.ended($0) }
        }
    }

    @Test func moreStreamsThanAllowedAreRefused() async throws {
        try await attack { connection in
            let request = Self.request("POST", "/o/client/token", [("content-length", "9")])
            var opened: [UInt8] = []
            for number: UInt32 in 0..<400 { opened += Self.headers(number * 2 + 1, request, ends: false) }
            await connection.send(opened)
            try await connection.wait(for: "refusals") { Self.ended($0) || Self.frames($0.bytes).contains { $0.type == Self.reset } }
        }
    }

    @Test func largeHeadsEndTheStreamOrTheConnection() async throws {
        try await attack { connection in
            let bomb = (0..<300).map { ("x-\($0)", String(repeating: "z", count: 100)) }
            let block = Self.request("GET", "/healthz", bomb)
            await connection.send(Self.frame(1, flags: Self.endStream, stream: 1, Array(block.prefix(16_000))))
            await connection.send(Self.frame(9, stream: 1, Array(block.dropFirst(16_000).prefix(16_000))))
            await connection.send(Self.frame(9, flags: Self.endHeaders, stream: 1, Array(block.dropFirst(32_000))))
            try await connection.wait(for: "the refusal") { Self.ended($0) || Self.frames($0.bytes).contains { $0.stream == 1 } }
            #expect(!connection.text.contains("ok\n"))
        }
    }

    @Test func aBodyThatIsTooLargeIsRefusedWithoutReadingItAll() async throws {
        try await attack { connection in
            await connection.send(Self.headers(1, Self.request("POST", "/o/client/token", [("content-length", "10485760")]), ends: false))
            try await connection.wait(for: "the refusal") { Self.frames($0.bytes).contains { $0.stream == 1 && $0.type == 0 } }
            #expect(connection.text.contains("invalid_request"))
            try await connection.wait(for: "the end of the stream") { Self.frames($0.bytes).contains { $0.stream == 1 && $0.type == Self.reset } }
        }
    }

    @Test func aBodyThatDoesNotComeIs408() async throws {
        try await attack(body: .milliseconds(300)) { connection in
            await connection.send(Self.headers(1, Self.request("POST", "/o/client/token", [("content-length", "9")]), ends: false))
            try await connection.wait(for: "the refusal") { Self.frames($0.bytes).contains { $0.stream == 1 && $0.type == 0 } }
            #expect(connection.text.contains("invalid_request"))
        }
    }

    @Test(
        "frames and fields that break the rules end the connection or the stream",
        arguments: [
            frame(0, stream: 0, [1]), frame(1, flags: 5, stream: 2, request("GET", "/healthz")), frame(8, stream: 0, [0, 0, 0, 0]),
            frame(9, stream: 1, [1]), frame(6, [1, 2, 3]), frame(4, [0, 2, 0]), frame(1, flags: 5, stream: 1, [0xff, 0xff, 0xff, 0xff, 0xff]),
            frame(1, flags: 5, stream: 1, fields([(":method", "GET")])), headers(1, request("GET", "/healthz", [("Upper", "x")])),
            headers(1, request("GET", "/healthz", [("connection", "close")])), headers(1, request("GET", "/healthz", [("a b", "c")])),
            headers(1, request("GET", "/healthz", [("x", "a\r\nb: c")])), headers(1, request("GET", "/healthz", [("content-length", "-1")])),
            headers(1, request("GET", "/healthz", [(":path", "/activate")])),
            headers(1, request("GET", "/healthz", [("transfer-encoding", "chunked")])),
            [UInt8](repeating: 0xaa, count: 4096),
        ])
    func violations(bytes: [UInt8]) async throws {
        try await attack { connection in
            await connection.send(bytes)
            try await connection.wait(for: "the end of it") { Self.ended($0) || Self.frames($0.bytes).contains { $0.stream == 1 } }
            #expect(!connection.text.contains("ok\n"))
        }
    }

    @Test(
        "frames that bring nothing end the connection (RFC 9113 §10.5)",
        arguments: [
            ("window", frame(8, stream: 0, [0, 0, 0, 1])),
            ("settings", frame(4, stream: 0, [0, 4, 0, 0, 0xff, 0xff])), ("priority", frame(2, stream: 1, [0, 0, 0, 0, 1])),
        ])
    func uselessFrames(name: String, useless: [UInt8]) async throws {
        try await HttpsTests.serving { port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(Self.greeting)
                for _ in 0..<30 where !connection.isClosed { await connection.send(Array(repeatElement(useless, count: 100).joined())) }
                try await connection.wait(for: "the end of a \(name) flood") { $0.isClosed }
                let goodbyes = Self.frames(connection.bytes).filter { $0.type == 7 }
                #expect(
                    goodbyes.contains { Array($0.payload.dropFirst(4).prefix(4)) == [0, 0, 0, 0xb] }, "ENHANCE_YOUR_CALM, not \(connection.bytes)")
            }
        }
    }

    @Test("a client that asks for something may send such frames too, cut wherever the network likes")
    func usefulFrames() async throws {
        try await HttpsTests.serving { port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(Self.greeting)
                let windows = Array(repeatElement(Self.frame(8, stream: 0, [0, 0, 0, 1]), count: 40).joined())
                for number in 0..<100 {
                    let stream = UInt32(1 + 2 * number)
                    let all = windows + Self.headers(stream, Self.request("GET", "/healthz", []), ends: true)
                    await connection.send(Array(all.prefix(7)))
                    await connection.send(Array(all.dropFirst(7)))
                    try await connection.wait(for: "answer \(number)") { connection in
                        Self.frames(connection.bytes).contains { $0.type == 1 && $0.stream == stream }
                    }
                }
                #expect(!connection.isClosed)
            }
        }
    }

    @Test("of frames that bring nothing 1999 are taken, and with the next the budget is used up")
    func wholeBudget() throws {
        func takes(_ count: Int) throws -> Bool {
            // A second gives some back: only a try that was quicker counts.
            while true {
                let start = NIODeadline.now()
                let channel = EmbeddedChannel(handler: Http2FrameBudget())
                defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
                let pings = Array(repeatElement(Self.frame(6, Array(repeating: 0, count: 8)), count: count).joined())
                try channel.writeInbound(ByteBuffer(bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + pings))
                let isTaken = try channel.readInbound(as: ByteBuffer.self) != nil
                if NIODeadline.now() - start < .seconds(1) { return isTaken }
            }
        }
        #expect(try takes(Http2FrameBudget.most - 1) && !takes(Http2FrameBudget.most))
    }

    @Test("who reads answers may move its windows for each part of them, as proxies do")
    func windowsOfReaders() {
        let answers = 20
        let octets = 300_000
        let channel = EmbeddedChannel(handler: Http2FrameBudget())
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        _ = try? channel.writeInbound(ByteBuffer(bytes: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)))
        var moved = 0
        for number in 0..<answers {
            let stream = UInt32(1 + 2 * number)
            _ = try? channel.writeInbound(ByteBuffer(bytes: Self.headers(stream, Self.request("GET", "/openapi.json"))))
            _ = try? channel.writeOutbound(ByteBuffer(repeating: 0, count: octets))
            // For each KiB both windows.
            for _ in 0..<octets / 1024 {
                let step = Self.frame(8, stream: 0, [0, 0, 4, 0]) + Self.frame(8, stream: stream, [0, 0, 4, 0])
                _ = try? channel.writeInbound(ByteBuffer(bytes: step))
                if (try? channel.readInbound(as: ByteBuffer.self)) != nil { moved += 1 }
            }
        }
        #expect(moved >= answers * (octets / 1024), "every frame is handed on")
    }

    @Test("a body without content-length counts (RFC 9113 §8.1)")
    func bodiesWithoutLength() async throws {
        try await HttpsTests.serving { port, files, _ in
            try await RawConnection.with(port, tls: try files.client(["h2"])) { connection in
                await connection.send(Self.greeting)
                let block = Self.request("POST", "/o/client/token", [("content-type", "application/x-www-form-urlencoded")])
                await connection.send(Self.headers(1, block, ends: false) + Self.frame(0, stream: 1, Array("grant_type=client_".utf8)))
                await connection.send(Self.frame(0, flags: Self.endStream, stream: 1, Array("credentials&client_id=c&client_secret=s".utf8)))
                try await connection.wait(for: "an answer") { Self.frames($0.bytes).contains { $0.type == 1 && $0.stream == 1 } }
                try await connection.wait(for: "its body") { Self.frames($0.bytes).contains { $0.type == 0 && $0.stream == 1 } }
                let body = Self.frames(connection.bytes).filter { $0.type == 0 && $0.stream == 1 }.flatMap(\.payload)
                #expect(String(decoding: body, as: UTF8.self).contains("access_token"), "the form was read")
            }
        }
    }
}
