internal import Foundation
internal import Spans

extension Span {
    /// A request to somebody else's server; it gets no `traceparent`: what goes on here is not theirs to know.
    /// - Parameter url: Absolute. Only its scheme, host and port are said: path and query may hold what a person has sent.
    @inline(__always)
    static func outbound(_ method: String, _ url: String) -> Span? { part(.client, method, attributes(method, url)) }

    private static func attributes(_ method: String, _ url: String) -> [SpanAttribute] {
        var attributes = [SpanAttribute("http.request.method", .text(method))]
        guard let parts = URLComponents(string: url), let host = parts.host, let scheme = parts.scheme?.lowercased() else { return attributes }
        attributes.append(SpanAttribute("server.address", .text(host)))
        attributes.append(SpanAttribute("server.port", .integer(Int64(parts.port ?? (scheme == "http" ? 80 : 443)))))
        attributes.append(SpanAttribute("url.scheme", .text(scheme)))
        return attributes
    }

    func note(status: Int) {
        set("http.response.status_code", .integer(Int64(status)))
        if status >= 400 { fail(String(status)) }
    }
}
