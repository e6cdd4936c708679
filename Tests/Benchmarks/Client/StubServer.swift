import EntitlementClient
import Foundation
import Synchronization

/// A server in memory that costs as little as it can: the device's code is never used, unless a session is given.
final class StubServer: HTTPTransport {
    private struct State {
        var calls: [String] = []
        var keepsCalls = true
        var polls = 0
        var hasSession = false
        var whenPolled: (@Sendable (Int) -> Void)?
    }

    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }
    func forgetCalls(keeping: Bool = true) { state.withLock { ($0.calls, $0.keepsCalls) = ([], keeping) } }
    func signIn() { state.withLock { $0.hasSession = true } }
    /// - Parameter action: Called with the number of each poll, from 1.
    func whenPolled(_ action: @escaping @Sendable (Int) -> Void) { state.withLock { $0.whenPolled = action } }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let path = request.url.path
        let isPoll = request.method == .get && path == "/api/v1/tokens/authn"
        let (hasSession, polls, action) = state.withLock { state in
            if state.keepsCalls { state.calls.append("\(request.method.rawValue) \(path)") }
            if isPoll { state.polls += 1 }
            return (state.hasSession, state.polls, isPoll ? state.whenPolled : nil)
        }
        action?(polls)
        if isPoll, !hasSession { return HTTPResponse(status: 404, body: Data(#"{"status":404,"message":"Not Found"}"#.utf8)) }
        return Self.answer(path, isPoll: isPoll)
    }

    private static func answer(_ path: String, isPoll: Bool) -> HTTPResponse {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        switch path {
        case "/o/client/register": return json(201, #"{"client_id":"c","client_secret":"s"}"#)
        case "/o/client/token": return json(201, #"{"access_token":"t","expires_in":2592000}"#)
        case "/api/v1/tokens/authn" where isPoll:
            return json(200, #"{"mvpd":"plain","userId":"u","requestor":"ACME1","expires":"\#(now + 3_600_000)"}"#)
        case "/api/v1/tokens/usermetadata": return json(200, #"{"updated":1,"encrypted":[],"data":{"userID":"u"}}"#)
        case "/reggie/v1/ACME1/regcode":
            return json(201, #"{"code":"QK7M2XD","generated":\#(now),"expires":\#(now + 36_000_000)}"#)
        case "/api/v1/config/ACME1":
            return json(
                200,
                #"{"requestor":{"id":"ACME1","name":"Acme","domains":[{"name":"acme.example"}],"mvpds":[{"id":"plain","displayName":"Plain"}]}}"#)
        default: return HTTPResponse(status: 404)
        }
    }

    private static func json(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: Data(text.utf8))
    }
}
