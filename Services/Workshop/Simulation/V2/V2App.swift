internal import CommandKit
internal import Foundation
internal import TextEncodings

/// The calls of an app on REST v2 (rest-v2 §2), of an app that is registered.
package struct V2App: Sendable {
    /// The facts in a call about the device or the person beside its id (rest-v2 §1.3).
    struct Identity: Sendable {
        /// `Adobe-Subject-Token`
        var platformToken: String?
        /// `AD-Service-Token`
        var serviceToken: String?
        /// `AP-Partner-Framework-Status`, as JSON.
        var partnerStatus: String?
        /// `AP-TempPass-Identity`, as JSON.
        var trialIdentity: String?
    }

    /// The parameters that a sign-in needs (rest-v2 §2.2); `nil`: another app supplies them.
    package struct SignIn: Sendable {
        var mvpd: String?
        var domainName: String?
        var redirectURL: String?

        package init(mvpd: String? = nil, domainName: String? = nil, redirectURL: String? = nil) {
            (self.mvpd, self.domainName, self.redirectURL) = (mvpd, domainName, redirectURL)
        }

        fileprivate var form: String {
            let fields = [("mvpd", mvpd), ("domainName", domainName), ("redirectUrl", redirectURL)]
            return FormEncoding.encode(fields.compactMap { field in field.1.map { (field.0, $0) } })
        }
    }

    package let app: StreamingApp
    var identity = Identity()

    package init(app: StreamingApp) { self.app = app }

    init(app: StreamingApp, identity: Identity) { (self.app, self.identity) = (app, identity) }

    var requestor: String { app.requestor }

    func configuration() async throws -> V2.Configuration { try await get("configuration") }

    package func createSession(_ signIn: SignIn) async throws -> V2.Session { try await post("sessions", form: signIn.form) }

    func resumeSession(_ code: String, _ signIn: SignIn) async throws -> V2.Session {
        try await post("sessions/\(FormEncoding.encode(code))", form: signIn.form)
    }

    func session(_ code: String) async throws -> V2.SessionRecord { try await get("sessions/\(FormEncoding.encode(code))") }

    func profiles() async throws -> [String: V2.Profile] { (try await get("profiles") as V2.Profiles).profiles }

    func profile(at mvpd: String) async throws -> V2.Profile? {
        (try await get("profiles/\(FormEncoding.encode(mvpd))") as V2.Profiles).profiles[mvpd]
    }

    /// The one that came of a code.
    func profile(code: String) async throws -> (mvpd: String, profile: V2.Profile)? {
        (try await get("profiles/code/\(FormEncoding.encode(code))") as V2.Profiles).profiles.first.map { ($0.key, $0.value) }
    }

    package func authorize(_ resource: String, at mvpd: String) async throws -> V2.Decision {
        guard let decision = try await decide("authorize", [resource], mvpd).first else { throw Self.unexpected("no decision for \(resource)") }
        return decision
    }

    func preauthorize(_ resources: [String], at mvpd: String) async throws -> [V2.Decision] { try await decide("preauthorize", resources, mvpd) }

    func logout(at mvpd: String, redirectURL: String) async throws -> V2.Logouts.Logout {
        let query = FormEncoding.encode([("redirectUrl", redirectURL)])
        guard let logout = (try await get("logout/\(FormEncoding.encode(mvpd))?\(query)") as V2.Logouts).logouts[mvpd] else {
            throw Self.unexpected("a logout without \(mvpd)")
        }
        return logout
    }

    func createPartnerSession(_ partner: String, _ signIn: SignIn) async throws -> V2.Session {
        try await post("sessions/sso/\(partner)", form: signIn.form)
    }

    /// - Parameter response: The MVPD's answer, Base64.
    func createPartnerProfile(_ partner: String, response: String) async throws -> [String: V2.Profile] {
        let answer: V2.Profiles = try await post("profiles/sso/\(partner)", form: FormEncoding.encode([("SAMLResponse", response)]))
        return answer.profiles
    }

    /// The token of a programmer's own service (rest-v2 §2.14).
    /// - Parameter person: The service's id of the person.
    func serviceToken(for person: String) async throws -> String { try await serviceToken(("X-SSO-ID", person)) }

    /// The same for whoever has made a code.
    func serviceToken(by link: String) async throws -> String { try await serviceToken(("X-SSO-LINK", link)) }

    private func serviceToken(_ header: (String, String)) async throws -> String {
        let answer = try await app.send("POST", "/api/\(FormEncoding.encode(requestor))/serviceToken", headers: device + [header])
        return (try Self.read(answer, "asking for a service token") as V2.ServiceToken).serviceToken
    }

    /// By which another device joins the person of this one's service token.
    func linkCode() async throws -> String {
        let answer = try await app.send("POST", "/api/\(FormEncoding.encode(requestor))/link", headers: device)
        return (try Self.read(answer, "asking for a link code") as V2.ServiceLink).code
    }

    // MARK: - Requests

    package static func path(_ requestor: String, _ rest: String) -> String { "/api/v2/\(FormEncoding.encode(requestor))/\(rest)" }

    private func decide(_ kind: String, _ resources: [String], _ mvpd: String) async throws -> [V2.Decision] {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: ["resources": resources]), as: UTF8.self)
        let answer = try await send(
            "POST", "decisions/\(kind)/\(FormEncoding.encode(mvpd))", [("Content-Type", "application/json;charset=utf-8")], body)
        return (try Self.read(answer, kind) as V2.Decisions).decisions
    }

    private func get<Answer: Decodable>(_ rest: String) async throws -> Answer {
        try Self.read(try await send("GET", rest), "GET \(rest.prefix { $0 != "?" })")
    }

    private func post<Answer: Decodable>(_ rest: String, form: String) async throws -> Answer {
        let answer = try await send("POST", rest, [("Content-Type", "application/x-www-form-urlencoded")], form)
        return try Self.read(answer, "POST \(rest)")
    }

    private func send(_ method: String, _ rest: String, _ headers: [(String, String)] = [], _ body: String? = nil) async throws -> HTTPAnswer {
        try await app.send(method, Self.path(requestor, rest), headers: headers + device, body: body)
    }

    /// The headers that name device and person; endpoints ignore those that they do not use.
    private var device: [(String, String)] {
        var headers = [app.deviceIdentifier]
        if let token = identity.platformToken { headers.append(("Adobe-Subject-Token", token)) }
        if let token = identity.serviceToken { headers.append(("AD-Service-Token", token)) }
        if let status = identity.partnerStatus { headers.append(("AP-Partner-Framework-Status", Data(status.utf8).base64EncodedString())) }
        if let person = identity.trialIdentity { headers.append(("AP-TempPass-Identity", Data(person.utf8).base64EncodedString())) }
        return headers
    }

    private static func read<Answer: Decodable>(_ answer: HTTPAnswer, _ what: String) throws -> Answer {
        let decoder = JSONDecoder()
        guard (200..<300).contains(answer.status) else {
            let body = Data(answer.body)
            let failure = try? decoder.decode(V2.Failure.self, from: body)
            if let failure = failure ?? (try? decoder.decode(V2.WrappedFailure.self, from: body).error) { throw V2Refusal(failure, what) }
            throw DeviceFailure(.unreachable, nil, "\(what) was answered \(answer.status), without an error of REST v2")
        }
        do {
            return try decoder.decode(Answer.self, from: Data(answer.body))
        } catch {
            throw unexpected("\(what): \(PlainReason.of(error))")
        }
    }

    /// The answer is not as the documents have it.
    static func unexpected(_ what: String) -> DeviceFailure { DeviceFailure(.unreachable, nil, "not what REST v2 answers: \(what)") }
}

/// An error of REST v2 in place of an answer.
struct V2Refusal: Error, CustomStringConvertible {
    let failure: V2.Failure
    let description: String

    init(_ failure: V2.Failure, _ what: String) {
        self.failure = failure
        description = "\(what) was refused: \(failure.reason)"
    }

    /// A command that met it ends in this way.
    var exit: CommandExit {
        switch failure.action {
        case "application-registration", "configuration": .configuration
        case "retry": .unreachable
        default: failure.status >= 500 ? .unreachable : .refused
        }
    }
}

extension V2.Failure {
    /// The code, and the words of the MVPD or the operator, else the servers'.
    package var reason: String { "\(code) (\(details ?? message))" }
}
