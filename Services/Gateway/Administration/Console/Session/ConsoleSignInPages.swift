internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// An administrator begins and ends a session here.
struct ConsoleSignInPages: Sendable {
    static let path = Console.address("sign-in")
    /// A form whose sender has signed in on another page goes on here.
    static let resumePath = path + "/resume"

    enum Problem: String {
        /// The session of the page before.
        case over
        case unknownToken
        case noReader
        case signedOut
    }

    let console: Console

    static func address(returningTo target: String) -> String {
        let own = ConsoleAddress.own(target)
        return own == Console.path ? path : Console.address("sign-in", query: ["to": own])
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let isEnd = try exchange.value("ended") != nil
        return page(exchange, returningTo: try exchange.value("to") ?? "", form: nil, problem: isEnd ? .signedOut : nil)
    }

    @Sendable func signIn(_ exchange: Exchange) async throws -> Response {
        let target = ConsoleAddress.own(try exchange.value("to") ?? "")
        let form = CarriedForm(signIn: exchange)
        // An address would keep it.
        let typed = try exchange.sentInBody("bearer").first ?? ""
        let bearer = typed.trimmed
        let request = OpenSessionRequest(token: bearer, client: exchange.facts.clientAddress.text)
        let session: OpenedSession
        do { session = try await console.administration.openSession(request, context: exchange.changingCall) } catch let fault as Fault {
            guard let problem = Self.problem(fault.code) else { throw fault }
            return page(exchange, returningTo: target, form: form, problem: problem)
        }
        let token = FormToken(secret: session.secret, purpose: "console")
        var response =
            form.map { ConsoleAccess.carry($0, token, "signedInAgain", console.dependencies.pages, status: .ok) } ?? Console.seeOther(target)
        ConsoleCookie(console.dependencies.settings, exchange).set(session, in: &response)
        return response
    }

    /// A form that met an expired session, when its sender has signed in elsewhere in the browser, as at the identity provider.
    @Sendable func resume(_ exchange: Exchange) async throws -> Response {
        let target = ConsoleAddress.own(try exchange.value("to") ?? "")
        guard let form = CarriedForm(signIn: exchange) else { return Console.seeOther(target) }
        let again = { page(exchange, returningTo: target, form: form, problem: .over) }
        guard let secret = ConsoleCookie(console.dependencies.settings, exchange).value(in: exchange) else { return again() }
        do { _ = try await console.administration.getAdministrator(GetAdministratorRequest(token: secret), context: exchange.call) } catch let fault
            as Fault where fault.code == .accessDenied
        { return again() }
        return ConsoleAccess.carry(form, FormToken(secret: secret, purpose: "console"), "signedInAgain", console.dependencies.pages, status: .ok)
    }

    @Sendable func signOut(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        _ = try await console.administration.endSession(EndSessionRequest(token: visitor.secret), context: exchange.changingCall)
        var response = Console.seeOther(Console.address("sign-in", query: ["ended": "1"]))
        ConsoleCookie(console.dependencies.settings, exchange).clear(in: &response)
        return response
    }

    /// - Parameter form: The form that is sent after the sign-in; its fields go along.
    func page(_ exchange: Exchange, returningTo target: String, form: CarriedForm?, problem: Problem?) -> Response {
        var content: [String: Any] = [
            "title": "Sign in", "to": ConsoleAddress.own(target), "signInAddress": Self.path,
            "hiddenFields": form?.carriedFields ?? [], "isCarrying": form != nil,
        ]
        if let provider = console.provider {
            content["provider"] = [
                "providerName": provider.settings.name,
                "providerAddress": ProviderSignInPages.address(returningTo: form == nil ? target : Console.path),
                // A page of its own, as this one has what was typed.
                "staysOpen": form != nil, "resumeAddress": Self.resumePath, "resumeTo": ConsoleAddress.own(target),
                "resumeFields": form?.carriedFields ?? [],
            ]
        }
        if let problem { content[problem.rawValue] = true }
        if !ConsoleCookie(console.dependencies.settings, exchange).isSecure { content["isPlain"] = true }
        let isFailure = problem == .unknownToken || problem == .noReader || problem == .over
        return Console.html(console.dependencies.pages, "sign-in", content, status: isFailure ? .forbidden : .ok)
    }

    private static func problem(_ code: Fault.Code) -> Problem? {
        switch code {
        case .accessDenied: .unknownToken
        case .insufficientRole: .noReader
        default: nil
        }
    }
}

/// A form whose sender has to sign in again, or to send it again: what was typed goes along, so that nothing is lost.
struct CarriedForm {
    private static let prefix = "carried."
    private static let target = "to"

    /// It is sent here.
    let address: String
    let fields: [(name: String, value: String)]

    /// The form that a request brought.
    init?(_ exchange: Exchange) {
        guard exchange.method == .post, let sent = try? exchange.allParameters() else { return nil }
        address = ConsoleAddress.own(exchange.target)
        fields = sent.filter { $0.name != ConsoleAccess.tokenField }
    }

    /// The one that went along with a sign-in.
    init?(signIn exchange: Exchange) {
        guard let sent = try? exchange.allParameters(), sent.contains(where: { $0.name.hasPrefix(Self.prefix) }) else { return nil }
        address = ConsoleAddress.own(sent.first { $0.name == Self.target }?.value ?? "")
        fields = sent.filter { $0.name.hasPrefix(Self.prefix) }.map { (String($0.name.dropFirst(Self.prefix.count)), $0.value) }
    }

    /// As fields of the form that carries it.
    var carriedFields: [[String: String]] {
        fields.map { ["hiddenName": Self.prefix + $0.name, "hiddenValue": $0.value] }
    }

    /// As fields of a form that sends it.
    var ownFields: [[String: String]] { fields.map { ["hiddenName": $0.name, "hiddenValue": $0.value] } }
}

/// The sessions that an administrator may end.
struct SessionsPage: Sendable {
    let console: Console

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let list = try await console.administration.listSessions(ListSessionsRequest(token: visitor.secret), context: exchange.call)
        let rows = list.sessions.map { session -> [String: Any] in
            [
                "sessionId": session.id, "sessionName": session.name, "sessionClient": session.client.isEmpty ? "–" : session.client,
                "openedAt": DisplayedTime(milliseconds: session.openedAtMilliseconds).text,
                "usedAt": DisplayedTime(milliseconds: session.usedAtMilliseconds).text,
                "endsAt": DisplayedTime(milliseconds: session.endsAtMilliseconds).text, "isOwn": session.isOwn,
            ]
        }
        let content: [String: Any] = ["sessions": rows, "hasEnded": try exchange.value("ended") != nil]
        return await console.page("sessions", "Sessions", in: .sessions, content, for: visitor, exchange)
    }

    @Sendable func end(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let request = EndSessionRequest(token: visitor.secret, id: try exchange.required("id"))
        // One that is over already needs no end.
        do { _ = try await console.administration.endSession(request, context: exchange.changingCall) } catch let fault as Fault
            where fault.code == .notFound
        {}
        return Console.seeOther(Console.address("sessions", query: ["ended": "1"]))
    }
}
