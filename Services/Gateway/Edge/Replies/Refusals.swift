package import Faults
package import Hummingbird
internal import Logging
internal import Spans

/// Has the face of whoever called tell what went wrong, and adds what all faces have in common.
final class Refusals: Sendable {
    private let faces: Faces

    init(_ faces: Faces) { self.faces = faces }

    func reply(to error: any Error, _ exchange: Exchange) -> Response {
        let fault = (error as? BearerRejection)?.fault ?? (error as? BasicRejection)?.fault ?? Fault.unexpected(error)
        log(fault, exchange)
        var response = faces[exchange.audience].reply(to: error, fault, exchange)
        if let span = Tracing.isOn ? Span.current : nil {
            span.set("boxoffice.fault", .text(fault.code.rawValue))
            if response.status.code >= 500 { span.fail(fault.code.rawValue) }
        }
        if response.status == .serviceUnavailable { response.headers[.retryAfter] = String(fault.retrySeconds) }
        return response
    }

    func methodNotAllowed(_ exchange: Exchange, allow: String) -> Response {
        var response = faces[exchange.audience].methodNotAllowed(exchange)
        response.headers[.allow] = allow
        return response
    }

    func paused(_ pause: CodePause, _ exchange: Exchange) -> Response { faces[exchange.audience].paused(seconds: pause.seconds, exchange) }

    func badBody(_ error: any Error, _ exchange: Exchange) -> Response {
        guard let problem = error as? BodyRejection else { return reply(to: error, exchange) }
        var response = faces[exchange.audience].reply(to: problem, exchange)
        response.headers[.connection] = "close"
        return response
    }

    /// A call of the vendor's SDKs that nobody serves here: as the others are answered (clients §3).
    func unserved() -> Response { Response(ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: .xml, status: .notFound) }

    /// A method that the gateway does not know, and CONNECT. The connection ends.
    func notImplemented(_ request: Request, facts: RequestFacts) -> Response {
        var response = Response(
            ErrorDocument.plain(status: 501, message: "Not Implemented", details: nil), format: ReplyFormat(request, facts), status: .notImplemented)
        if request.method == .connect { response.headers[.connection] = "close" }
        return response
    }

    /// An address that the gateway does not have.
    func notFound(_ request: Request, facts: RequestFacts) -> Response {
        faces[Route.Audience(notFound: facts.path)].notFound(request, facts)
    }

    /// A caller that does not name the listener for administration as one of its own, or a page of another site.
    func stranger(_ refusal: AdministrationNames.Refusal, at path: String, trace: String) -> Response {
        faces.guarded(at: path).stranger(refusal, trace: trace)
    }

    private func log(_ fault: Fault, _ exchange: Exchange) {
        let isOurs = fault.code.isTransient || fault.code == .internal
        let level = isOurs ? Logger.Level.warning : .debug
        guard exchange.logs(level) else { return }
        exchange.logger.log(
            level: level, "request-refused",
            metadata: ["code": "\(fault.code)", "cause": "\(fault.cause.map { "\($0)" } ?? "")"])
    }
}

extension ReplyFormat {
    /// Describes an answer without a route.
    init(_ request: Request, _ facts: RequestFacts) {
        self.init(suffix: facts.suffix, parameter: nil, accept: request.headers[values: .accept].joined(separator: ","))
    }
}

extension Response {
    /// One call too many (rest-v1 §2.7).
    /// - Parameter retryAfter: In seconds.
    package static func tooManyRequests(retryAfter: Int) -> Response {
        var response = Response(text: "429 Too Many Requests", type: "text/html", cacheControl: "no-store")
        response.status = .tooManyRequests
        response.headers[.retryAfter] = String(retryAfter)
        return response
    }
}

extension Fault {
    /// Seconds for `Retry-After`, at least 1.
    package var retrySeconds: Int64 {
        guard let wait = retryAfter else { return 1 }
        return max(1, wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0))
    }
}

extension Fault.Code {
    /// True for a fault that says nothing of the request: a dependency is away, full or too slow.
    package var isTransient: Bool { Self.transient.contains(self) }

    /// True for a fault that names what is wrong with the request.
    package var isBad: Bool { Self.bad.contains(self) }

    package static let transient: Set<Fault.Code> = [
        .unavailable, .upstreamUnavailable, .overloaded, .deadlineExceeded, .cancelled, .storageFull,
    ]

    package static let bad: [Fault.Code] = [
        .invalidRequest, .invalidRequestor, .invalidDeviceID, .invalidDeviceInformation, .missingResource, .malformedAuthzRequest,
        .unknownIntegration, .invalidDomain, .invalidRedirectURL, .authenticationSessionIssuerMismatch,
    ]
}
