internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import HummingbirdTesting
internal import Synchronization
internal import Testing

/// Clients that break the rules of HTTP/1.1, by mistake or on purpose: a 4xx or a clean end, and no effect on other clients.
@Suite struct HostileHttp1Tests {
    private static let host = "Host: tv.example\r\n"
    private static let get = "GET /healthz HTTP/1.1\r\n\(host)\r\n"

    /// Limits are small, so that tests need not wait long.
    private static func gateway(maximum: Int = 100, head: Duration = .seconds(1), body: Duration = .milliseconds(300)) -> TestGateway {
        TestGateway(connections: ConnectionLimits(maximum: maximum, head: head, idle: .seconds(60)), bodyTimeout: body)
    }

    /// Does something bad to a gateway and checks that it still serves others.
    private func attack(
        _ gateway: TestGateway = gateway(head: .seconds(30), body: .seconds(30)), _ work: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await gateway.exchange(over: .live) { client in
            let port = try #require(client.port)
            try await work(port)
            try await Self.expectService(port)
        }
    }

    private static func expectService(_ port: Int) async throws {
        // A connection that a test has closed may count for a moment more.
        for attempt in 0..<50 {
            let isServed = try await RawConnection.with(port) { connection in
                await connection.send(get)
                try await connection.wait(for: "service to others") { $0.statuses == [200] || $0.isClosed }
                return connection.statuses == [200]
            }
            if isServed { return }
            try #require(attempt < 49, "others are not served")
        }
    }

    private func expect(_ request: String, is statuses: Set<Int>, closes: Bool = true) async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send(request)
                try await connection.wait(for: "an answer to \(request.prefix(60))") { !$0.statuses.isEmpty || $0.isClosed }
                if let status = connection.statuses.first { #expect(statuses.contains(status), "\(status) to \(request.prefix(60))") }
                #expect(!statuses.isEmpty || connection.statuses.isEmpty)
                if closes { try await connection.wait(for: "the end") { $0.isClosed } }
                #expect(connection.statuses.count <= 1, "only one answer: \(connection.text)")
                #expect(!connection.text.contains("Swift") && !connection.text.contains("/Services/"))
            }
        }
    }

    @Test(
        "heads that are too large are 431",
        arguments: [
            "X-Bomb: \(String(repeating: "x", count: 100_000))\r\n", String(repeating: "X-Many: y\r\n", count: 500),
            (0..<90).map { "X-\($0): \(String(repeating: "z", count: 1000))\r\n" }.joined(),
            "Cookie: \(String(repeating: "a=b;", count: 20_000))\r\n",
        ])
    func headerBombs(fields: String) async throws {
        try await expect("GET /healthz HTTP/1.1\r\n\(Self.host)\(fields)\r\n", is: [431])
    }

    @Test(
        "what is not HTTP is 400",
        arguments: [
            "GET /healthz HTTP/1.1\r\nNo colon\r\n\r\n", "GET /healthz HTTP/9.9\r\n\(host)\r\n",
            "GET /heal\0thz HTTP/1.1\r\n\(host)\r\n", "GET /healthz HTTP/1.1\r\n\(host)X-Nul: a\0b\r\n\r\n", "GET / a HTTP/1.1\r\n\(host)\r\n",
            "GET /healthz HTTP/1.1\r\n\(host) folded: x\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "GET /healthz HTTP/1.1\nHost : x\n\n",
        ])
    func garbage(request: String) async throws {
        try await expect(request, is: [400])
    }

    @Test(
        "a method that nobody knows is 501, and so is what begins with none",
        arguments: ["hello\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}", "FETCH / HTTP/1.1\r\n\r\n"])
    func unknownMethods(request: String) async throws {
        try await expect(request, is: [501])
    }

    @Test(
        "codings of a message: HTTP/1.0 has none, and one is known (RFC 9112 §6.1)",
        arguments: [
            ("HTTP/1.0", "chunked", 400), ("HTTP/1.1", "gzip, chunked", 501), ("HTTP/1.1", "gzip,\tchunked", 501),
            ("HTTP/1.1", "chunked, chunked", 400),
        ])
    func codings(version: String, coding: String, status: Int) async throws {
        let hidden = "0\r\n\r\nGET /activate HTTP/1.1\r\n\(Self.host)\r\n"
        try await expect("POST /o/client/token \(version)\r\n\(Self.host)Transfer-Encoding: \(coding)\r\n\r\n\(hidden)", is: [status])
    }

    @Test(
        "a host that can be read in two ways is 400 (RFC 9110 §7.2)",
        arguments: ["a, b", "a/b", "u@a", "a b", "a:80:80", "a:x", "[::1", "a?b", "a#b", "a\\b", "[::1]x", "é"])
    func hosts(host: String) async throws {
        try await expect("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n", is: [400])
    }

    @Test(arguments: ["a", "a.example:8080", "[::1]:80", "127.0.0.1", "", "a_b", "xn--bcher-kva.example", "a:"])
    func plainHosts(host: String) async throws {
        try await expect("GET /healthz HTTP/1.1\r\nHost: \(host)\r\n\r\n", is: [200], closes: false)
    }

    @Test(
        "a request that two servers could cut differently is refused, and what it hides is not served",
        arguments: [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 40\r\n",
            "Content-Length: 5\r\nContent-Length: 40\r\n", "Content-Length: 5, 40\r\n", "Content-Length: +5\r\n", "Content-Length: -1\r\n",
            "Content-Length: 0x5\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n",
            "Content-Length: 99999999999999999999999\r\n",
        ])
    func smuggling(fields: String) async throws {
        let hidden = "0\r\n\r\nGET /activate HTTP/1.1\r\n\(Self.host)\r\n"
        try await expect("POST /o/client/token HTTP/1.1\r\n\(Self.host)\(fields)\r\n\(hidden)", is: [400])
    }

    @Test func chunksThatLieAreRefused() async throws {
        let head = "POST /o/client/token HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n"
        try await expect(head + "zz\r\nhello\r\n", is: [400])
        try await expect(head + "5\r\nhelloXX\r\n0\r\n\r\n", is: [400])
        try await expect(head + "FFFFFFFFFFFFFFFFFF\r\nhello\r\n", is: [400])
    }

    @Test func veryLongPathsAreRefused() async throws {
        try await expect("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\n\(Self.host)\r\n", is: [414, 431])
        try await expect("GET /\(String(repeating: "a", count: 8000)) HTTP/1.1\r\n\(Self.host)\r\n", is: [404], closes: false)
    }

    @Test(arguments: ["http://tv.example/healthz", "HTTP://tv.example/healthz", "https://other.example:99/healthz?x=1"])
    func absoluteTargetsAreServed(target: String) async throws {
        try await expect("GET \(target) HTTP/1.1\r\n\(Self.host)\r\n", is: [200], closes: false)
    }

    @Test(arguments: ["OPTIONS *", "GET //healthz", "GET /../../etc/passwd", "GET ?x", "GET http://", "TRACE /healthz"])
    func oddTargetsAreNoFaults(line: String) async throws {
        try await expect("\(line) HTTP/1.1\r\n\(Self.host)\r\n", is: [200, 204, 400, 404, 405], closes: false)
    }

    @Test func oldClientsGetTheirAnswerAndItsEnd() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send("GET /healthz HTTP/1.0\r\n\r\n")
                let status = try await connection.lastAnswer()
                #expect(status == 200)
                #expect(connection.text.lowercased().contains("connection: close"))
            }
            try await RawConnection.with(port) { connection in
                for count in 1...2 {
                    await connection.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    try await connection.wait(for: "answer \(count)") { $0.statuses.count == count }
                }
                #expect(connection.text.lowercased().contains("connection: keep-alive"))
            }
            try await RawConnection.with(port) { connection in
                await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)Connection: Close, x\r\n\r\n")
                let status = try await connection.lastAnswer()
                #expect(status == 200)
            }
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                let paths = (0..<40).map { $0 % 2 == 0 ? "/healthz" : "/nowhere" }
                await connection.send(paths.map { "GET \($0) HTTP/1.1\r\n\(Self.host)\r\n" }.joined())
                try await connection.wait(for: "all answers") { $0.statuses.count == 40 }
                #expect(connection.statuses == paths.map { $0 == "/healthz" ? 200 : 404 })
            }
        }
    }

    @Test func whatIsNoHttpBehindRequestsThatWaitIsRefusedAfterThem() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                // In one read, and more than a round takes up of one connection.
                let ahead = 24
                await connection.send(String(repeating: "GET /openapi.json HTTP/1.1\r\n\(Self.host)\r\n", count: ahead) + "GET /healthz\r\n\r\n")
                try await connection.wait(for: "the end") { $0.isClosed }
                #expect(connection.statuses == Array(repeating: 200, count: ahead) + [400])
            }
        }
    }

    @Test func whoeverAsksAheadAndReadsNothingIsNotServedWithoutEnd() async throws {
        try await attack { port in
            let request = "GET /openapi.json HTTP/1.1\r\n\(Self.host)X-Padding: \(String(repeating: "x", count: 8000))\r\n\r\n"
            let client = try DeafClient(port)
            defer { client.close() }
            // 80 MB of requests would bring half a gigabyte of answers.
            var sent = 0
            while sent < 80_000_000, let count = try await client.send(Array(request.utf8), within: .seconds(1)) { sent += count }
            #expect(sent < 80_000_000, "the gateway stops reading")
        }
    }

    @Test("of what is sent behind a request under way, 64 KiB wait, and no more is read")
    func whatWaitsIsBounded() async throws {
        let gateway = Self.gateway(head: .seconds(30), body: .seconds(30))
        let isOver = Gate()
        gateway.authentication.getSession.answer { _, _ in
            while !isOver.isOpen { try await Task.sleep(for: .milliseconds(5)) }
            throw Fault(.authenticationSessionMissing, "none")
        }
        try await gateway.exchange(over: .live) { client in
            let deaf = try DeafClient(try #require(client.port))
            defer { deaf.close() }
            let first =
                "GET /api/v1/checkauthn?\(TestGateway.deviceQuery) HTTP/1.1\r\n\(Self.host)Authorization: Bearer good\r\n"
                + "X-Device-Info: \(TestGateway.deviceInformation)\r\n\r\n"
            let second = "POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 100000000\r\n\r\n"
            _ = try await deaf.send(Array((first + second).utf8), within: .seconds(5))
            let flood = [UInt8](repeating: 0x61, count: 1 << 20)
            var sent = 0
            while sent < 100 << 20, let count = try await deaf.send(flood, within: .milliseconds(300)) { sent += count }
            #expect(sent < 50 << 20, "the rest stays with the client: \(sent)")
            isOver.open()
        }
    }

    private final class Gate: Sendable {
        private let state = Mutex(false)
        var isOpen: Bool { state.withLock { $0 } }
        func open() { state.withLock { $0 = true } }
    }

    @Test func aSlowReaderThatSendsNoMoreGetsItsAnswersWhole() async throws {
        try await attack { port in
            let client = try DeafClient(port, receiveBuffer: 32_768)
            defer { client.close() }
            let request = "GET /openapi.json HTTP/1.1\r\n\(Self.host)\r\n"
            let sent = try await client.send(Array(String(repeating: request, count: 24).utf8), within: .seconds(30))
            #expect(sent == request.utf8.count * 24)
            client.closeOutput()
            let received = try #require(try await client.readToEnd(within: .seconds(60)), "the gateway ends the connection in its own time")
            let text = String(decoding: received, as: UTF8.self)
            let answers = text.components(separatedBy: "HTTP/1.1 200 OK\r\n").dropFirst().map { $0.components(separatedBy: "\r\n\r\n") }
            #expect(answers.count == 24)
            #expect(Set(answers.map { $0.dropFirst().joined().utf8.count }).count == 1, "none is cut off")
        }
    }

    @Test func aResetWhileABodyArrivesHarmsNobody() async throws {
        try await attack { port in
            for _ in 0..<20 {
                let client = try DeafClient(port)
                let head = "POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 5000\r\n\r\n"
                _ = try await client.send(Array((head + String(repeating: "a", count: 2000)).utf8), within: .seconds(5))
                client.reset()
            }
        }
    }

    @Test func aBodyThatIsTooLargeIsRefusedBeforeItIsSent() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 10485760\r\n\r\n")
                try await connection.wait(for: "the refusal") { $0.statuses == [413] }
                let status = try await connection.lastAnswer()
                #expect(status == 413, "the connection ends without the body")
                #expect(connection.text.contains("invalid_request"))
            }
        }
    }

    @Test func aBodyWithoutALengthIsRefusedAtTheLimit() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n")
                let chunk = "10000\r\n\(String(repeating: "x", count: 65536))\r\n"
                var sent = 0
                while sent < 160, !connection.isClosed, await connection.send(chunk) { sent += 1 }
                let status = try await connection.lastAnswer()
                #expect(status == 413)
                #expect(sent < 160, "the rest was not taken")
            }
        }
    }

    @Test func aBodyThatNobodyWantsIsNotReadForEver() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)Transfer-Encoding: chunked\r\n\r\n")
                let chunk = "1000\r\n\(String(repeating: "x", count: 4096))\r\n"
                var sent = 0
                while sent < 5000, !connection.isClosed, await connection.send(chunk) { sent += 1 }
                #expect(sent < 5000, "20 MB are not read")
            }
        }
    }

    @Test func slowBodiesAre408() async throws {
        try await attack(Self.gateway(head: .seconds(60))) { port in
            try await RawConnection.with(port) { connection in
                await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 100\r\n\r\ngrant")
                let status = try await connection.lastAnswer()
                #expect(status == 408)
            }
        }
    }

    @Test(.tags(.timing)) func slowHeadsEndTheConnectionWhileOthersAreServed() async throws {
        try await attack(Self.gateway()) { port in
            var slow: [RawConnection] = []
            for _ in 0..<30 {
                let connection = try await RawConnection.open(port)
                await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX-")
                slow.append(connection)
            }
            try await Self.expectService(port)
            for connection in slow {
                // Slowly, or the head becomes too large before it is late.
                while !connection.isClosed, await connection.send("a") { try await Task.sleep(for: .milliseconds(2)) }
                try await connection.wait(for: "the end of a slow head") { $0.isClosed }
                #expect(connection.statuses.isEmpty || connection.statuses == [400])
            }
        }
    }

    @Test(.tags(.timing)) func aSlowSecondHeadEndsTheConnectionToo() async throws {
        try await attack(Self.gateway(head: .seconds(3))) { port in
            try await RawConnection.with(port) { connection in
                await connection.send(Self.get)
                try await connection.wait(for: "the first answer") { $0.statuses == [200] }
                await connection.send("GET /heal")
                // An idle connection would stay for a minute.
                try await connection.wait(for: "the end") { $0.isClosed }
            }
        }
    }

    @Test func connectionsBeyondTheLimitAreClosedAtOnceUnlessAnIdleOneCanGo() async throws {
        try await attack(Self.gateway(maximum: 6, head: .seconds(60), body: .seconds(60))) { port in
            // The sixth is the one of the test itself.
            var open: [RawConnection] = []
            for _ in 0..<6 {
                let connection = try await RawConnection.open(port)
                await connection.send(Self.get)
                try await connection.wait(for: "service") { $0.statuses == [200] }
                // Its next request begins, and does not end.
                await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 10\r\n\r\na")
                open.append(connection)
            }
            try await Task.sleep(for: .milliseconds(200))
            for _ in 0..<20 {
                try await RawConnection.with(port) { connection in
                    try await connection.wait(for: "the refusal") { $0.isClosed }
                    #expect(connection.bytes.isEmpty)
                }
            }
            await open[0].send("=b&c=defg")
            try await open[0].wait(for: "service to who was first") { $0.statuses.count == 2 }
            try await RawConnection.with(port) { connection in
                await connection.send(Self.get)
                try await connection.wait(for: "service") { $0.statuses == [200] }
            }
            try await open[0].wait(for: "the idle one to go") { $0.isClosed }
            for connection in open { await connection.close() }
        }
    }

    @Test func aClientThatClosesItsHalfStillGetsItsAnswer() async throws {
        try await attack { port in
            try await RawConnection.with(port) { connection in
                await connection.send(Self.get)
                await connection.closeOutput()
                let status = try await connection.lastAnswer()
                #expect(status == 200)
            }
            try await RawConnection.with(port) { connection in
                await connection.send("POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Length: 100\r\n\r\ngrant")
                await connection.closeOutput()
                let status = try await connection.lastAnswer()
                #expect(status == nil || status == 400)
            }
            try await RawConnection.with(port) { connection in
                await connection.closeOutput()
                let status = try await connection.lastAnswer()
                #expect(status == nil)
            }
        }
    }

    @Test func textThatIsNotUTF8IsAClientError() async throws {
        let bad: [UInt8] = [0xff, 0xfe, 0xc0, 0x80]
        let heads: [[UInt8]] = [
            Array("GET /api/v1/config/".utf8) + bad + Array(" HTTP/1.1\r\n\(Self.host)\r\n".utf8),
            Array("GET /api/v1/checkauthn?requestor=".utf8) + bad + Array(" HTTP/1.1\r\n\(Self.host)\r\n".utf8),
            Array("GET /api/v1/checkauthn?requestor=ACME1 HTTP/1.1\r\n\(Self.host)X-Device-Info: ".utf8) + bad + Array("\r\n\r\n".utf8),
            Array("GET /api/v1/checkauthn?requestor=ACME1 HTTP/1.1\r\n\(Self.host)Authorization: Bearer ".utf8) + bad + Array("\r\n\r\n".utf8),
            Array(
                "POST /o/client/token HTTP/1.1\r\n\(Self.host)Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 15\r\n\r\nclient_id=a"
                    .utf8)
                + bad,
        ]
        try await attack { port in
            for head in heads {
                try await RawConnection.with(port) { connection in
                    await connection.send(head)
                    try await connection.wait(for: "an answer") { !$0.statuses.isEmpty || $0.isClosed }
                    #expect(connection.statuses.allSatisfy { (400..<500).contains($0) }, "\(connection.text)")
                }
            }
        }
    }
}
