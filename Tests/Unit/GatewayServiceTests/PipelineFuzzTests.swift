@testable import GatewayEdge
internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOEmbedded
internal import Testing

/// Strangers' octets go through the whole pipeline of a connection, from the socket to the routes and back, in one process. The same octets in one
/// segment, octet by octet and cut anywhere are the same requests with the same answers. They end no process, and leave no memory taken.
///
/// `Tests/Fuzz/run` goes on for as long as it is told (`BOXOFFICE_FUZZ_SECONDS`); `BOXOFFICE_FUZZ_SEED` repeats what a run has found.
@Suite struct PipelineFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["BOXOFFICE_FUZZ_SECONDS"].flatMap(Double.init) ?? 1
    private static let firstSeed = environment["BOXOFFICE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1
    private static let mostGrown = 256 << 20

    /// The memory of this process, in which the gateway runs.
    private static func residentOctets() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return 0 }
        let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
        return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
    }

    /// - Parameter work: With one seed after the other.
    private func repeating(_ work: (UInt64) async throws -> Void) async throws {
        let begun = Self.residentOctets()
        let end = ContinuousClock.now + .seconds(Self.seconds)
        var seed = Self.firstSeed
        repeat {
            try await work(seed)
            seed += 1
        } while ContinuousClock.now < end && Self.environment["BOXOFFICE_FUZZ_SEED"] == nil
        // Beside other tests it says nothing.
        guard Self.environment["BOXOFFICE_FUZZ_SECONDS"] != nil else { return }
        let grown = Self.residentOctets() - begun
        #expect(grown < Self.mostGrown, "\(grown) octets more after \(seed - Self.firstSeed) inputs")
    }

    @Test("HTTP/1.1: however octets are cut, the answers are the same")
    func http1() async throws {
        let listener = try TestPipeline.listener()
        try await repeating { seed in
            var random = SplitMix(seed)
            let octets = RequestGrammar.octets(&random)
            let whole = try await TestPipeline.answers(listener, [octets])
            let single = try await TestPipeline.answers(listener, octets.map { [$0] })
            try #require(single == whole, "octet by octet, seed \(seed): \(String(decoding: octets, as: UTF8.self).debugDescription)")
            for _ in 0..<4 where octets.count > 1 {
                let place = Int(random.next() % UInt64(octets.count - 1)) + 1
                let cut = try await TestPipeline.answers(listener, [Array(octets[..<place]), Array(octets[place...])])
                try #require(cut == whole, "cut at \(place), seed \(seed): \(String(decoding: octets, as: UTF8.self).debugDescription)")
            }
        }
    }

    @Test("HTTP/1.1: the packets that were found, cut at each place")
    func found() async throws {
        let listener = try TestPipeline.listener()
        let next = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
        for text in UpgradeTests.offers.map({ "GET /healthz HTTP/1.1\r\nHost: a\r\n\($0)\r\n\(next)" }) + [
            "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n\(next)", "POST /o/client/token HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\(next)",
            "HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n\(next)", "\(next)FETCH / HTTP/1.1\r\nHost: a\r\n\r\n\(next)",
            "\(next)GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 17_000))",
        ] {
            let octets = Array(text.utf8)
            let whole = try await TestPipeline.answers(listener, [octets])
            for place in 1..<octets.count where place % (octets.count < 400 ? 11 : 1997) == 0 {
                let cut = try await TestPipeline.answers(listener, [Array(octets[..<place]), Array(octets[place...])])
                try #require(cut == whole, "cut at \(place): \(text.prefix(300).debugDescription)")
            }
        }
    }

    @Test("HTTP/2: however frames are cut, each stream has the same answer")
    func http2() async throws {
        let listener = try TestPipeline.listener()
        try await repeating { seed in
            var random = SplitMix(seed)
            let octets = FrameGrammar.octets(&random)
            let whole = try await TestPipeline.streams(listener, [octets])
            let place = Int(random.next() % UInt64(octets.count - 1)) + 1
            for pieces in [octets.map { [$0] }, [Array(octets[..<place]), Array(octets[place...])]] {
                let cut = try await TestPipeline.streams(listener, pieces)
                try #require(cut == whole, "seed \(seed), \(pieces.count) pieces, cut at \(place)")
            }
        }
    }
}

struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}

/// Requests of HTTP/1, most of them nearly right.
private enum RequestGrammar {
    private static let methods = ["GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "OPTIONS", "CONNECT", "TRACE", "PROPFIND", "FETCH", "get"]
    private static let targets = [
        "/healthz", "/healthz", "/nowhere", "/api/v1/config/ACME1.json", "/api/v1/checkauthn?requestor=ACME1&deviceId=d", "/o/client/token",
        "//healthz",
        "http://a/healthz", "HTTP://b?x", "*", "a:80", "/api/v1/authorize", "/x%00", "",
    ]
    private static let versions = ["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/1.2", "http/1.1"]
    private static let blanks = ["", " ", " ", " ", "\t", " \t ", "\t\t"]
    private static let fields: [(String, [String])] = [
        ("Host", ["a", "a", "a", "a, b", "a/b", "u@a", "", "[::1]:80"]),
        ("Connection", ["upgrade", "close", "keep-alive", "keep-alive,\tupgrade", "x, Upgrade"]),
        ("Upgrade", ["x", "h2c", "websocket"]), ("Proxy-Connection", ["upgrade", "close"]), ("Expect", ["100-continue", "100-Continue", "x"]),
        ("Transfer-Encoding", ["chunked", "gzip, chunked", "chunked, chunked", "identity"]), ("Content-Length", ["0", "3", "5", "5, 5", "x"]),
        ("Trailer", ["X-T"]), ("TE", ["trailers"]), ("Accept", ["application/json", "*/*"]), ("X-Long", [String(repeating: "y", count: 3000)]),
        ("Content-Type", ["application/x-www-form-urlencoded", "application/json"]), ("Bad Name", ["x"]), ("", ["x"]),
    ]
    private static let bodies = ["", "", "", "a=b", "hello", "3\r\na=b\r\n0\r\n\r\n", "3;x=y\r\na=b\r\n0\r\nX-T: 1\r\n\r\n", "zz\r\n", "\r\n"]

    static func octets(_ random: inout SplitMix) -> [UInt8] {
        var text = ""
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            text += methods.randomElement(using: &random)! + " " + targets.randomElement(using: &random)! + " "
            text += versions.randomElement(using: &random)! + "\r\n"
            if Int.random(in: 0..<8, using: &random) > 0 { text += "Host: a\r\n" }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let (name, values) = fields.randomElement(using: &random)!
                text +=
                    name + ":" + blanks.randomElement(using: &random)! + values.randomElement(using: &random)! + blanks.randomElement(using: &random)!
                    + "\r\n"
            }
            text += "\r\n" + bodies.randomElement(using: &random)!
        }
        var octets = Array(text.utf8)
        // Now and then an octet is another one.
        if Int.random(in: 0..<4, using: &random) == 0 {
            octets[Int.random(in: octets.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        return octets
    }
}

/// Frames of HTTP/2: requests and what may stand between them.
private enum FrameGrammar {
    static func octets(_ random: inout SplitMix) -> [UInt8] {
        typealias Frames = HostileHttp2Tests
        var octets = Frames.greeting
        let paths = ["/healthz", "/nowhere", "/api/v1/config/ACME1.json", "/o/client/token", "/api/v1/authorize", "//x"]
        let fields: [(String, String)] = [
            ("expect", "100-continue"), ("accept", "application/json"), ("te", "trailers"), ("upgrade", "x"), ("connection", "upgrade"),
            ("transfer-encoding", "chunked"), ("content-length", "3"), ("content-type", "application/x-www-form-urlencoded"), ("Upper", "x"),
        ]
        for number in 0..<UInt32.random(in: 1...5, using: &random) {
            let stream = 2 * number + 1
            let method = ["GET", "GET", "HEAD", "POST", "CONNECT", "PROPFIND"].randomElement(using: &random)!
            // One field that breaks the rules is enough, and ends the connection.
            let some = (0..<Int.random(in: 0...2, using: &random)).map { _ in fields.randomElement(using: &random)! }
            let hasBody = method == "POST"
            octets += Frames.headers(stream, Frames.request(method, paths.randomElement(using: &random)!, some), ends: !hasBody)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: octets += Frames.frame(6, [UInt8](repeating: 1, count: 8))
            case 1: octets += Frames.frame(8, stream: 0, [0, 0, 0, 1])
            case 2: octets += Frames.frame(4)
            default: break
            }
            if hasBody { octets += Frames.frame(0, flags: 1, stream: stream, Array("a=b".utf8)) }
        }
        return octets
    }
}

/// The gateway's own pipeline on a channel without a socket.
enum TestPipeline {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    static func listener() throws -> Gateway.Listener {
        Gateway(WholeApi(try TestGateway().dependencies(logger: logger)))
            .listener(at: .everybody, certificate: nil, logger: logger, quiet: logger, requests: RequestLog { _ in })
    }

    /// Waits until octets came, or the connection is over.
    private static func drain(_ channel: NIOAsyncTestingChannel, _ received: inout [UInt8]) async throws {
        while let bytes = try await channel.readOutbound(as: ByteBuffer.self) { received += bytes.readableBytesView }
    }

    /// The answers that a client of HTTP/1 gets that sends these pieces and then nothing more.
    static func answers(_ listener: Gateway.Listener, _ pieces: [[UInt8]]) async throws -> [String] {
        let loop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: loop)
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        let server = listener.channel { _, _, _ in }
        _ = try await loop.executeInContext { server.setup(channel: channel, logger: logger) }.get()
        for piece in pieces where channel.isActive { _ = try? await channel.writeInbound(ByteBuffer(bytes: piece)) }
        try await loop.executeInContext { channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        var received: [UInt8] = []
        let end = ContinuousClock.now + .seconds(60)
        while channel.isActive {
            await loop.run()
            // Others have work to do, too.
            try await Task.sleep(for: .microseconds(100))
            try #require(ContinuousClock.now < end, "in vain waited for the end of a connection")
        }
        try await drain(channel, &received)
        // The end of the connection leads to this.
        await loop.run()
        return normal(String(decoding: received, as: UTF8.self))
    }

    /// Answers without momentary parts, and without those that depend on the way of the octets. These are the request to go on, and the time when the
    /// end of the connection was known.
    private static func normal(_ text: String) -> [String] {
        let left = text.replacing("HTTP/1.1 100 Continue\r\n\r\n", with: "")
        return withoutTraces(left).components(separatedBy: "\r\n").filter { line in
            !["Date: ", "Adobe-Request-Id: ", "Retry-After: ", "Connection: "].contains { line.hasPrefix($0) }
        }
    }

    /// Pages tell the id of the request's trace.
    private static func withoutTraces(_ text: String) -> String {
        text.replacing(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/, with: "TRACE")
    }

    /// The answers of each stream of HTTP/2, and whether the connection was ended with an error.
    static func streams(_ listener: Gateway.Listener, _ pieces: [[UInt8]]) async throws -> [String] {
        let loop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: loop)
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        let edge = listener.edge
        let server = listener.channel { request, writer, channel in
            let response = await edge.respond(
                to: request, context: GatewayContext(source: ApplicationRequestContextSource(channel: channel, logger: logger)))
            try await writer.write(response: HTTPResponse(status: response.status, headerFields: response.headers), body: response.body)
        }
        let connection = try await loop.executeInContext { server.speak(on: channel, logger) }.get()
        let work = Task { await server.handle(value: connection, logger: logger) }
        for piece in pieces where channel.isActive { _ = try? await channel.writeInbound(ByteBuffer(bytes: piece)) }
        var received: [UInt8] = []
        let asked = HostileHttp2Tests.frames(Array(pieces.joined().dropFirst(24))).filter { $0.type == 1 }.map(\.stream)
        let end = ContinuousClock.now + .seconds(60)
        func isComplete() -> Bool {
            let frames = HostileHttp2Tests.frames(received)
            return frames.contains { $0.type == 7 }
                || Set(frames.filter { $0.stream > 0 && ($0.type == 3 || $0.flags & 1 != 0 && $0.type < 2) }.map(\.stream)).isSuperset(of: asked)
        }
        while !isComplete(), channel.isActive {
            await loop.run()
            try await Task.sleep(for: .microseconds(100))
            try await drain(channel, &received)
            try #require(ContinuousClock.now < end, "in vain waited for \(asked)")
        }
        try? await channel.close().get()
        await loop.run()
        work.cancel()
        while channel.isActive { await loop.run() }
        await loop.run()
        let frames = HostileHttp2Tests.frames(received)
        // The answers before an error are a matter of time.
        if frames.contains(where: { $0.type == 7 }) { return ["the connection was ended"] }
        return asked.map { stream in
            let own = frames.filter { $0.stream == stream }
            let content = own.filter { $0.type == 0 }.flatMap(\.payload)
            return "\(stream) \(own.contains { $0.type == 3 } ? "reset" : "") \(withoutTraces(String(decoding: content, as: UTF8.self)))"
        }
    }
}
