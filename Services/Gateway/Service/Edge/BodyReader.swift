internal import Hummingbird
internal import NIOCore

/// Why a body was not taken.
enum BodyProblem: Error {
    case tooLarge
    case tooSlow
    /// It did not come as its head said: a chunk was malformed, or the client broke off.
    case broken
}

/// Reads bodies within their limits.
struct BodyReader: Sendable {
    let timeout: Duration

    /// - Parameter limit: In bytes.
    /// - Throws: `BodyProblem`.
    func read(_ request: Request, limit: Int) async throws -> ByteBuffer {
        let declared = request.headers[.contentLength].flatMap(Int.init)
        if declared == nil, request.headers[.transferEncoding] == nil { return ByteBuffer() }
        if declared == 0 { return ByteBuffer() }
        if let declared, declared > limit { throw BodyProblem.tooLarge }
        return try await collect(request.body, limit: limit)
    }

    private func collect(_ body: RequestBody, limit: Int) async throws -> ByteBuffer {
        let timeout = timeout
        return try await withThrowingTaskGroup(of: ByteBuffer.self) { group in
            group.addTask {
                do { return try await body.collect(upTo: limit) } catch is NIOTooManyBytesError {
                    throw BodyProblem.tooLarge
                } catch {
                    throw BodyProblem.broken
                }
            }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw BodyProblem.tooSlow
            }
            defer { group.cancelAll() }
            return try await group.next() ?? ByteBuffer()
        }
    }
}
