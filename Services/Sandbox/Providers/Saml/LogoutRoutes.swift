internal import SandboxKit
internal import Clocks
internal import Hummingbird

/// Single logout both ways: requests of the service provider, and of a person at the provider's own page (mvpd §2.7).
struct LogoutRoutes: Sendable {
    private static let largestForm = 256 * 1024

    let providers: [String: IdentityProvider]
    let clock: any WallClock
    let log: RequestLog
    let pages: Pages

    func add(to router: Router<SandboxContext>) {
        router.get("/saml/{mvpd}/slo") { request, context in
            try receive(context) { provider in
                try obey(provider.logoutReader.redirect(query: request.uri.query ?? "", at: clock.now()), provider, byForm: false)
            }
        }
        router.post("/saml/{mvpd}/slo") { request, context in
            let form = String(buffer: try await request.body.collect(upTo: Self.largestForm))
            return try receive(context) { provider in
                try obey(provider.logoutReader.post(form: form, at: clock.now()), provider, byForm: true)
            }
        }
        router.get("/saml/{mvpd}/logout") { request, context in
            try receive(context) { provider in try leave(request, provider) }
        }
        router.get("/saml/{mvpd}/plain-logout") { request, context in
            try receive(context) { provider in try plainly(request, provider) }
        }
    }

    /// Turns a refusal into the error page.
    private func receive(_ context: SandboxContext, _ handle: (IdentityProvider) throws -> Response) throws -> Response {
        guard let provider = providers[try context.parameters.require("mvpd")] else { throw HTTPError(.notFound) }
        log.count("slo", mvpd: provider.id)
        do {
            return try handle(provider)
        } catch let refusal as RequestRejection {
            note(provider, "refused", ["reason": refusal.code])
            let values = [
                "mvpd": provider.settings.displayName, "initial": provider.initial, "code": refusal.code, "explanation": refusal.explanation,
            ]
            return pages.html("error", values, status: .badRequest)
        }
    }

    private func obey(_ message: LogoutReader.Message, _ provider: IdentityProvider, byForm: Bool) throws -> Response {
        switch message {
        case .request(let request): return try end(request, provider, byForm: byForm)
        case .answer(let answer):
            guard provider.issuedNames.answered(answer.inResponseTo) else {
                throw RequestRejection("resp.request", "The answer is to no request of ours.")
            }
            note(provider, "answered", ["status": answer.status])
            return page(provider, "You are signed out", "The service answered: \(answer.status).")
        }
    }

    private func end(_ request: LogoutRequest, _ provider: IdentityProvider, byForm: Bool) throws -> Response {
        guard provider.subscribers.person(subject: request.nameID) != nil else {
            throw RequestRejection("subject.unknown", "Nobody here has that name.")
        }
        let issuer = provider.issuedNames.name(request.nameID)?.issuer ?? provider.settings.entityID
        provider.issuedNames.end(name: request.nameID, indexes: request.sessionIndexes)
        note(
            provider, "logged-out",
            [
                "issuer": request.issuer, "reasonURI": request.reason ?? "", "format": request.nameIDFormat ?? "",
                "nameQualifier": request.nameQualifier ?? "", "spNameQualifier": request.spNameQualifier ?? "",
                "indexes": "\(request.sessionIndexes.count)", "relayState": request.relayState == nil ? "absent" : "present",
            ])
        let answer = LogoutMessage.answer(
            request, from: issuer, status: "Success", provider: provider, identifier: RandomIdentifier.next(), now: clock.now())
        var response = try deliver(byForm ? answer.form() : answer.redirect(), answer.relayState, provider)
        response.headers[.setCookie] = SessionCookie.removal(provider)
        return response
    }

    /// A person signs out at the provider itself; with `binding=post` the service is told by a form.
    private func leave(_ http: Request, _ provider: IdentityProvider) throws -> Response {
        let now = clock.now()
        guard let cookie = http.headers[.cookie].flatMap({ SessionCookie.value(in: $0, of: provider.id) }),
            let session = SessionCookie.session(cookie, provider, at: now), let issued = provider.issuedNames.name(session: session.index)
        else { return page(provider, "Nobody is signed in", "There is nothing to sign out of.") }
        let fields = FormFields(encoded: http.uri.query ?? "")
        let message = LogoutMessage.request(
            issued, index: session.index, provider: provider, identifier: RandomIdentifier.next(), relayState: try fields.single("RelayState"),
            now: now)
        provider.issuedNames.asked(message.identifier)
        provider.issuedNames.end(name: issued.name, indexes: [session.index])
        note(provider, "asks", ["person": session.person])
        let byForm = try fields.single("binding") == "post"
        var response = try deliver(byForm ? message.form() : message.redirect(), message.relayState, provider)
        response.headers[.setCookie] = SessionCookie.removal(provider)
        return response
    }

    /// The address for service providers that know no SAML logout; `return` says where the browser goes then.
    private func plainly(_ http: Request, _ provider: IdentityProvider) throws -> Response {
        let end = try FormFields(encoded: http.uri.query ?? "").single("return") ?? ""
        note(provider, "plain-logout", [:])
        var response =
            end.isEmpty
            ? page(provider, "You are signed out", "You can close this page.") : Response(status: .found, headers: [.location: end])
        response.headers[.setCookie] = SessionCookie.removal(provider)
        return response
    }

    private func deliver(_ delivery: LogoutMessage.Delivery, _ relayState: String?, _ provider: IdentityProvider) throws -> Response {
        switch delivery {
        case .redirect(let url): return Response(status: .found, headers: [.location: url, .cacheControl: "no-store"])
        case .form(let field, let value):
            var values: [String: Any] = [
                "mvpd": provider.settings.displayName, "initial": provider.initial, "acs": provider.serviceProvider.logoutURL, "field": field,
                "response": value,
            ]
            if let relayState { values["relayState"] = ["value": relayState] }
            return pages.html("response", values)
        }
    }

    private func page(_ provider: IdentityProvider, _ title: String, _ text: String) -> Response {
        pages.html("signed-out", ["mvpd": provider.settings.displayName, "initial": provider.initial, "title": title, "text": text])
    }

    private func note(_ provider: IdentityProvider, _ outcome: String, _ fields: [String: String]) {
        log.note("slo", mvpd: provider.id, outcome: outcome, fields: fields, at: clock.now())
    }
}
