internal import Catalogue
internal import Faults
internal import Hummingbird
internal import Logging
internal import Spans

/// Turns what went wrong into a reply of the form that the caller reads.
final class Refusals: Sendable {
    let settings: GatewaySettings
    let pages: Pages
    let catalogue: any CatalogueSource

    init(settings: GatewaySettings, pages: Pages, catalogue: any CatalogueSource) {
        self.settings = settings
        self.pages = pages
        self.catalogue = catalogue
    }

    func reply(to error: any Error, _ exchange: Exchange) -> Response {
        let problem = error as? BearerProblem
        let fault = problem?.fault ?? (error as? BasicProblem)?.fault ?? Fault.unexpected(error)
        log(fault, exchange)
        var response =
            switch exchange.audience {
            case .api(let endpoint):
                if BearerProblem.isOne(error) {
                    bearerReply(fault, exchange)
                } else {
                    apiReply(fault, at: endpoint, exchange)
                }
            case .singleSignOn(let isToken): singleSignOnReply(fault, isToken: isToken, exchange)
            case .apiV2: v2Reply(fault, exchange.facts)
            case .clientRegistration: Self.oauthReply(fault, byBasic: error is BasicProblem)
            case .administration: administrationReply(to: error, fault, exchange)
            case .console: consoleReply(to: error, fault, exchange)
            case .usage: Self.usageReply(fault)
            case .autoSignIn: autoSignInReply(fault, exchange.facts)
            case .notification: notificationReply(fault)
            case .browser: pageReply(fault, exchange)
            }
        if let span = Tracing.isOn ? Span.current : nil {
            span.set("boxoffice.fault", .text(fault.code.rawValue))
            if response.status.code >= 500 { span.fail(fault.code.rawValue) }
        }
        if response.status == .serviceUnavailable { response.headers[.retryAfter] = String(Self.retrySeconds(fault)) }
        return response
    }

    func methodNotAllowed(_ exchange: Exchange, allow: String) -> Response {
        var response =
            switch exchange.audience {
            case .api:
                errorReply(ErrorTable.internalError, status: .methodNotAllowed, message: "Method Not Allowed", details: nil, exchange)
            case .apiV2: Self.v2MethodNotAllowed()
            case .singleSignOn:
                singleSignOnReply(SingleSignOnErrors.methodNotAllowed, message: "Method Not Allowed", exchange.facts)
            case .clientRegistration: Self.oauthReply("invalid_request", status: .methodNotAllowed, description: "The method must be POST.")
            case .administration: administrationReply(.methodNotAllowed, code: "method_not_allowed", trace: exchange.facts.trace.traceID)
            case .console: consoleReply(.methodNotAllowed, trace: exchange.facts.trace.traceID)
            case .usage: Self.usageReply(.methodNotAllowed, "Only GET is served here.")
            case .autoSignIn:
                autoSignInReply(AutoSignInErrors.methodNotAllowed, message: "Method Not Allowed", exchange.facts)
            case .notification: Response.empty(.methodNotAllowed)
            case .browser: pages.message(.methodNotAllowed, exchange)
            }
        response.headers[.allow] = allow
        return response
    }

    func badBody(_ error: any Error, _ exchange: Exchange) -> Response {
        guard let problem = error as? BodyProblem else { return reply(to: error, exchange) }
        let status: HTTPResponse.Status =
            switch problem {
            // Nothing that large is a fingerprint (clients #39).
            case .tooLarge: if case .api(.sdkDevices) = exchange.audience { .badRequest } else { .contentTooLarge }
            case .tooSlow: .requestTimeout
            case .broken: .badRequest
            }
        var response =
            switch exchange.audience {
            case .api: errorReply(ErrorTable.internalError, status: status, message: status.reasonPhrase, details: nil, exchange)
            case .singleSignOn: singleSignOnReply(problem, exchange.facts)
            case .apiV2: v2Reply(problem, exchange.facts)
            case .clientRegistration: Self.oauthReply("invalid_request", status: status, description: "The body is \(Self.flaw(problem)).")
            case .administration: administrationReply(status, code: Self.administrationCode(problem), trace: exchange.facts.trace.traceID)
            case .console: consoleReply(problem == .tooLarge ? .tooLarge : .incomplete, trace: exchange.facts.trace.traceID)
            case .usage: Self.usageReply(status, status.reasonPhrase)
            case .autoSignIn: autoSignInReply(problem, exchange.facts)
            case .notification: Response.empty(status)
            case .browser: pages.message(Self.notice(problem), exchange)
            }
        response.headers[.connection] = "close"
        return response
    }

    private static func flaw(_ problem: BodyProblem) -> String {
        switch problem {
        case .tooLarge: "longer than is read"
        case .tooSlow: "not there in time"
        case .broken: "not whole"
        }
    }

    private static func administrationCode(_ problem: BodyProblem) -> String {
        switch problem {
        case .tooLarge: "too_large"
        case .tooSlow: "timeout"
        case .broken: "invalid_request"
        }
    }

    private static func notice(_ problem: BodyProblem) -> Pages.Notice {
        switch problem {
        // An oversized answer of an MVPD is one more failed check (mvpd §2.3, `bind.size`).
        case .tooLarge: .signInRefused
        case .tooSlow: .requestTimeout
        case .broken: .badRequest
        }
    }

    /// One call too many (rest-v1 §2.7).
    /// - Parameter retryAfter: In seconds.
    static func tooManyRequests(retryAfter: Int) -> Response {
        var response = Response(text: "429 Too Many Requests", type: "text/html", cacheControl: "no-store")
        response.status = .tooManyRequests
        response.headers[.retryAfter] = String(retryAfter)
        return response
    }

    /// A call of the vendor's SDKs that nobody serves here: as the others are answered (clients §3).
    func unserved() -> Response { Response(ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: .xml, status: .notFound) }

    /// A method that the gateway does not know, and CONNECT. The connection ends.
    func notImplemented(_ request: Request, facts: RequestFacts) -> Response {
        let format = ReplyFormat(suffix: facts.suffix, parameter: nil, accept: request.headers[values: .accept].joined(separator: ","))
        var response = Response(ErrorDocument.plain(status: 501, message: "Not Implemented", details: nil), format: format, status: .notImplemented)
        if request.method == .connect { response.headers[.connection] = "close" }
        return response
    }

    /// An address that the gateway does not have.
    func notFound(_ request: Request, facts: RequestFacts) -> Response {
        if facts.path.hasPrefix("/admin/") {
            return administrationReply(.notFound, code: "not_found", trace: facts.trace.traceID)
        }
        if facts.path.hasPrefix(Console.path + "/") { return consoleReply(.notFound, trace: facts.trace.traceID) }
        if facts.path.hasPrefix("/esm/") { return Self.usageReply(.notFound, "There is no such address.") }
        if facts.path.hasPrefix("/api/v2/") {
            return v2Reply(V2Errors.notFound, message: "There is no such address.", facts)
        }
        if ["/auto-signin/", "/apple/"].contains(where: { facts.path.hasPrefix($0) }) {
            return autoSignInReply(AutoSignInErrors.notFound, message: "There is no such address.", facts)
        }
        guard ["/api/", "/reggie/", "/o/", "/adobe-services/", "/reset-tempass/", "/control/"].contains(where: { facts.path.hasPrefix($0) }) else {
            let reader = PageReader(
                pages.languages, request.headers, target: request.head.path ?? "", isGet: request.method == .get || request.method == .head,
                isSecure: facts.isSecure)
            return pages.message(.notFound, trace: facts.trace.traceID, for: reader)
        }
        let accept = request.headers[values: .accept].joined(separator: ",")
        let format = ReplyFormat(suffix: facts.suffix, parameter: nil, accept: accept)
        return Response(ErrorDocument.plain(status: 404, message: "Not Found", details: nil), format: format, status: .notFound)
    }

    /// What a caller is told of a code: that it is spent is ours to know, and who asks by a code whether somebody is signed in learns no more than that
    /// nobody is (rest-v1 §3.10, §3.17).
    private static func told(_ fault: Fault, at endpoint: Endpoint) -> Fault {
        guard [.invalidRegistrationCode, .registrationCodeSpent].contains(fault.code) else { return fault }
        return switch endpoint {
        case .checkAuthnByCode, .preauthorize, .sdkSession: Fault(.authenticationSessionMissing, "User not authenticated", cause: fault)
        default: Fault(.invalidRegistrationCode, fault.message, cause: fault)
        }
    }

    private func apiReply(_ fault: Fault, at endpoint: Endpoint, _ exchange: Exchange) -> Response {
        let fault = Self.told(fault, at: endpoint)
        // Not in the table of codes: apps know a 429 by its status, in the one form that it has (rest-v1 §2.7).
        if fault.code == .tooManyRequests { return Self.tooManyRequests(retryAfter: Int(Self.retrySeconds(fault))) }
        let status = StatusTable.status(of: fault.code, at: endpoint, resourceIsAbsent: exchange.lacks("resource"))
        return errorReply(
            ErrorTable.row(for: fault.code, at: endpoint, status: status), status: HTTPResponse.Status(code: status),
            message: ErrorTexts.message(fault, at: endpoint, status: status), details: fault.details, exchange)
    }

    private func errorReply(
        _ row: ErrorTable.Row, status: HTTPResponse.Status, message: String, details: String?, _ exchange: Exchange
    ) -> Response {
        guard isEnhanced(exchange) else {
            return Response(
                ErrorDocument.plain(status: status.code, message: message, details: details), format: exchange.format, status: status)
        }
        let listed = row.statuses.contains(status.code) ? status.code : row.statuses[0]
        let document = ErrorDocument.enhanced(
            action: row.action, status: listed, code: row.code, message: message, details: details, help: exchange.facts.host.help(row.code),
            trace: exchange.facts.trace.traceID)
        return Response(document, format: exchange.format, status: status)
    }

    /// Always JSON (rest-v1 §2.2).
    private func bearerReply(_ fault: Fault, _ exchange: Exchange) -> Response {
        let status = BearerProblem.status(fault.code)
        var members = [Document.Member("error", .text(fault.code.rawValue))]
        if isEnhanced(exchange) {
            let code = BearerProblem.enhancedCode(fault.code)
            members +=
                ErrorDocument.enhanced(
                    action: "application-registration", status: status.code, code: code, message: fault.message, details: nil,
                    help: exchange.facts.host.help(code), trace: exchange.facts.trace.traceID
                ).members
        }
        var response = Response(Document("error", members), format: .json, status: status)
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    private func pageReply(_ fault: Fault, _ exchange: Exchange) -> Response {
        // Codes of the one table are none in the other.
        let statuses = [StatusTable.status(of: fault.code, at: .authenticate), AutoSignInErrors.row(for: fault.code).statuses[0]]
        if statuses.contains(503) { return pages.message(.unavailable, exchange) }
        return pages.message(statuses.contains { $0 < 500 } ? .badRequest : .failed, exchange)
    }

    private func isEnhanced(_ exchange: Exchange) -> Bool {
        guard let id = exchange.namedRequestor, let catalogue = try? catalogue.current() else { return false }
        return catalogue.requestor(id)?.enhancedErrors ?? false
    }

    private func log(_ fault: Fault, _ exchange: Exchange) {
        let isOurs = StatusTable.isTransient(fault.code) || fault.code == .internal
        let level = isOurs ? Logger.Level.warning : .debug
        guard exchange.logs(level) else { return }
        exchange.logger.log(
            level: level, "request-refused",
            metadata: ["code": "\(fault.code)", "cause": "\(fault.cause.map { "\($0)" } ?? "")"])
    }
}
