@testable import GatewayEdge
internal import Contracts
internal import EventLoops
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTesting
internal import NIOCore
internal import NIOEmbedded
internal import NIOPosix
internal import Synchronization
internal import Testing

/// The limits on connections of unknown callers.
@Suite struct StrangersConnectionTests {
    private static let host = "Host: tv.example\r\n"
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
            connections.markBusy(place)
            places.append(place)
        }
        #expect(places.count == 30, "two of 32 are kept for others")
        let newcomer = connections.enter(Self.address(2), close: {})
        connections.markBusy(try #require(newcomer, "a newcomer finds a place"))
        #expect(connections.enter(Self.address(1), close: {}) == nil)
        connections.markIdle(places[7])
        connections.markIdle(places[3])
        #expect(connections.enter(Self.address(1), close: {}) != nil)
        #expect(closed.withLock { $0 } == [7], "the one that has been idle for longest")
    }
}

/// The limits of what clients make the gateway hold.
@Suite struct HeldOctetsTests {
    @Test("all hold 256 MiB at most: the connection that holds most is closed")
    func inAll() {
        let answers = HeldOctets()
        let closed = Mutex<[UInt64]>([])
        func keep(_ octets: Int, _ number: UInt64) { answers.keep(octets, of: number) { closed.withLock { $0.append(number) } } }
        for number in 1...8 as ClosedRange<UInt64> { keep(Int(number) << 20, number) }
        #expect(answers.total == 36 << 20)
        keep(220 << 20, 3)
        #expect(closed.withLock { $0 } == [], "256 MiB are held")
        keep(1, 5)
        #expect(closed.withLock { $0 } == [3], "the one with most")
        #expect(answers.total == (33 << 20) + 1, "what it held counts no more")
        answers.leave(3)
        answers.letGo(1 << 20, of: 3)
        answers.letGo(2 << 20, of: 2)
        answers.leave(8)
        #expect(answers.total == (23 << 20) + 1)
    }

    @Test("bodies count among what all hold until their requests are answered, and do not keep requests waiting")
    func bodies() throws {
        let held = HeldOctets(most: 100_000)
        let connections = OpenConnections(ConnectionLimits(), unsent: held)
        let closed = Mutex(0)
        let entered = connections.enter(IPAddress("203.0.113.1"), close: { closed.withLock { $0 += 1 } })
        let place = try #require(entered)
        let connection = ConnectionGuard(ConnectionLimits(), place: place, among: connections, bytesBeginRequests: false)
        connection.receive(60_000)
        connection.forget(60_000)
        #expect(held.total == 0)
        connection.receive(60_000)
        #expect(connection.keep(30_000) && held.total == 90_000 && closed.withLock { $0 } == 0)
        connection.receive(20_000)
        #expect(held.total == 0 && closed.withLock { $0 } == 1, "the one that holds most is closed")
    }

    @Test("a connection of HTTP/2 holds 32 MiB at most, and one answer of any length")
    func ofOne() throws {
        let connections = OpenConnections(ConnectionLimits())
        let entered = connections.enter(IPAddress("203.0.113.1"), close: {})
        let place = try #require(entered)
        let connection = ConnectionGuard(ConnectionLimits(), place: place, among: connections, bytesBeginRequests: false)
        #expect(connection.keep(40 << 20))
        #expect(!connection.keep(1))
        connection.letGo(40 << 20)
        #expect(connection.keep(16 << 20) && connection.keep(16 << 20) && !connection.keep(1))
    }

    @Test("a connection is idle when the last of its requests has ended, and may be so for its time")
    func idleAfterAll() {
        let connections = OpenConnections(ConnectionLimits(maximum: 32, perAddress: 100))
        var places: [OpenConnections.Place] = []
        while let place = connections.enter(IPAddress("203.0.113.1"), close: {}) {
            connections.markBusy(place)
            places.append(place)
        }
        let connection = ConnectionGuard(ConnectionLimits(), place: places[0], among: connections, bytesBeginRequests: false)
        for _ in 0..<2 { connection.requestBegan() }
        connection.requestEnded()
        #expect(connections.enter(IPAddress("203.0.113.1"), close: {}) == nil, "one of two has ended")
        connection.requestEnded()
        #expect(connections.enter(IPAddress("203.0.113.1"), close: {}) != nil)

        var times = ConnectionTimes(ConnectionLimits(idle: .seconds(60)), now: .uptimeNanoseconds(0))
        times.requestBegan()
        #expect(times.deadline == nil)
        times.requestEnded(at: .uptimeNanoseconds(5))
        #expect(times.deadline == .uptimeNanoseconds(5) + .seconds(60))
    }

    @Test("a connection on which no head has come in time is closed")
    func headInTime() throws {
        let (limits, connections) = (ConnectionLimits(head: .zero), OpenConnections(ConnectionLimits()))
        let entered = connections.enter(IPAddress("203.0.113.1"), close: {})
        let place = try #require(entered)
        let channel = EmbeddedChannel(handler: ConnectionGuard(limits, place: place, among: connections, bytesBeginRequests: true))
        let isClosed = Mutex(false)
        channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
        channel.embeddedEventLoop.advanceTime(to: .now() + .seconds(1))
        #expect(isClosed.withLock { $0 })
    }

    @Test("what comes on a stream after the last answer is not handed on")
    func afterTheLastAnswer() throws {
        let channel = EmbeddedChannel(handler: RequestGuard(isStream: true, bodyTime: .seconds(60)))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.writeInbound(RequestPart.head(HTTPRequest(method: .post, scheme: "https", authority: "a", path: "/")))
        try channel.writeInbound(RequestPart.body(ByteBuffer(string: "a")))
        for _ in 0..<2 { #expect(try channel.readInbound(as: RequestPart.self) != nil) }
        try channel.writeOutbound(ResponsePart.head(HTTPResponse(status: .contentTooLarge, headerFields: [.connection: "close"])))
        try channel.writeOutbound(ResponsePart.end(nil))
        try channel.writeInbound(RequestPart.body(ByteBuffer(string: "b")))
        #expect(try channel.readInbound(as: RequestPart.self) == nil)
    }

    private final class Taken: Sendable {
        let count = Mutex(0)
    }

    @Test("while a connection of HTTP/2 holds more than 1 MiB, its next requests wait")
    func requestsWait() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let turns = StreamTurns(LoopAdmission(loop, TestGateway.patient), eventLoop: loop)
        let taken = Taken()
        func take() {
            Task(executorPreference: EventLoopExecutor(loop)) { if await turns.take() != nil { taken.count.withLock { $0 += 1 } } }
        }
        take()
        try await Eventually.holds("the first") { taken.count.withLock { $0 } == 1 }
        try await loop.submit { turns.unsent = 1 << 20 }.get()
        take()
        try await Eventually.holds("one more") { taken.count.withLock { $0 } == 2 }
        try await loop.submit { turns.unsent += 1 }.get()
        for _ in 0..<5 { take() }
        for _ in 0..<20 { try await loop.submit {}.get() }
        #expect(taken.count.withLock { $0 } == 2)
        try await loop.submit { turns.unsent -= 1 }.get()
        try await Eventually.holds("all") { taken.count.withLock { $0 } == 7 }
        try await loop.submit { turns.unsent = 2 << 20 }.get()
        take()
        try await loop.submit { turns.end() }.get()
        #expect(taken.count.withLock { $0 } == 7, "none begins when the connection is over")
    }
}
