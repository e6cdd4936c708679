internal import NIOCore
public import NIOSSL

/// Reads the answers of one HTTP/1.1 connection, one after another (RFC 9112 §4 to §7). It reads only as much of them as a load tool has to know.
struct HttpAnswerParser {
    /// Bytes that are no valid response.
    struct Rejection: Error, Equatable {
        var text: String
    }

    /// One whole answer.
    struct Whole {
        var answer: Answer
        var byteCount: Int
        /// The server closes the connection after it.
        var closes: Bool
    }

    private enum State {
        case head
        /// Bytes of the body that are still to come.
        case length(Int)
        case chunkSize
        case chunk(Int)
        case trailer
        case untilClose
    }

    private static let headLimit = 64 * 1024
    private var state = State.head
    private var answer = Answer()
    private var byteCount = 0
    private var closes = false
    /// Set before an answer comes: whether its headers and its body are kept, and whether the request was a HEAD.
    var keepsAll = false
    var isHead = false

    /// Reads what is there.
    /// - Returns: An answer once it is whole.
    mutating func read(_ buffer: inout ByteBuffer) throws(Rejection) -> Whole? {
        while true {
            let before = buffer.readableBytes
            let isWhole = try step(&buffer)
            byteCount += before - buffer.readableBytes
            if isWhole { return finish() }
            if buffer.readableBytes == before { return nil }
        }
    }

    /// The connection is closed.
    /// - Returns: The answer that ended by that; `nil` when none did.
    mutating func end() -> Whole? {
        if case .untilClose = state { return finish() }
        return nil
    }

    private mutating func finish() -> Whole {
        defer {
            state = .head
            answer = Answer()
            byteCount = 0
            closes = false
        }
        if answer.status >= 400 { answer.failure = Self.codes[min(answer.status, 599) - 400] }
        return Whole(answer: answer, byteCount: byteCount, closes: closes)
    }

    private static let codes = (400..<600).map { "http_\($0)" }

    /// - Returns: True when the answer is whole.
    private mutating func step(_ buffer: inout ByteBuffer) throws(Rejection) -> Bool {
        switch state {
        case .head: return try readHead(&buffer)
        case .length(let rest):
            take(&buffer, rest) { .length($0) }
            if case .length(0) = state { return true }
            return false
        case .chunk(let rest):
            take(&buffer, rest) { .chunk($0) }
            guard case .chunk(0) = state, buffer.readableBytes >= 2 else { return false }
            buffer.moveReaderIndex(forwardBy: 2)
            state = .chunkSize
            return false
        case .chunkSize:
            guard let line = try readLine(&buffer) else { return false }
            guard let size = Int(line.prefix { $0 != ";" && $0 != " " }, radix: 16), size >= 0 else { throw Rejection(text: "a chunk of no size") }
            state = size == 0 ? .trailer : .chunk(size)
            return false
        case .trailer:
            while let line = try readLine(&buffer) { if line.isEmpty { return true } }
            return false
        case .untilClose:
            take(&buffer, buffer.readableBytes) { _ in .untilClose }
            return false
        }
    }

    private mutating func take(_ buffer: inout ByteBuffer, _ rest: Int, _ next: (Int) -> State) {
        let count = min(rest, buffer.readableBytes)
        if keepsAll || answer.status >= 400 && answer.body.count < 1024 {
            answer.body += buffer.readableBytesView.prefix(count)
        }
        buffer.moveReaderIndex(forwardBy: count)
        state = next(rest - count)
    }

    private func readLine(_ buffer: inout ByteBuffer) throws(Rejection) -> String? {
        guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            if buffer.readableBytes > Self.headLimit { throw Rejection(text: "a line without an end") }
            return nil
        }
        let count = end - buffer.readerIndex + 1
        guard let line = buffer.readString(length: count) else { return nil }
        return line.last == "\r\n" || line.last == "\n" ? String(line.dropLast()) : line
    }

    private mutating func readHead(_ buffer: inout ByteBuffer) throws(Rejection) -> Bool {
        guard let count = Self.headLength(buffer.readableBytesView) else {
            if buffer.readableBytes > Self.headLimit { throw Rejection(text: "a head without an end") }
            return false
        }
        guard let head = buffer.readSlice(length: count) else { return false }
        return try parse(head.readableBytesView)
    }

    /// Bytes up to the empty line, with it.
    private static func headLength(_ bytes: ByteBufferView) -> Int? {
        var place = bytes.startIndex
        while let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            if end + 1 < bytes.endIndex, bytes[end + 1] == UInt8(ascii: "\n") { return end + 2 - bytes.startIndex }
            if end + 2 < bytes.endIndex, bytes[end + 1] == UInt8(ascii: "\r"), bytes[end + 2] == UInt8(ascii: "\n") {
                return end + 3 - bytes.startIndex
            }
            place = end + 1
        }
        return nil
    }

    private mutating func parse(_ bytes: ByteBufferView) throws(Rejection) -> Bool {
        var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
        guard let first = lines.popFirst(), first.starts(with: Array("HTTP/1.".utf8)), first.count >= 12,
            let status = Int(String(decoding: first.dropFirst(9).prefix(3), as: UTF8.self)), (100..<600).contains(status)
        else { throw Rejection(text: "no HTTP/1.1 answer") }
        answer.status = status
        closes = first.starts(with: Array("HTTP/1.0".utf8))
        var length: Int?
        var isChunked = false
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let name = line[..<colon]
            if Self.isName(name, "content-length") {
                guard let number = Int(Self.text(line[(colon + 1)...])), number >= 0 else { throw Rejection(text: "a Content-Length that is none") }
                length = number
            } else if Self.isName(name, "transfer-encoding") {
                isChunked = Self.text(line[(colon + 1)...]).lowercased().hasSuffix("chunked")
            } else if Self.isName(name, "connection") {
                closes = closes || Self.text(line[(colon + 1)...]).lowercased().contains("close")
            }
            if keepsAll { answer.headers.append((String(decoding: name, as: UTF8.self).lowercased(), Self.text(line[(colon + 1)...]))) }
        }
        return expectBody(status, length, isChunked)
    }

    /// Finds which body comes (RFC 9112 §6.3).
    /// - Returns: True when none does.
    private mutating func expectBody(_ status: Int, _ length: Int?, _ isChunked: Bool) -> Bool {
        if status < 200 {
            answer = Answer()
            return false
        }
        if isHead || status == 204 || status == 304 { return true }
        if isChunked {
            state = .chunkSize
        } else if let length {
            state = .length(length)
            return length == 0
        } else {
            state = .untilClose
            closes = true
        }
        return false
    }

    private static func isName(_ name: ByteBufferView, _ expected: StaticString) -> Bool {
        guard name.count == expected.utf8CodeUnitCount else { return false }
        return expected.withUTF8Buffer { letters in zip(name, letters).allSatisfy { $0 | 0x20 == $1 || $0 == $1 } }
    }

    private static func text(_ bytes: ByteBufferView) -> String {
        let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
        return String(decoding: bytes.drop(while: blank).reversed().drop(while: blank).reversed(), as: UTF8.self)
    }
}

/// A server that is called over HTTP/1.1.
public struct HttpTarget: Sendable {
    /// A name or an address.
    public var host: String
    public var port: Int
    /// For HTTPS; `nil`: plain.
    public var tls: NIOSSLContext?
    /// False: each call has a connection of its own.
    public var keepAlive: Bool

    public init(host: String, port: Int, tls: NIOSSLContext? = nil, keepAlive: Bool = true) {
        self.host = host
        self.port = port
        self.tls = tls
        self.keepAlive = keepAlive
    }
}

/// Puts load on an HTTP server.
public struct HttpLoad: ServiceLoad {
    private let target: HttpTarget
    private let plan: RunPlan
    private let make: @Sendable (_ worker: Int, _ workers: Int) -> any Workload

    /// - Parameter make: The workload of each worker; its calls hold whole requests (`HttpRequestText`).
    public init(_ target: HttpTarget, plan: RunPlan, make: @escaping @Sendable (_ worker: Int, _ workers: Int) -> any Workload) {
        self.target = target
        self.plan = plan
        self.make = make
    }

    public func run(
        begun: @Sendable (LoadRun, ContinuousClock.Instant) -> Void, progress: @Sendable (LoadRun.Progress) -> Void
    ) async throws -> RunMeasurement {
        let (target, make, workers) = (target, make, plan.workers)
        return try await WorkerLoops.run(plan, begun: begun, progress: progress) { _, connections, loop in
            let transport = HttpTransport(target, connections: connections, on: loop)
            return (transport, transport.connect())
        } workload: {
            make($0, workers)
        }
    }
}
