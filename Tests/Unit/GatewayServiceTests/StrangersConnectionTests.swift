@testable import GatewayService
internal import Contracts
internal import Hummingbird
internal import HummingbirdTesting
internal import Synchronization
internal import Testing

/// The limits on connections of unknown callers, and protocol upgrades that some HTTP clients offer by default.
@Suite struct StrangersConnectionTests {
    private static let host = "Host: tv.example\r\n"
    private static let offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"

    @Test("an offer to upgrade is ignored, and the connection goes on (RFC 9110 §7.8)", arguments: [1, 5])
    func ignoresUpgrades(atOnce: Int) async throws {
        try await TestGateway().exchange(over: .live) { client in
            let port = try #require(client.port)
            try await RawConnection.with(port) { connection in
                let request = "GET /healthz HTTP/1.1\r\n\(Self.host)\(Self.offer)\r\n"
                for round in 1...3 {
                    await connection.send(String(repeating: request, count: atOnce))
                    try await connection.wait(for: "each answer of round \(round)") { $0.statuses.count == round * atOnce }
                }
                await connection.send("POST /o/client/register HTTP/1.1\r\n\(Self.host)\(Self.offer)Content-Length: 2\r\n\r\n{}")
                await connection.send("GET /healthz HTTP/1.1\r\n\(Self.host)\r\n")
                try await connection.wait(for: "the answers behind a body") { $0.statuses.count == 3 * atOnce + 2 }
                #expect(connection.statuses.dropLast(2).allSatisfy { $0 == 200 } && connection.statuses.last == 200)
            }
        }
    }

    @Test("heads of more than 16 KiB are refused, however they are made up", arguments: [15, 17])
    func longHeads(kibibytes: Int) async throws {
        let text = String(repeating: "x", count: kibibytes * 1024)
        for request in [
            "GET /healthz?\(text) HTTP/1.1\r\n\(Self.host)\r\n", "GET /healthz HTTP/1.1\r\n\(Self.host)X-Long: \(text)\r\n\r\n",
            "GET /healthz HTTP/1.1\r\n\(Self.host)"
                + (0..<20).map { "X-\($0): \(text.prefix(kibibytes * 1024 / 20))\r\n" }.joined() + "\r\n",
        ] {
            try await TestGateway().exchange(over: .live) { client in
                try await RawConnection.with(try #require(client.port)) { connection in
                    await connection.send(request)
                    try await connection.wait(for: "an answer") { !$0.statuses.isEmpty || $0.isClosed }
                    #expect(connection.statuses.first == (kibibytes < 16 ? 200 : 431), "\(request.prefix(30))")
                }
            }
        }
    }

    @Test("of a User-Agent a kibibyte is kept and searched")
    func longUserAgents() async throws {
        let gateway = TestGateway()
        var headers = TestGateway.device
        headers[.userAgent] = String(repeating: "x", count: 12_000) + "Roku"
        #expect(try await gateway.send(.get, "/api/v1/checkauthn?\(TestGateway.deviceQuery)", headers).status == 200)
        let call = try #require(gateway.authentication.getSession.requests.first?.call)
        #expect(call.userAgent.utf8.count == 1024)
    }

    private static func address(_ number: Int) -> IPAddress? { IPAddress("203.0.113.\(number)") }

    @Test("an address has so many connections, a backend more, a trusted proxy any number")
    func limitsByAddress() {
        let backends = ["203.0.113.2"].compactMap(AddressRange.init)
        let connections = OpenConnections(
            ConnectionLimits(maximum: 1000, perAddress: 3, perBackend: 5, backends: backends), trusted: ["203.0.113.3"].compactMap(AddressRange.init))
        func entered(_ number: Int) -> Int { (0..<100).count { _ in connections.enter(Self.address(number), close: {}) != nil } }
        #expect(entered(1) == 3 && entered(2) == 5 && entered(3) == 100)
        let place = connections.enter(Self.address(4), close: {})
        #expect(entered(4) == 2)
        if let place { connections.leave(place) }
        #expect(entered(4) == 1, "who leaves makes room")
    }

    @Test("when all places are taken, idle ones go, and addresses without a connection come first")
    func idleOnesGo() throws {
        let connections = OpenConnections(ConnectionLimits(maximum: 32, perAddress: 100))
        let closed = Mutex<[Int]>([])
        var places: [OpenConnections.Place] = []
        for number in 0..<40 {
            guard let place = connections.enter(Self.address(1), close: { closed.withLock { $0.append(number) } }) else { continue }
            connections.isBusy(place)
            places.append(place)
        }
        #expect(places.count == 30, "two of 32 are kept for others")
        let newcomer = connections.enter(Self.address(2), close: {})
        connections.isBusy(try #require(newcomer, "a newcomer finds a place"))
        #expect(connections.enter(Self.address(1), close: {}) == nil)
        connections.isIdle(places[7])
        connections.isIdle(places[3])
        #expect(connections.enter(Self.address(1), close: {}) != nil)
        #expect(closed.withLock { $0 } == [7], "the one that has been idle for longest")
    }
}
