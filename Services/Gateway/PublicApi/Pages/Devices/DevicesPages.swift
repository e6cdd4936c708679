internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// Where a person sees which devices sign in by themselves, and ends that (apple §1.2, "Revoke").
///
/// A browser gets here by Sign in with Apple, or by a link that an app made.
struct DevicesPages: Sendable {
    static let path = "/devices"

    let dependencies: Dependencies

    /// The last action, as the page's address tells it.
    enum Outcome: String, CaseIterable {
        case optedOut = "opted-out"
        case everywhere = "signed-out-everywhere"
        case signedOut = "signed-out"
        /// It was done before, or never was.
        case gone
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let cookie = DevicesCookie(dependencies.settings, exchange)
        let secret = cookie.value(in: exchange)
        guard !secret.isEmpty else { return try signInPage(exchange, outcome(exchange)) }
        let request = GetOptInStatusRequest(caller: Caller(who: .webSession(secret)))
        do {
            let status = try await dependencies.autoSignIn.getOptInStatus(request, context: exchange.call)
            let reader = dependencies.pages.reader(exchange)
            return dependencies.pages.render("devices", content(status, secret, outcome(exchange), reader.language), status: .ok, for: reader)
        } catch let fault as Fault where Self.isOver(fault) {
            var response = try signInPage(exchange, outcome(exchange))
            cookie.clear(in: &response)
            return response
        }
    }

    /// The page of a link. It spends nothing, because programs that preview links come here too.
    @Sendable func openLink(_ exchange: Exchange) async throws -> Response {
        dependencies.pages.render("devices-open", ["handle": try exchange.captured("handle")], status: .ok, for: dependencies.pages.reader(exchange))
    }

    @Sendable func open(_ exchange: Exchange) async throws -> Response {
        guard let handle = try? exchange.required("handle"), FormOrigin.isOwn(exchange) else { return refused(exchange) }
        do {
            let session = try await dependencies.autoSignIn.openWebLink(OpenWebLinkRequest(handle: handle), context: exchange.changingCall)
            var response = Response.redirect(to: Self.path)
            DevicesCookie(dependencies.settings, exchange).set(session, in: &response)
            return response
        } catch let fault as Fault where Self.isOver(fault) {
            return dependencies.pages.render("devices-open", ["isOver": true], status: .badRequest, for: dependencies.pages.reader(exchange))
        }
    }

    @Sendable func optOut(_ exchange: Exchange) async throws -> Response {
        try await act(exchange, .optedOut) { secret in
            let request = RevokeTokenRequest(
                caller: Caller(who: .webSession(secret)), familyID: try exchange.required("family"), reason: "opt_out",
                idempotencyKey: exchange.facts.requestID)
            _ = try await dependencies.autoSignIn.revokeToken(request, context: exchange.changingCall)
        }
    }

    @Sendable func signOutEverywhere(_ exchange: Exchange) async throws -> Response {
        try await act(exchange, .everywhere) { secret in
            let request = RevokeAllRequest(
                caller: Caller(who: .webSession(secret)), reason: "sign_out_everywhere", idempotencyKey: exchange.facts.requestID)
            _ = try await dependencies.autoSignIn.revokeAll(request, context: exchange.changingCall)
        }
    }

    @Sendable func signOut(_ exchange: Exchange) async throws -> Response {
        var response = try await act(exchange, .signedOut) { secret in
            _ = try await dependencies.autoSignIn.endWebSession(EndWebSessionRequest(webSession: secret), context: exchange.changingCall)
        }
        if response.status == .found { DevicesCookie(dependencies.settings, exchange).clear(in: &response) }
        return response
    }

    /// The person wants the new account that Sign in with Apple asked about.
    @Sendable func makeAccount(_ exchange: Exchange) async throws -> Response {
        guard FormOrigin.isOwn(exchange), let ticket = try? exchange.required("ticket"),
            let state = try? exchange.required("state")
        else { return refused(exchange) }
        let web = AppleWebEndpoints(dependencies: dependencies)
        let cookie = web.cookie(state: state, exchange)
        let request = CompleteWebSignInRequest(browserSecret: cookie.value(in: exchange) ?? "", ticket: ticket)
        return try await web.complete(request, cookie, exchange)
    }

    /// Does what a form asks, when it is one of ours and the session lives; then the page again, so that a reload repeats nothing.
    private func act(_ exchange: Exchange, _ outcome: Outcome, _ work: (_ secret: String) async throws -> Void) async throws -> Response {
        let secret = DevicesCookie(dependencies.settings, exchange).value(in: exchange)
        guard !secret.isEmpty, FormOrigin.isOwn(exchange),
            FormToken(secret: secret).isEqual(to: (try? exchange.value("token")) ?? "")
        else { return refused(exchange) }
        do { try await work(secret) } catch let fault as Fault where fault.code == .familyUnknown || Self.isOver(fault) {
            return .redirect(to: "\(Self.path)?done=\(Outcome.gone.rawValue)")
        }
        return .redirect(to: "\(Self.path)?done=\(outcome.rawValue)")
    }

    private func refused(_ exchange: Exchange) -> Response {
        dependencies.notices.page(.formRefused, exchange)
    }

    private func outcome(_ exchange: Exchange) -> Outcome? { (try? exchange.value("done")).flatMap { $0.flatMap(Outcome.init) } }

    /// The session or link is not known any more, and nothing else is wrong.
    private static func isOver(_ fault: Fault) -> Bool {
        [.authenticationSessionMissing, .authenticationSessionExpired, .stateInvalid].contains(fault.code)
    }

    private func signInPage(_ exchange: Exchange, _ outcome: Outcome?) throws -> Response {
        let catalogue = try dependencies.catalogue.current()
        let chosen = (try? exchange.value("requestor")) ?? nil
        let entries = catalogue.configuration.requestors.filter { requestor in
            Self.offersApple(catalogue.programmer(of: requestor)) && (chosen == nil || chosen == requestor.id)
        }.map { requestor in
            let returning = PercentEncoding.encode(Self.path)
            return [
                "name": requestor.name.isEmpty ? requestor.id : requestor.name,
                "address": "/apple/v1/\(PercentEncoding.encode(requestor.id))/web?returnUrl=\(returning)",
            ]
        }
        let content = Self.done(outcome).merging(["services": entries]) { first, _ in first }
        return dependencies.pages.render("devices-sign-in", content, status: .ok, for: dependencies.pages.reader(exchange))
    }

    private static func offersApple(_ programmer: Programmer?) -> Bool {
        (programmer?.appleTeams ?? []).contains { team in !team.signInKeyID.isEmpty && team.groups.contains { !$0.servicesIDs.isEmpty } }
    }

    private func content(_ status: OptInStatus, _ secret: String, _ outcome: Outcome?, _ language: PageLanguage) -> [String: Any] {
        let families = status.families.filter { $0.state != .revoked }.map { DeviceFamilyContent($0, language) }
        var content: [String: Any] = Self.done(outcome)
        content["token"] = FormToken(secret: secret).text
        if let requestor = try? dependencies.catalogue.current().requestor(status.requestor) {
            content["service"] = requestor.name.isEmpty ? requestor.id : requestor.name
        }
        if !status.givenName.isEmpty { content["name"] = status.givenName }
        if families.isEmpty { content["none"] = true } else { content["some"] = ["families": families.map(\.values)] }
        return content
    }

    private static func done(_ outcome: Outcome?) -> [String: Any] {
        guard let outcome else { return [:] }
        let key =
            switch outcome {
            case .optedOut: "optedOut"
            case .everywhere: "everywhere"
            case .signedOut: "signedOut"
            case .gone: "gone"
            }
        return ["done": [key: true]]
    }
}

/// One opt-in, as the template wants it.
struct DeviceFamilyContent {
    let values: [String: Any]

    init(_ family: TokenFamily, _ language: PageLanguage) {
        var values: [String: Any] = [
            "id": family.id, "label": Self.label(family.deviceLabel, language), "app": family.bundleID,
            "created": Self.date(family.createdAtMilliseconds, language),
        ]
        if family.lastUsedAtMilliseconds > 0 { values["used"] = Self.date(family.lastUsedAtMilliseconds, language) }
        if family.state == .pending { values["pending"] = true }
        if family.state == .absent { values["absent"] = true }
        let devices = family.devices.map { device in
            ["label": Self.label(device.label, language), "since": Self.date(device.signedInAtMilliseconds, language)]
        }
        if !devices.isEmpty { values["signedIn"] = ["devices": devices] }
        self.values = values
    }

    private static func label(_ label: String, _ language: PageLanguage) -> String {
        label.isEmpty ? language.text("devices.unnamed") : ShownText(label).text
    }

    /// A day in UTC: the pages know no time zone without a script.
    /// - Parameter milliseconds: Since 1970.
    static func date(_ milliseconds: UInt64, _ language: PageLanguage) -> String {
        let date = CivilDate(daysSince1970: Int(milliseconds / 86_400_000))
        return language.date((day: date.day, month: date.month, year: date.year))
    }
}

/// The cookie of a person's web session on the devices pages.
struct DevicesCookie: Sendable {
    let name: String
    private let rules: String

    /// Over HTTPS the cookie is always a secure one.
    init(_ settings: GatewaySettings, _ exchange: Exchange) {
        let isInsecure = settings.insecureCookies && !exchange.facts.isSecure
        name = isInsecure ? "boxoffice-devices" : "__Host-devices"
        rules = "Path=/; HttpOnly\(isInsecure ? "" : "; Secure"); SameSite=Lax"
    }

    /// - Returns: Empty when the browser sent none.
    func value(in exchange: Exchange) -> String {
        exchange.cookies.first { $0.name == name }?.value ?? ""
    }

    func set(_ session: WebSession, in response: inout Response) {
        append("\(name)=\(session.secret); Max-Age=\(session.expiresInSeconds)", to: &response)
    }

    func clear(in response: inout Response) { append("\(name)=; Max-Age=0", to: &response) }

    private func append(_ pair: String, to response: inout Response) {
        response.headers.append(.init(name: .setCookie, value: "\(pair); \(rules)"))
    }
}
