internal import Contracts
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

extension TestGateway {
    static let administrator: HTTPFields = [.authorization: "Bearer admin"]

    /// Sends JSON as an administrator.
    func administer(_ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, _ more: HTTPFields = [:]) async throws -> Reply {
        var headers = Self.administrator
        if body != nil { headers[.contentType] = "application/json" }
        for field in more { headers[field.name] = field.value }
        return try await send(method, "/admin/v1" + path, headers, body: body)
    }
}

extension Reply {
    /// The object under `error`.
    var failure: [String: Any] { json["error"] as? [String: Any] ?? [:] }
}
