package import Hummingbird
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A body was not taken for one of these reasons.
package enum BodyRejection: Error {
    case tooLarge
    case tooSlow
    /// It did not come as its head said: a chunk was malformed, or the client broke off.
    case broken

    package var status: HTTPResponse.Status {
        switch self {
        case .tooLarge: .contentTooLarge
        case .tooSlow: .requestTimeout
        case .broken: .badRequest
        }
    }
}

/// Reads bodies within their limits.
struct BodyReader: Sendable {
    let timeout: Duration

    /// - Parameters:
    ///   - whole: The body, where it came with the head.
    ///   - limit: In bytes.
    ///   - willRead: Called before a body is read that did not come with its head.
    /// - Throws: `BodyRejection`.
    func read(_ request: Request, whole: ByteBuffer? = nil, limit: Int, willRead: () -> Void = {}) async throws -> ByteBuffer {
        if let whole {
            guard whole.readableBytes <= limit else { throw BodyRejection.tooLarge }
            return whole
        }
        let declared = request.headers[.contentLength].flatMap(Int.init)
        if declared == 0 { return ByteBuffer() }
        if let declared, declared > limit { throw BodyRejection.tooLarge }
        willRead()
        return try await collect(request.body, limit: limit)
    }

    /// Most bodies are there already when their head is: such a one is taken without a wait. The timer is for the others.
    private func collect(_ body: RequestBody, limit: Int) async throws -> ByteBuffer {
        let reading = Task.immediate { try await body.collect(upTo: limit) }
        let isOver = Expiry()
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(timeout)) {
            isOver.reached.store(true, ordering: .relaxed)
            reading.cancel()
        }
        defer { timer.cancel() }
        do {
            let content = try await withTaskCancellationHandler {
                try await reading.value
            } onCancel: {
                reading.cancel()
            }
            // A reading that is cancelled may end with what came until then.
            guard !isOver.reached.load(ordering: .relaxed) else { throw BodyRejection.tooSlow }
            return content
        } catch is NIOTooManyBytesError {
            throw BodyRejection.tooLarge
        } catch {
            throw isOver.reached.load(ordering: .relaxed) ? BodyRejection.tooSlow : BodyRejection.broken
        }
    }
}

/// Marks that the time of a body is over.
private final class Expiry: Sendable {
    let reached = Atomic(false)
}
