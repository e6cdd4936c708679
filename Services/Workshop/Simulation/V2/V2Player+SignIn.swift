internal import EntitlementClient
internal import Foundation

/// Flows A to G: sign in, look, ask, sign out.
extension V2Player {
    /// A.
    func playOwnBrowser() async throws {
        let app = try await app()
        let before = try await step({ $0.isEmpty ? "Nobody is signed in" : "Signed in at \($0.keys.sorted().joined(separator: ", "))" }) {
            try await app.profiles()
        }
        if before[mvpd] == nil { try await signIn(app) }
        try await watch(app)
    }

    /// B.
    func playSecondScreen() async throws {
        let (app, page) = (try await app(), try await self.app(UUID().uuidString))
        let domain = try domain(try await configuration(app))
        let end = "https://\(domain)/signed-in"
        let session = try await app.createSession(V2App.SignIn(mvpd: mvpd, domainName: domain, redirectURL: end))
        let (code, url) = try Self.interactive(session)
        try await present(session, code, url, app)
        try await step("The page knows the code, and for which provider") {
            let record = try await page.session(code)
            try Self.require(
                record.existingParameters.mvpd == mvpd && record.missingParameters?.isEmpty ?? true, "a session that lacks what was sent")
        }
        try await finish(url, end, code, app)
    }

    /// C.
    func playSecondScreenThatChooses() async throws {
        let (app, page) = (try await app(), try await self.app(UUID().uuidString))
        let session = try await app.createSession(V2App.SignIn())
        try Self.require(
            session.actionName == .resume && Set(session.missingParameters ?? []) == ["mvpd", "domainName", "redirectUrl"],
            "a session of nothing with \(session.actionName.rawValue), missing \(session.missingParameters ?? [])")
        guard let code = session.code else { throw V2App.unexpected("a session to resume without a code") }
        try await present(session, code, nil, app)
        let domain = try domain(try await configuration(page))
        let end = "https://\(domain)/signed-in"
        let half = try await step({ "The page chose \(mvpd); it still has to say \(($0.missingParameters ?? []).joined(separator: " and "))" }) {
            try await page.resumeSession(code, V2App.SignIn(mvpd: mvpd))
        }
        try Self.require(half.actionName == .retry && half.code == code, "an incomplete session with \(half.actionName.rawValue)")
        let whole = try await page.resumeSession(code, V2App.SignIn(domainName: domain, redirectURL: end))
        try await finish(try Self.interactive(whole).url, end, code, app)
    }

    /// Shows the code, and asks once in vain.
    private func present(_ session: V2.Session, _ code: String, _ url: String?, _ app: V2App) async throws {
        await stage.step("The TV got the code \(code)", took: .zero)
        let now = Date()
        let end = session.notAfter.flatMap(Double.init).map { Date(timeIntervalSince1970: $0 / 1000) } ?? now
        if person == nil {
            await stage.show(
                RegistrationCode(
                    code: code, provider: Provider.ID(session.mvpd ?? mvpd), expires: end, lifetime: .seconds(end.timeIntervalSince(now)),
                    loginAddress: url.flatMap { URL(string: ground.gateway + $0) }))
        }
        try Self.require(try await app.profile(code: code) == nil, "a profile before anybody has signed in")
    }

    /// The person signs in on the second screen; the TV polls, and plays.
    private func finish(_ url: String, _ end: String, _ code: String, _ app: V2App) async throws {
        let found = try await visit(url, until: end, code, app)
        await stage.step("The TV polled, and is signed in at \(found.mvpd): user \(found.profile.user)", took: .zero)
        try await watch(app, at: found.mvpd)
    }

    /// D.
    func playLookup() async throws {
        let app = try await app()
        let code = try await signIn(app)
        let all = try await step({ "All profiles: \($0.keys.sorted().joined(separator: ", "))" }) { try await app.profiles() }
        guard let profile = try await step("The one at \(mvpd)", { try await app.profile(at: mvpd) }), let listed = all[mvpd] else {
            throw V2App.unexpected("no profile at \(mvpd) after a login there")
        }
        try Self.require(profile.notAfter == listed.notAfter && profile.user == listed.user, "two profiles that differ")
        if let code {
            let byCode = try await step("The one of the code") { try await app.profile(code: code) }
            try Self.require(byCode?.profile.notAfter == listed.notAfter, "the code's profile differs")
        }
        let other = try await self.app(UUID().uuidString)
        let none = try await step("Another device has none") { try await other.profiles() }
        try Self.require(none.isEmpty, "a profile on another device")
    }

    /// E.
    func playPreauthorization() async throws {
        let app = try await signedIn()
        // The limit is the deployment's; the documents name five.
        let asked = Array(channels.prefix(5))
        let decisions = try await step("Asked for \(asked.count) channels at once") { try await app.preauthorize(asked, at: mvpd) }
        try Self.require(decisions.map(\.resource) == asked, "decisions for \(decisions.map(\.resource))")
        for decision in decisions {
            let verdict = decision.authorized ? "may be watched" : decision.error?.reason ?? "may not be watched"
            await stage.step("\(decision.resource): \(verdict)", took: .zero)
        }
    }

    /// G.
    func playLogout() async throws {
        let app = try await signedIn()
        try await signOut(app)
        let after = try await step("The device has no profile") { try await app.profiles() }
        try Self.require(after[mvpd] == nil, "a profile after the logout")
        try Self.require(
            try await app.logout(at: mvpd, redirectURL: Self.appAddress).actionName == .invalid, "a second logout that finds somebody")
    }

    /// Does what the answer says.
    @discardableResult
    func signOut(_ app: V2App, at provider: String? = nil) async throws -> V2.Logouts.Logout.Action {
        let provider = provider ?? mvpd
        let logout = try await app.logout(at: provider, redirectURL: Self.appAddress)
        switch logout.actionName {
        case .logout:
            guard let url = logout.url else { throw V2App.unexpected("a logout to visit, without an address") }
            guard person != nil else {
                await stage.open(url)
                break
            }
            try await step("Signed out here and at \(provider)") {
                var browser = SimulatedPerson(exchange: ground.exchange)
                _ = try await browser.signIn(at: url, name: "", password: "", until: Self.appAddress)
            }
        case .partnerLogout: await stage.step("Signed out here; the device stays signed in until its settings say otherwise", took: .zero)
        case .complete: await stage.step("Signed out", took: .zero)
        case .invalid: await stage.step("Nobody was signed in", took: .zero)
        }
        return logout.actionName
    }
}
