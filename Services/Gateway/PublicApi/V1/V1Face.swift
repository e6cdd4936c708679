internal import Catalogue
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// The face of the v1 API (rest-v1 §2.8): the plain form, or the enhanced one for requestors that chose it. Where a sign-in begins, a person's browser
/// gets a page instead, with the same status and code.
struct V1Face: Face {
    private let catalogue: any CatalogueSource
    private let notices: NoticePages
    /// When the gateway has no time nobody looks the requestor up: the plain form.
    private let overloaded: [ReplyFormat: ByteBuffer]

    init(_ catalogue: any CatalogueSource, _ notices: NoticePages) {
        (self.catalogue, self.notices) = (catalogue, notices)
        let document = ErrorDocument.plain(status: 503, message: OverloadedRequest.message, details: nil)
        overloaded = [.json: document.body(.json), .xml: document.body(.xml)]
    }

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        if BearerRejection.isOne(error) { return bearerReply(fault, exchange) }
        return Self.isOpenedByPerson(exchange) ? page(fault, exchange) : reply(fault, at: Self.endpoint(exchange), exchange)
    }

    /// True where a person's browser has opened the address at which a sign-in begins.
    private static func isOpenedByPerson(_ exchange: Exchange) -> Bool { endpoint(exchange) == .authenticate && PageNavigation.isOne(exchange) }

    private func page(_ fault: Fault, _ exchange: Exchange) -> Response {
        let fault = Self.told(fault, at: .authenticate)
        if fault.code == .tooManyRequests { return notices.pause(seconds: Int(fault.retrySeconds), exchange) }
        let status = StatusTable.status(of: fault.code, at: .authenticate)
        let notice: Pages.Notice = status == 503 ? .unavailable : status < 500 ? BrowserFace.notice(fault.code) : .failed
        let code = ErrorTable.row(for: fault.code, at: .authenticate, status: status).code
        return notices.page(notice, code: code, status: HTTPResponse.Status(code: status), exchange)
    }

    func paused(seconds: Int, _ exchange: Exchange) -> Response {
        Self.isOpenedByPerson(exchange) ? notices.pause(seconds: seconds, exchange) : .tooManyRequests(retryAfter: seconds)
    }

    private static func endpoint(_ exchange: Exchange) -> Endpoint {
        if case .api(let endpoint) = exchange.audience { endpoint } else { .config }
    }

    private func reply(_ fault: Fault, at endpoint: Endpoint, _ exchange: Exchange) -> Response {
        let fault = Self.told(fault, at: endpoint)
        // Not in the table of codes: apps know a 429 by its status, in the one form that it has (rest-v1 §2.7).
        if fault.code == .tooManyRequests { return .tooManyRequests(retryAfter: Int(fault.retrySeconds)) }
        let status = StatusTable.status(of: fault.code, at: endpoint, resourceIsAbsent: exchange.lacks("resource"))
        return reply(
            ErrorTable.row(for: fault.code, at: endpoint, status: status), status: HTTPResponse.Status(code: status),
            message: ErrorTexts.message(fault, at: endpoint, status: status), details: fault.details, exchange)
    }

    /// The facts about a code that a caller is told. Only we know that it is spent. A caller who asks by a code for a signed-in person learns only
    /// that there is none (rest-v1 §3.10, §3.17).
    private static func told(_ fault: Fault, at endpoint: Endpoint) -> Fault {
        guard [.invalidRegistrationCode, .registrationCodeSpent].contains(fault.code) else { return fault }
        return switch endpoint {
        case .checkAuthnByCode, .preauthorize, .sdkSession: Fault(.authenticationSessionMissing, "User not authenticated", cause: fault)
        default: Fault(.invalidRegistrationCode, fault.message, cause: fault)
        }
    }

    private func reply(_ row: ErrorTable.Row, status: HTTPResponse.Status, message: String, details: String?, _ exchange: Exchange) -> Response {
        guard isEnhanced(exchange) else {
            return Response(ErrorDocument.plain(status: status.code, message: message, details: details), format: exchange.format, status: status)
        }
        let listed = row.statuses.contains(status.code) ? status.code : row.statuses[0]
        let document = ErrorDocument.enhanced(
            action: row.action, status: listed, code: row.code, message: message, details: details, help: exchange.facts.host.help(row.code),
            trace: exchange.facts.trace.traceID)
        return Response(document, format: exchange.format, status: status)
    }

    /// Always JSON (rest-v1 §2.2).
    private func bearerReply(_ fault: Fault, _ exchange: Exchange) -> Response {
        let status = BearerRejection.status(fault.code)
        var members = [Document.Member("error", .text(fault.code.rawValue))]
        if isEnhanced(exchange) {
            let code = BearerRejection.enhancedCode(fault.code)
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

    private func isEnhanced(_ exchange: Exchange) -> Bool {
        guard let id = exchange.namedRequestor, let catalogue = try? catalogue.current() else { return false }
        return catalogue.requestor(id)?.enhancedErrors ?? false
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        // Nothing that large is a fingerprint or a stored token (clients #39, #42).
        let isNoToken = problem == .tooLarge && Self.takersOfTokens.contains(Self.endpoint(exchange))
        let status = isNoToken ? .badRequest : problem.status
        return reply(ErrorTable.internalError, status: status, message: status.reasonPhrase, details: nil, exchange)
    }

    /// The calls whose body is a fingerprint, or a token that the app keeps.
    private static let takersOfTokens: Set<Endpoint> = [.sdkDevices, .sdkDecision, .sdkStored]

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        if Self.isOpenedByPerson(exchange) { return notices.page(.methodNotAllowed, exchange) }
        return reply(ErrorTable.internalError, status: .methodNotAllowed, message: "Method Not Allowed", details: nil, exchange)
    }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let format = ReplyFormat(suffix: request.suffix, parameter: nil, accept: request.accept)
        return (.unstored(format.contentType), overloaded[format] ?? ByteBuffer())
    }
}
