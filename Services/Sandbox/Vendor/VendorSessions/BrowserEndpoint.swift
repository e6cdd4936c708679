internal import SandboxKit
internal import Clocks

/// The addresses that people's browsers open: the start of a login, the MVPD's page, its logout (rest-v2 §2.5).
struct BrowserEndpoint: Sendable {
    static let page = "upstream-sign-in"
    private static let loginLifetime = Duration.seconds(900)

    let memory: VendorMemory
    let making: ProfileMaking
    let seal: Seal
    let pages: Pages

    /// `GET /api/v2/authenticate/{sp}/{code}`: leads to the MVPD's page, or under AuthNAll straight back (rest-v2 D11).
    func authenticate(_ call: VendorCall) throws -> VendorAnswer {
        let (pending, isDegraded): (PendingLogin, Bool) = try memory.access { state in
            guard let serviceProvider = state.catalogue.serviceProvider(call.parameter("sp")) else { throw VendorRefusal(.invalidServiceProvider) }
            let session = try state.sessions.session(call.parameter("code"), of: serviceProvider.id, at: call.now)
            guard session.finishedAt == nil, session.domainName != nil, let mvpd = session.mvpd, let address = session.redirectURL else {
                throw VendorRefusal(.invalidSession)
            }
            _ = try DeviceCaller.integration(mvpd, of: serviceProvider.id, state)
            let pending = PendingLogin(
                serviceProvider: serviceProvider.id, code: session.code, session: session.id, mvpd: mvpd, redirectURL: address)
            return (pending, state.rule(.authNAll, serviceProvider.id, mvpd, resource: nil, at: call.now) != nil)
        }
        if isDegraded { return .redirect(pending.redirectURL, outcome: "degraded") }
        return .redirect("/mvpd/\(pending.mvpd)/sign-in?state=\(try sealed(pending, call))", outcome: "login")
    }

    /// The MVPD's page, and what its form sends.
    func signIn(_ call: VendorCall) throws -> VendorAnswer {
        let isForm = call.method == "POST"
        guard let state = isForm ? call.field("state") : call.queryValue("state"),
            let pending = seal.open(state, as: PendingLogin.self, purpose: PendingLogin.purpose, at: call.now),
            pending.mvpd == call.parameter("mvpd")
        else { throw VendorRefusal(.invalidSession, details: "This login page is too old. Go back to the app and start again.") }
        guard isForm else { return try page(pending, call) }
        if call.field("action") == "cancel" { return .redirect(pending.redirectURL, outcome: "cancelled") }
        let name = call.field("username") ?? ""
        guard let person = making.authenticate(name, password: call.field("password") ?? "") else {
            return try page(pending, call, failedName: name)
        }
        return try finish(pending, person, call)
    }

    /// Where a logout leads (rest-v2 §2.11): no session of a browser is kept here.
    func mvpdLogout(_ call: VendorCall) throws -> VendorAnswer {
        let address = memory.access { state in
            call.queryValue("redirect_url").flatMap { address in
                state.catalogue.serviceProviders.lazy.compactMap { RedirectAddress.checked(address, for: $0) }.first
            }
        }
        guard let address, memory.access({ $0.catalogue.mvpd(call.parameter("mvpd"))?.hasLogout }) == true else {
            throw VendorRefusal(.invalidRedirectURL)
        }
        return .redirect(address, outcome: "signed-out")
    }

    /// Stores the profile of the session's device, then leads back; the profile can be read before the answer is sent (clients §4.5).
    private func finish(_ pending: PendingLogin, _ person: Person, _ call: VendorCall) throws -> VendorAnswer {
        try memory.access { state in
            var session = try state.sessions.session(pending.code, of: pending.serviceProvider, at: call.now)
            guard session.id == pending.session, session.finishedAt == nil else { throw VendorRefusal(.invalidSession) }
            let (_, integration) = try DeviceCaller.integration(pending.mvpd, of: pending.serviceProvider, state)
            let owner = ProfileOwner(client: session.client, device: session.device, serviceProvider: session.serviceProvider)
            state.profiles.set(
                making.profile(of: person, owner, integration, identities: session.identities, state.behaviour, at: call.now))
            session.mvpd = pending.mvpd
            session.state = .finished(at: call.now)
            state.sessions.change(session)
        }
        return .redirect(pending.redirectURL, outcome: "signed-in")
    }

    private func page(_ pending: PendingLogin, _ call: VendorCall, failedName: String? = nil) throws -> VendorAnswer {
        let name = memory.access { $0.catalogue.mvpd(pending.mvpd)?.displayName } ?? pending.mvpd
        let people = making.people.map { ["name": $0.name, "rights": $0.rights(outOf: making.channels)] }
        let values: [String: Any] = [
            "mvpd": name, "initial": String(name.prefix(1)), "id": pending.mvpd, "state": try sealed(pending, call), "people": people,
            "requestor": pending.serviceProvider, "failed": failedName != nil, "name": failedName ?? "",
        ]
        return .html(pages.text(Self.page, values), status: failedName == nil ? 200 : 422, outcome: failedName == nil ? "page" : "failed")
    }

    private func sealed(_ pending: PendingLogin, _ call: VendorCall) throws -> String {
        try seal.close(pending, purpose: PendingLogin.purpose, until: call.now + Self.loginLifetime)
    }
}

/// The memory of the MVPD's page about the session that a login is for.
struct PendingLogin: Sendable, Codable {
    static let purpose = "upstream-login"

    let serviceProvider: String
    let code: String
    /// The session's id: a code may be given out again.
    let session: String
    let mvpd: String
    /// Where a cancelled or late login leads.
    let redirectURL: String
}
