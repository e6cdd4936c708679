internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Admits people who are signed in to pages; a form must come from a page of the same session.
struct ConsoleAccess: Sendable {
    /// The field of forms that only a page of the session has.
    static let tokenField = "token"

    typealias Page = @Sendable (Exchange, Visitor) async throws -> Response

    /// The words of the refusal of pages for operators.
    static let operatorsAlone = "An operator can do it."

    let console: Console
    /// Everybody else gets the page of a role that does not allow it.
    private(set) var isForOperatorsAlone = false

    init(console: Console) { self.console = console }

    /// The same for pages of operators.
    var forOperators: ConsoleAccess {
        var access = self
        access.isForOperatorsAlone = true
        return access
    }

    func signedIn(_ page: @escaping Page) -> Route.Handler {
        { exchange in try await open(page, exchange) }
    }

    private func open(_ page: Page, _ exchange: Exchange) async throws -> Response {
        let cookie = ConsoleCookie(console.dependencies.settings, exchange)
        guard let secret = cookie.value(in: exchange) else { return arrival(exchange) ?? signIn(exchange) }
        let administrator: Administrator
        do {
            administrator = try await console.administration.getAdministrator(GetAdministratorRequest(token: secret), context: exchange.call)
        } catch let fault as Fault where fault.code == .accessDenied {
            var response = signIn(exchange)
            cookie.clear(in: &response)
            return response
        } catch {
            return try again(error, exchange, FormToken(secret: secret, purpose: "console"))
        }
        let visitor = Visitor(secret: secret, administrator: administrator)
        guard visitor.isOperator || !isForOperatorsAlone else { throw Fault(.insufficientRole, Self.operatorsAlone) }
        if exchange.method == .post {
            guard visitor.formToken.isEqual(to: (try? exchange.value(Self.tokenField)) ?? "") else {
                return carry(exchange, visitor.formToken, "stale", status: .forbidden)
            }
        }
        do { return try await page(exchange, visitor) } catch { return try again(error, exchange, visitor.formToken) }
    }

    /// The cookie stays at home when another site's link leads here: the page asks once more, by itself.
    private func arrival(_ exchange: Exchange) -> Response? {
        guard exchange.method == .get || exchange.method == .head, exchange.headers[.secFetchSite] == "cross-site" else { return nil }
        let content: [String: Any] = ["arriving": ["arrivingAddress": ConsoleAddress.own(exchange.target)], "title": "One moment"]
        return Console.html(console.dependencies.pages, "carry", content, status: .ok)
    }

    private func signIn(_ exchange: Exchange) -> Response {
        let pages = ConsoleSignInPages(console: console)
        guard let form = CarriedForm(exchange) else {
            return Console.seeOther(ConsoleSignInPages.address(returningTo: exchange.target))
        }
        return pages.page(exchange, returningTo: form.address, form: form, problem: .over)
    }

    /// A form that met a service which is away can be sent again as it is.
    private func again(_ error: any Error, _ exchange: Exchange, _ token: FormToken) throws -> Response {
        guard let fault = error as? Fault, fault.code.isTransient, exchange.method == .post else { throw error }
        var response = carry(exchange, token, "away", status: .serviceUnavailable)
        response.headers[.retryAfter] = "1"
        return response
    }

    private func carry(_ exchange: Exchange, _ token: FormToken, _ reason: String, status: HTTPResponse.Status) -> Response {
        guard let form = CarriedForm(exchange) else { return Console.seeOther(Console.path) }
        return Self.carry(form, token, reason, console.dependencies.pages, status: status)
    }

    /// - Parameter reason: Why the form is shown: a member of the template.
    static func carry(_ form: CarriedForm, _ token: FormToken, _ reason: String, _ pages: Pages, status: HTTPResponse.Status) -> Response {
        let content: [String: Any] = [
            "title": "Nothing is lost", reason: true, "form": ["formAddress": form.address, "hiddenFields": form.ownFields, "token": token.text],
        ]
        return Console.html(pages, "carry", content, status: status)
    }
}

/// The administrator who is signed in.
struct Visitor: Sendable {
    /// The session's secret, which stands for the bearer that opened it.
    let secret: String
    let administrator: Administrator

    var isOperator: Bool { administrator.role == .operator }

    /// Config also refuses the operations that are not offered here (dashboard #1).
    var mayEdit: Bool { administrator.role == .operator || administrator.role == .editor }

    var formToken: FormToken { FormToken(secret: secret, purpose: "console") }
}

/// The cookie of a session of the console.
///
/// Browsers tell ports of a host apart for pages and not for cookies. So its name has the port, and clusters on one machine do not sign each other
/// out.
struct ConsoleCookie: Sendable {
    let name: String
    /// False on plain HTTP, which only this machine's own browser may use.
    let isSecure: Bool
    private let rules: String

    init(_ settings: GatewaySettings, _ exchange: Exchange) {
        let origin = WebOrigin("\(exchange.facts.isSecure ? "https" : "http")://\(exchange.authority)")
        isSecure = exchange.facts.isSecure || !(origin?.isLoopback == true || settings.allowsPlainHTTP)
        let port = origin?.port.map { "-\($0)" } ?? ""
        name = (isSecure ? "__Host-console" : "boxoffice-console") + port
        rules = "Path=/; HttpOnly\(isSecure ? "; Secure" : ""); SameSite=Strict"
    }

    /// - Returns: `nil` unless the browser sent one.
    func value(in exchange: Exchange) -> String? {
        let value = exchange.cookies.first { $0.name == name }?.value
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Ends with the browser, and before that with the session.
    func set(_ session: OpenedSession, in response: inout Response) { append("\(name)=\(session.secret)", to: &response) }

    func clear(in response: inout Response) { append("\(name)=; Max-Age=0", to: &response) }

    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); \(rules)"))
    }
}
