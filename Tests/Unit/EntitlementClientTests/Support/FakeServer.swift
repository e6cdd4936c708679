// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names of calls are those of client-sdk §1.2.

@testable import EntitlementClient
import Foundation
import Synchronization

/// A server of rest-v1 and rest-v2 for one device, in memory. It behaves well unless told otherwise, and writes down each call by its short name
/// (client-sdk §1.2). In rest-v2, AUN is the profile by its code or all profiles, META the profile of a provider.
final class FakeServer: HTTPTransport {
    enum Name: String, Sendable, CaseIterable {
        case REG, TOK, CFG, PRQ, EXC, AUN, RGC, LOG, TMP, AUZ, MED, PRE, META, OUT, OUTW
        case redeem, issue, stored, revoke
        case unknown
    }

    /// The event that replaces the usual answer to a call.
    enum Answer: Sendable {
        case response(HTTPResponse)
        case failure(TransportFailure)
        /// Never ends by itself.
        case hangs

        static func status(_ status: Int, _ json: String = "{}") -> Answer {
            .response(HTTPResponse(status: status, headers: [HTTPHeader("Content-Type", "application/json")], body: Data(json.utf8)))
        }

        static let unreachable = Answer.failure(TransportFailure(.unreachable, "no route"))
        static let captivePortal = Answer.response(
            HTTPResponse(status: 200, headers: [HTTPHeader("Content-Type", "text/html")], body: Data("<html>Welcome to our hotel</html>".utf8)))
    }

    struct Call: Sendable {
        let name: Name
        let request: HTTPRequest

        /// Query and form together.
        var parameters: [String: String] {
            let query = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.percentEncodedQuery ?? ""
            let form =
                request.header("Content-Type") == "application/x-www-form-urlencoded" ? String(decoding: request.body ?? Data(), as: UTF8.self) : ""
            var found: [String: String] = [:]
            for pair in (query.split(separator: "&") + form.split(separator: "&")) {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                found[String(parts[0])] = parts.count == 2 ? String(parts[1]).removingPercentEncoding : ""
            }
            return found
        }

        /// The resources of a decision of rest-v2.
        var resources: [String] { (try? JSONDecoder().decode([String: [String]].self, from: request.body ?? Data()))?["resources"] ?? [] }
        /// The path's last part.
        var subject: String { request.url.lastPathComponent }

        var json: [String: String] { (try? JSONDecoder().decode([String: String].self, from: request.body ?? Data())) ?? [:] }
    }

    struct Person: Sendable {
        var mvpd: String
        var userID = "guid-1"
        var expires: Date
        /// The type of the profile.
        var type = "regular"
        /// The device has read it: before, the person signs in with the code that the device gets next.
        var isRead = false
    }

    struct State: Sendable {
        var calls: [Call] = []
        var next: [Name: [Answer]] = [:]
        var always: [Name: Answer] = [:]
        var providers: [Provider] = []
        var domains = ["acme.example"]
        var session: Person?
        var metadata: [String: JSONValue] = ["userID": "user-1"]
        var encrypted: [String] = []
        var permits: Set<String>?
        var registrations = 0
        var tokens = 0
        var date: Date?
        /// Seconds for which codes are good.
        var codeLifetime = 1800.0
        var degraded: Set<String> = []
        /// The parameters with which the last login was begun, in rest-v2.
        var login: [String: String] = [:]
        /// Trials that want to know who the person is.
        var promotional: Set<String> = []
        /// Trials that are used up, by the code of the error.
        var usedUp: [String: String] = [:]
    }

    let host: String
    let clock: TestClock
    private let state = Mutex(State())

    init(_ host: String = "tv.example", clock: TestClock, providers: [Provider]) {
        (self.host, self.clock) = (host, clock)
        state.withLock { $0.providers = providers }
    }

    var url: URL { URL(string: "https://\(host)")! }
    var calls: [Call] { state.withLock { $0.calls } }
    var names: [Name] { calls.map(\.name) }
    /// Without registration and access token.
    var business: [Name] { names.filter { $0 != .REG && $0 != .TOK } }
    func calls(_ name: Name) -> [Call] { calls.filter { $0.name == name } }
    func forgetCalls() { state.withLock { $0.calls = [] } }
    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }
    func next(_ name: Name, _ answers: Answer...) { state.withLock { $0.next[name, default: []] += answers } }
    func always(_ name: Name, _ answer: Answer?) { state.withLock { $0.always[name] = answer } }

    /// The scrambled id of the person at a provider: version 2 does not tell it, and the library makes one.
    func guid(in version: RestVersion, at provider: String = "plain") -> String {
        version == .v1 ? "guid-1" : ScrambledID.make(provider, "guid-1")
    }

    /// The user metadata of that name: in version 2 it is the session's.
    func user(in version: RestVersion) -> String { version == .v1 ? "user-1" : "guid-1" }

    /// A person signs in with the device's code.
    func signIn(_ mvpd: String, lifetime: Double = 3600) {
        let expires = clock.now.addingTimeInterval(lifetime)
        state.withLock { $0.session = Person(mvpd: mvpd, expires: expires) }
    }

    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        let name = Self.name(request)
        let call = Call(name: name, request: request)
        let answer = state.withLock { state -> Answer? in
            state.calls.append(call)
            if state.next[name]?.isEmpty == false { return state.next[name]?.removeFirst() }
            return state.always[name]
        }
        await Task.yield()
        switch answer {
        case nil: return request.url.path.hasPrefix("/api/v2/") ? usualV2(call) : usual(call)
        case .response(let response): return response
        case .failure(let failure): throw failure
        case .hangs:
            // Ignores cancellation, as foreign code may.
            await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in hung.withLock { $0 += 1 } }
            throw CancellationError()
        }
    }

    let hung = Mutex(0)

    private static func name(_ request: HTTPRequest) -> Name {
        let path = request.url.path
        switch (request.method, path) {
        case (.post, "/o/client/register"): return .REG
        case (.post, "/o/client/token"): return .TOK
        case (.post, "/api/v1/tokens/authn"): return .EXC
        case (.get, "/api/v1/tokens/authn"): return .AUN
        case (.get, "/api/v1/authenticate"): return .LOG
        case (.post, "/api/v1/authenticate/freepreview"): return .TMP
        case (.get, "/api/v1/authorize"): return .AUZ
        case (.get, "/api/v1/tokens/media"): return .MED
        case (.get, "/api/v1/preauthorize"): return .PRE
        case (.get, "/api/v1/tokens/usermetadata"): return .META
        case (.delete, "/api/v1/logout"): return .OUT
        case (.get, "/api/v1/logout"): return .OUTW
        case (.post, "/auto-signin/v1/ACME1/redeem"): return .redeem
        case (.post, "/auto-signin/v1/ACME1/tokens"): return .issue
        case (.post, "/auto-signin/v1/ACME1/tokens/revoke"): return .revoke
        case (.post, "/auto-signin/v1/ACME1/tokens/family-1/stored"): return .stored
        case (.get, _) where path.hasPrefix("/api/v1/config/"): return .CFG
        case (.get, _) where path.contains("/profile-requests/"): return .PRQ
        case (.post, _) where path.hasSuffix("/regcode"): return .RGC
        default: return nameV2(request.method, path)
        }
    }

    private static func nameV2(_ method: HTTPRequest.Method, _ path: String) -> Name {
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count > 3, parts[0] == "api", parts[1] == "v2" else { return .unknown }
        if method == .get, parts[2] == "authenticate" { return .LOG }
        switch (method, parts[3], parts.count) {
        case (.get, "configuration", 4): return .CFG
        case (.post, "sessions", 4): return .RGC
        case (.post, "sessions", 6) where parts[4...] == ["sso", "Apple"]: return .PRQ
        case (.post, "profiles", 6) where parts[4...] == ["sso", "Apple"]: return .EXC
        case (.get, "profiles", 6) where parts[4] == "code": return .AUN
        case (.get, "profiles", 4): return .AUN
        case (.get, "profiles", 5): return .META
        case (.post, "decisions", 6) where parts[4] == "authorize": return .AUZ
        case (.post, "decisions", 6) where parts[4] == "preauthorize": return .PRE
        case (.get, "logout", 5): return .OUT
        default: return .unknown
        }
    }
}

extension [FakeServer.Name] {
    /// The calls of rest-v1 as rest-v2 makes them: it needs fewer.
    func said(in version: RestVersion) -> [FakeServer.Name] {
        guard version == .v2 else { return self }
        let shorter: [(v1: [FakeServer.Name], v2: [FakeServer.Name])] = [
            ([.RGC, .LOG, .AUN], [.META]), ([.RGC, .LOG], []), ([.TMP, .AUN], [.META]), ([.EXC, .AUN], [.EXC]), ([.AUN, .META], [.AUN]),
            ([.AUZ, .MED], [.AUZ]), ([.MED], [.AUZ]),
        ]
        var (rest, said) = (self[...], [FakeServer.Name]())
        while let first = rest.first {
            let rule = shorter.first { rest.starts(with: $0.v1) } ?? ([first], [first])
            rest = rest.dropFirst(rule.v1.count)
            said += rule.v2
        }
        return said
    }
}
