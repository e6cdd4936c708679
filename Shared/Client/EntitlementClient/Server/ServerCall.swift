internal import Octets
internal import Foundation

/// A call, without what all calls carry.
struct ServerCall: Sendable, Hashable {
    var method: HTTPRequest.Method
    /// Already encoded.
    var path: String
    var query: [Parameter] = []
    var form: [Parameter]?
    var json: Data?
    /// Sent beside what all calls carry.
    var headers: [HTTPHeader] = []
    /// False for calls that a browser makes.
    var carriesBearer = true
    var timeout: Duration = .seconds(15)

    /// The call's address at a server.
    func url(at server: URL) -> URL? { Self.url(path + (query.isEmpty ? "" : "?\(FormEncoding.encode(query))"), at: server) }

    /// - Parameter reference: As a server writes it: absolute, or from its root.
    /// - Returns: `nil` for what is no address of a page.
    static func url(_ reference: String, at server: URL) -> URL? {
        guard reference.hasPrefix("/") else {
            let url = URL(string: reference)
            return ["http", "https"].contains(url?.scheme?.lowercased()) ? url : nil
        }
        var text = server.absoluteString
        while text.hasSuffix("/") { text.removeLast() }
        return URL(string: text + reference)
    }
}
