internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Reports of usage, for programs of programmers: those of their own requestors.
struct UsageEndpoints: Sendable {
    static let root = "/esm/v3"
    /// The scope of an application that reads reports.
    private static let scope = "analytics:client"
    /// Parameters that are no dimensions.
    private static let reserved: Set<OctetText> = ["access_token", "end", "format", "limit", "metrics", "start"]

    let authentication: any Authentication
    let usage: any Usage

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let reader = try await reader(exchange)
        let format = try UsageFormat.chosen(
            suffix: exchange.facts.suffix, parameter: try exchange.value("format"), accept: exchange.headers[values: .accept])
        guard let format else { return UsageFace.reply(.notAcceptable, "Reports are JSON, XML, CSV or HTML.") }
        let query = try query(exchange, of: reader)
        let report = try await usage.queryUsage(query, context: exchange.call)
        return UsageDocument(report: report, query: query).response(as: format)
    }

    /// The caller is checked before the query.
    private func reader(_ exchange: Exchange) async throws -> VerifiedClient {
        let request = VerifyAccessTokenRequest(accessToken: try Bearer.required(exchange), scope: Self.scope)
        let client = try await authentication.verifyAccessToken(request, context: exchange.call)
        // A release of the service that does not know the field has looked for another scope.
        guard client.scopes.contains(Self.scope) else { throw Fault(.insufficientScope, "The access token is not for reports.") }
        return client
    }

    private func query(_ exchange: Exchange, of reader: VerifiedClient) throws -> UsageQuery {
        let path = exchange.facts.path.dropFirst(Self.root.utf8.count).split(separator: "/").map(String.init)
        return UsageQuery(
            requestorIDs: reader.requestorIDs, path: path, filters: Self.filters(try exchange.allParameters()),
            start: try exchange.value("start") ?? "",
            end: try exchange.value("end") ?? "",
            metrics: try exchange.all("metrics").flatMap { $0.split(separator: ",").map(String.init) }, limit: try Self.limit(exchange))
    }

    /// `name=value`, `name!=value`, each as often as there are values, and the bare `name`.
    private static func filters(_ parameters: [(name: String, value: String)]) -> [UsageFilter] {
        var filters: [UsageFilter] = []
        for parameter in parameters where !reserved.contains(parameter.name) {
            let isExcluding = parameter.name.utf8.last == UInt8(ascii: "!")
            let name = isExcluding ? String(parameter.name.dropLast()) : parameter.name
            let values = parameter.value.isEmpty && !isExcluding ? [] : [parameter.value]
            let known = filters.firstIndex { $0.dimension == name && $0.isExcluding == isExcluding && !$0.values.isEmpty }
            if let known, !values.isEmpty {
                filters[known].values += values
            } else {
                filters.append(UsageFilter(dimension: name, values: values, isExcluding: isExcluding))
            }
        }
        return filters
    }

    private static func limit(_ exchange: Exchange) throws(Fault) -> UInt32 {
        guard let text = try exchange.value("limit"), !text.isEmpty else { return 0 }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let limit = UInt32(text), limit > 0 else {
            throw Fault(.invalidRequest, "Parameter 'limit' must be a number of rows, from 1 on.")
        }
        return limit
    }
}

/// The face of reports of usage: why there is none, in words for whoever asked (rest-v2 §7).
struct UsageFace: Face {
    private static let contentType = "text/plain; charset=utf-8"

    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        switch fault.code {
        case .accessDenied, .invalidClient: Self.reply(.unauthorized, "The access token is missing, over, or not accepted.")
        case .insufficientScope: Self.reply(.forbidden, "The access token is not for reports of usage.")
        case .notFound: Self.reply(.notFound, fault.message)
        case .invalidRequest: Self.reply(.badRequest, fault.message)
        case let code where code == .unimplemented || code.isTransient:
            Self.reply(.serviceUnavailable, "The service is temporarily unavailable.")
        default: Self.reply(.internalServerError, "An internal fault occurred.")
        }
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response { Self.reply(problem.status, problem.status.reasonPhrase) }

    func methodNotAllowed(_ exchange: Exchange) -> Response { Self.reply(.methodNotAllowed, "Only GET is served here.") }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { Self.reply(.notFound, "There is no such address.") }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        (.unstored(Self.contentType), ByteBuffer(string: OverloadedRequest.message))
    }

    static func reply(_ status: HTTPResponse.Status, _ message: String) -> Response {
        var response = Response(text: message + "\n", type: contentType, cacheControl: "no-store")
        response.status = status
        if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }
}
