internal import SandboxKit
internal import Clocks
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import ServiceLifecycle

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Takes every call of the API: logs it, applies the fault that waits for it, throttles, and lets the endpoints answer.
struct VendorGate: RouterMiddleware {
    private static let largestBody = 256 * 1024
    private static let longestHang = Duration.seconds(86_400)
    private struct BrokenOff: Error {}

    let endpoints: VendorEndpoints
    let memory: VendorMemory
    let faults: VendorFaults
    let log: VendorLog
    let clock: AdjustableClock

    func handle(
        _ input: Request, context: SandboxContext, next: (Request, SandboxContext) async throws -> Response
    ) async throws -> Response {
        switch VendorRoute(method: input.method.rawValue, path: input.uri.path) {
        case .unknown: return try await next(input, context)
        case .wrongMethod(let allowed):
            if input.method == .options { return endpoints.preflight(input) }
            return Response(
                status: .methodNotAllowed, headers: [.allow: allowed.joined(separator: ", "), .contentType: "application/json;charset=UTF-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "{}")))
        case .found(let operation, let parameters):
            log.begin(operation)
            defer { log.end(operation) }
            return endpoints.crossOrigin(input, try await answer(operation, parameters, input, context))
        }
    }

    private func answer(
        _ operation: VendorOperation, _ parameters: [String: String], _ request: Request, _ context: SandboxContext
    ) async throws -> Response {
        let begin = ContinuousClock.now
        let call = VendorCall(
            operation: operation, method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "", parameters: parameters,
            headers: request.headers, authority: request.head.authority, body: [], peer: context.address, now: clock.now(),
            httpVersion: context.httpVersion, port: context.port)
        let fault = faults.take(call)
        let latency = Duration.milliseconds(memory.access { $0.behaviour.latencyMilliseconds })
        let delay = latency + (fault?.kind == .delay ? .milliseconds(fault?.milliseconds ?? 0) : .zero)
        if delay > .zero { try await cancelWhenGracefulShutdown { try await Task.sleep(for: delay) } }
        guard fault?.kind.hangs == true else { return try await answer(call, request.body, fault, since: begin, context.channel) }
        // Ends early when the caller leaves or the stand-in stops.
        return try await cancelWhenGracefulShutdown {
            try await request.body.consumeWithCancellationOnInboundClose { body in try await answer(call, body, fault, since: begin, context.channel)
            }
        }
    }

    private func answer(
        _ call: VendorCall, _ body: RequestBody, _ fault: VendorFault?, since begin: ContinuousClock.Instant, _ channel: any Channel
    ) async throws -> Response {
        var call = call
        call.body = Array(buffer: try await body.collect(upTo: Self.largestBody))
        guard let fault else {
            let answer = try endpoints.answer(call)
            log.note(call, status: answer.status, outcome: answer.outcome, fault: nil, took: .now - begin)
            return answer.response
        }
        let genuine = fault.kind.applies ? try endpoints.answer(call) : nil
        let changed = try fault.answer(in: genuine ?? .empty(200, outcome: fault.kind.rawValue))
        let isAnswered = !fault.kind.hangs && !fault.kind.resets
        log.note(
            call, status: isAnswered ? changed.status : 0, outcome: genuine?.outcome ?? changed.outcome, fault: fault.kind, took: .now - begin)
        if fault.kind.hangs { try await Task.sleep(for: Self.longestHang) }
        if fault.kind.resets { try await Self.reset(channel) }
        guard isAnswered else { return Response(status: .serviceUnavailable) }
        return fault.kind == .truncate ? Self.truncated(changed) : changed.response
    }

    /// Sends half of the announced length, then closes the connection.
    private static func truncated(_ answer: VendorAnswer) -> Response {
        let octets = answer.body.isEmpty ? Array("{}".utf8) : answer.body
        let body = ResponseBody(contentLength: octets.count) { writer in
            try await writer.write(ByteBuffer(bytes: octets.prefix(octets.count / 2)))
            throw BrokenOff()
        }
        return Response(status: HTTPResponse.Status(code: answer.status), headers: answer.headers, body: body)
    }

    // With a linger time of zero the system sends RST instead of FIN.
    private static func reset(_ channel: any Channel) async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }
}
