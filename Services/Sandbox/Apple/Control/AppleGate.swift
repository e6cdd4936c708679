#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import Clocks
internal import FoundationEssentials
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import SandboxKit
internal import ServiceLifecycle

/// Handles every call: applies the pending fault of its endpoint, and logs the call.
struct AppleGate: Sendable {
    typealias Handler = @Sendable (AppleRequest) -> AppleAnswer

    private static let largestBody = 64 * 1024
    private struct BrokenOff: Error {}

    let faults: AppleFaults
    let log: AppleLog
    let memory: AppleMemory
    let clock: any WallClock

    func pass(
        _ endpoint: AppleEndpoint, _ request: Request, _ context: SandboxContext, _ handler: @escaping Handler
    ) async throws -> Response {
        guard let fault = faults.take(endpoint) else {
            return Self.response(try await answer(endpoint, request, request.body, context, nil, handler))
        }
        if fault.kind.hangs || fault.kind == .latency { return try await late(fault, endpoint, request, context, handler) }
        return try await fail(fault, endpoint, request, context, handler)
    }

    private func answer(
        _ endpoint: AppleEndpoint, _ request: Request, _ body: RequestBody, _ context: SandboxContext, _ fault: AppleFault?, _ handler: Handler
    ) async throws -> AppleAnswer {
        let call = try await read(request, body, context)
        let answer = handler(call)
        note(endpoint, call, answer, fault)
        return answer
    }

    /// Faults of time; they end early when the caller leaves or the stand-in stops.
    private func late(
        _ fault: AppleFault, _ endpoint: AppleEndpoint, _ request: Request, _ context: SandboxContext, _ handler: @escaping Handler
    ) async throws -> Response {
        try await cancelWhenGracefulShutdown {
            try await request.body.consumeWithCancellationOnInboundClose { body in
                guard fault.kind.hangs else {
                    try await Task.sleep(for: .milliseconds(fault.milliseconds ?? 0))
                    return Self.response(try await answer(endpoint, request, body, context, fault, handler))
                }
                let call = try await read(request, body, context)
                let applied = fault.kind == .applyThenTimeout ? handler(call) : AppleAnswer.empty(.ok, outcome: "timeout")
                note(endpoint, call, applied, fault, isAnswered: false)
                try await Task.sleep(for: .seconds(86_400))
                return Response(status: .serviceUnavailable)
            }
        }
    }

    private func fail(
        _ fault: AppleFault, _ endpoint: AppleEndpoint, _ request: Request, _ context: SandboxContext, _ handler: Handler
    ) async throws -> Response {
        let call = try await read(request, request.body, context)
        switch fault.kind {
        case .answer:
            let answer = Self.scripted(fault)
            note(endpoint, call, answer, fault)
            return Self.response(answer)
        case .notJSON:
            let answer = AppleAnswer(
                status: .ok, headers: [.contentType: "application/json"], body: Array("<html>Service Unavailable</html>".utf8), outcome: "not-json")
            note(endpoint, call, answer, fault)
            return Self.response(answer)
        case .reset:
            note(endpoint, call, .empty(.ok, outcome: "reset"), fault, isAnswered: false)
            try await Self.reset(context.channel)
            return Response(status: .serviceUnavailable)
        case .contentType, .truncated, .latency, .timeout, .applyThenTimeout:
            var answer = handler(call)
            note(endpoint, call, answer, fault)
            if fault.kind == .truncated { return Self.truncated(answer) }
            answer.headers[.contentType] = "text/plain"
            return Self.response(answer)
        }
    }

    private func read(_ request: Request, _ body: RequestBody, _ context: SandboxContext) async throws -> AppleRequest {
        AppleRequest(
            method: request.method, path: request.uri.path, query: request.uri.query ?? "", headers: request.headers,
            body: Array(buffer: try await body.collect(upTo: Self.largestBody)), parameters: context.parameters, now: clock.now())
    }

    private func note(_ endpoint: AppleEndpoint, _ call: AppleRequest, _ answer: AppleAnswer, _ fault: AppleFault?, isAnswered: Bool = true) {
        let logged = LoggedFields(call)
        memory.access { content in for credential in logged.credentials { content.secrets.add(credential: credential) } }
        log.note(
            AppleLog.Entry(
                at: call.now.milliseconds, endpoint: endpoint, method: call.method.rawValue, path: call.path,
                status: isAnswered ? answer.status.code : 0, outcome: answer.outcome, fault: fault?.kind, fields: logged.fields))
    }

    private static func scripted(_ fault: AppleFault) -> AppleAnswer {
        var headers: HTTPFields = [:]
        for (name, value) in fault.headers ?? [:] { if let name = HTTPField.Name(name) { headers[name] = value } }
        if fault.body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return AppleAnswer(
            status: HTTPResponse.Status(code: fault.status ?? 500), headers: headers, body: Array((fault.body ?? "").utf8), outcome: "scripted")
    }

    private static func response(_ answer: AppleAnswer) -> Response {
        let body = answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        return Response(status: answer.status, headers: answer.headers, body: body)
    }

    /// Sends half of the announced length, then closes the connection.
    private static func truncated(_ answer: AppleAnswer) -> Response {
        let octets = answer.body.isEmpty ? Array("{}".utf8) : answer.body
        let body = ResponseBody(contentLength: octets.count) { writer in
            try await writer.write(ByteBuffer(bytes: octets.prefix(octets.count / 2)))
            throw BrokenOff()
        }
        return Response(status: answer.status, headers: answer.headers, body: body)
    }

    // With a linger time of zero the system sends RST instead of FIN.
    private static func reset(_ channel: any Channel) async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }
}

/// An answer before it goes out: a fault may still change it.
struct AppleAnswer: Sendable {
    var status: HTTPResponse.Status
    var headers: HTTPFields = [:]
    var body: [UInt8] = []
    /// For the log.
    var outcome: String

    static func empty(_ status: HTTPResponse.Status, outcome: String) -> AppleAnswer { AppleAnswer(status: status, outcome: outcome) }

    static func html(_ text: String, outcome: String) -> AppleAnswer {
        AppleAnswer(status: .ok, headers: Pages.headers, body: Array(text.utf8), outcome: outcome)
    }

    /// - Parameter isKept: True when caches may keep it.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, outcome: String, isKept: Bool = true
    ) throws -> AppleAnswer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var headers: HTTPFields = [.contentType: "application/json"]
        if !isKept { headers.append(contentsOf: Self.unkept) }
        return AppleAnswer(status: status, headers: headers, body: Array(try encoder.encode(value)), outcome: outcome)
    }

    /// An error in Apple's form (apple §2.11).
    static func refused(_ refusal: AppleRejection) -> AppleAnswer {
        let outcome = "\(refusal.code.rawValue): \(refusal.reason)"
        if refusal.code == .throttled {
            return AppleAnswer(status: .tooManyRequests, headers: [.retryAfter: "3600"], outcome: outcome)
        }
        var headers: HTTPFields = [.contentType: "application/json"]
        headers.append(contentsOf: unkept)
        return AppleAnswer(status: .badRequest, headers: headers, body: Array(#"{"error":"\#(refusal.code.rawValue)"}"#.utf8), outcome: outcome)
    }

    /// A refusal of the device or of the control routes, which Apple's servers do not have.
    static func problem(_ code: String, _ message: String, status: HTTPResponse.Status) -> AppleAnswer {
        let answer = try? json(["error": code, "message": message], status: status, outcome: "\(code): \(message)")
        return answer ?? AppleAnswer(status: status, outcome: code)
    }

    private static let unkept: HTTPFields = {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if let pragma = HTTPField.Name("Pragma") { headers[pragma] = "no-cache" }
        return headers
    }()
}

/// An error as Apple's endpoints answer it (apple §2.11).
struct AppleRejection: Error, Equatable {
    enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// Asked too often; not an OAuth error.
        case throttled
    }

    let code: Code
    /// For the log only.
    let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}
