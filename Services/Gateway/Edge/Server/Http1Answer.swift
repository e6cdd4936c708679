#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// An answer as HTTP/1.1 sends it: always whole, with its length (RFC 9112 §6.2).
struct Http1Answer {
    /// The fate of the connection after the answer (RFC 9112 §9.3).
    enum Connection: String {
        /// It stays, as everybody expects.
        case stays
        case close
        /// It stays, which a client of HTTP/1.0 must be told.
        case keepAlive = "keep-alive"
    }

    let status: HTTPResponse.Status
    var fields = HTTPFields()
    var body = ByteBuffer()
    var connection: Connection
    /// The answer to HEAD: as long as that to GET, and without its content (RFC 9110 §9.3.2).
    var isHead = false

    /// A body up to this size, in bytes, is copied behind its head.
    private static let smallBody = 8 * 1024
    /// More than the heads of our answers take, in bytes.
    private static let usualHead = 768

    /// Writes and flushes it: usually one piece of memory, and so one system call.
    func write(to context: ChannelHandlerContext) {
        guard sendsBody, body.readableBytes > Self.smallBody else {
            return context.writeAndFlush(NIOAny(bytes(context.channel.allocator)), promise: nil)
        }
        var head = context.channel.allocator.buffer(capacity: Self.usualHead)
        writeHead(to: &head)
        context.write(NIOAny(head), promise: nil)
        context.writeAndFlush(NIOAny(body), promise: nil)
    }

    /// Head and body in one piece of memory.
    func bytes(_ allocator: ByteBufferAllocator = ByteBufferAllocator()) -> ByteBuffer {
        var bytes = allocator.buffer(capacity: Self.usualHead + body.readableBytes)
        writeHead(to: &bytes)
        if sendsBody { bytes.writeImmutableBuffer(body) }
        return bytes
    }

    /// The one place where content of HTTP/1.1 leaves.
    private var sendsBody: Bool { hasBody && !isHead }

    /// These have neither a body nor a length (RFC 9110 §8.6).
    private var hasBody: Bool { status.code >= 200 && status.code != 204 && status.code != 304 }

    private func writeHead(to bytes: inout ByteBuffer) {
        bytes.writeStaticString("HTTP/1.1 ")
        bytes.writeString(String(status.code))
        bytes.writeStaticString(" ")
        bytes.writeString(status.reasonPhrase)
        bytes.writeStaticString("\r\n")
        var saysLength = !hasBody
        for field in fields {
            switch field.name {
            // Ours to say.
            case .connection, .transferEncoding, .date: continue
            case .contentLength where !hasBody: continue
            case .contentLength: saysLength = true
            default: break
            }
            Self.write(field.name.rawName, field.value, to: &bytes)
        }
        if !saysLength { Self.write("Content-Length", String(body.readableBytes), to: &bytes) }
        Self.write("Date", HttpDate.now(), to: &bytes)
        if connection != .stays { Self.write("Connection", connection.rawValue, to: &bytes) }
        bytes.writeStaticString("\r\n")
    }

    private static func write(_ name: String, _ value: String, to bytes: inout ByteBuffer) {
        bytes.writeString(name)
        bytes.writeStaticString(": ")
        bytes.writeString(value)
        bytes.writeStaticString("\r\n")
    }
}

/// The time of the header `Date`, in the form of RFC 9110 §5.6.7, written once a second.
enum HttpDate {
    private struct Written {
        var second: time_t = -1
        var text = ""
    }

    private static let last = Mutex(Written())

    static func now() -> String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = Written(second: second, text: text(second)) }
            return last.text
        }
    }

    /// Names of days and months are English: the program keeps the C locale.
    static func text(_ second: time_t) -> String {
        var (second, parts) = (second, tm())
        gmtime_r(&second, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            // The capacity is more than twice what the form needs, so that the address exists and the text fits.
            guard let start = buffer.baseAddress, strftime(start, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0 else { return "" }
            return String(cString: start)
        }
    }
}
