internal import CommandKit
internal import EntitlementClient
internal import EntitlementSimulator
internal import Foundation
internal import SamlResponder

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
                    loginAddress: url.flatMap { URL(string: setup.gateway + $0) }))
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
                var browser = SimulatedPerson(exchange: setup.exchange)
                _ = try await browser.signIn(at: url, name: "", password: "", until: Self.appAddress)
            }
        case .partnerLogout: await stage.step("Signed out here; the device stays signed in until its settings say otherwise", took: .zero)
        case .complete: await stage.step("Signed out", took: .zero)
        case .invalid: await stage.step("Nobody was signed in", took: .zero)
        }
        return logout.actionName
    }
}

/// Flows H to J: somebody else has signed in already.
extension V2Player {
    private static let partner = "Apple"

    /// H. The stand-in Apple plays the framework.
    func playPartner() async throws {
        var app = try await app(hardware: .appleTV)
        let requestor = try await configuration(app)
        guard let provider = requestor.mvpds.first(where: { $0.id == mvpd }), let mapping = provider.platformMappingId,
            provider.enablePlatformServices == true
        else { throw CommandFailure("\(mvpd) takes no part in single sign-on on this device", advice: "NorthCable does, with --mvpd NorthCable") }
        app.identity.partnerStatus = V2PartnerStatus.json(provider: mapping)
        try Self.require(try await app.profiles()[mvpd] == nil, "a profile on a new device")
        let address = V2App.SignIn(domainName: try domain(requestor), redirectURL: Self.appAddress)
        let session = try await step({ "The Apple TV is signed in at \(mvpd): \($0.actionName.rawValue)" }) {
            try await app.createPartnerSession(Self.partner, address)
        }
        guard session.actionName == .partnerProfile else {
            await stage.step("Not by its framework (\(session.reasonType)): by a browser", took: .zero)
            let (code, url) = try Self.interactive(session)
            _ = try await visit(url, until: Self.appAddress, code, app)
            return try await watch(app)
        }
        guard let request = session.authenticationRequest else { throw V2App.unexpected("partner_profile without a request") }
        let response = try await step("Its framework had \(mvpd) answer") { try await answer(to: request, at: mapping, app) }
        let profiles = try await step("The answer became a profile") { try await app.createPartnerProfile(Self.partner, response: response) }
        try Self.require(profiles[mvpd]?.type == "appleSSO" && profiles[mvpd]?.issuer == "Apple", "a profile that is not Apple's")
        try await watch(app)
        var bare = app
        bare.identity.partnerStatus = nil
        try Self.require(try await bare.profiles()[mvpd] == nil, "Apple's profile without the framework's permission")
        try Self.require(try await signOut(app) == .partnerLogout, "a logout that forgets the device's settings")
    }

    /// The framework's answer, Base64.
    private func answer(to request: V2.Session.Request, at mapping: String, _ app: V2App) async throws -> String {
        guard let facts = AuthnRequestFacts(profileRequest: request.request) else { throw V2App.unexpected("a request that is no SAML request") }
        let answers = SandboxAnswers(
            address: try setup.standIn(), account: app.app.deviceID, person: person ?? "ada", transport: ExchangeTransport(exchange: setup.exchange)
        )
        // The framework knows the service provider without the requestor that the issuer may end in (mvpd §2.2).
        let channel = facts.issuer.components(separatedBy: "/on-behalf-of/")[0]
        let question = AccountMetadataRequest(
            channelIdentifier: channel, verificationToken: request.request, attributeNames: request.attributesNames)
        guard let response = try await answers.answer(to: question, at: mapping) else {
            throw CommandFailure("the framework has no answer of \(mvpd)")
        }
        return PlatformAnswerText.encoded(response)
    }

    /// I. Two apps on one device, which the platform knows.
    func playPlatformIdentity() async throws {
        var first = try await app()
        let device = first.app.deviceID
        let token = if let given = identity.platformToken { given } else { try await platformToken(device) }
        first.identity.platformToken = token
        try await signIn(first)
        try Self.require(try await first.profile(at: mvpd)?.type == "regular", "an own profile of another type")
        var second = try await app(device)
        try Self.require(try await second.profiles()[mvpd] == nil, "another app's profile without the device's identity")
        second.identity.platformToken = token
        try await step("Another app on the device is signed in, too") {
            let found = try await second.profiles()[mvpd]
            try Self.require(found?.type == "platformSSO" && found?.issuer == mvpd, "no platformSSO profile in the second app")
        }
        try await watch(second)
        try await signOut(second)
        try Self.require(try await first.profiles()[mvpd] == nil, "a profile in the first app after the second has signed out")
    }

    /// J. Two devices of a person whom the programmer's own service knows.
    func playServiceToken() async throws {
        var first = try await app(UUID().uuidString)
        let token = if let given = identity.serviceToken { given } else { try await serviceToken() }
        first.identity.serviceToken = token
        try await signIn(first)
        let own = try await first.profile(at: mvpd)
        var second = try await app(UUID().uuidString)
        second.identity.serviceToken = identity.serviceToken == nil ? try await join(second, first) : token
        try await step("Another device of the same person is signed in, too") {
            let found = try await second.profiles()[mvpd]
            try Self.require(found?.type == "serviceTokenSSO" && found?.notAfter == own?.notAfter, "no serviceTokenSSO profile of the same end")
        }
        try await watch(second)
        try await signOut(second)
        try Self.require(try await first.profiles()[mvpd] == nil, "a profile on the first device after the second has signed out")
    }

    private func platformToken(_ device: String) async throws -> String {
        let body = String(decoding: try JSONSerialization.data(withJSONObject: ["person": device, "device": device]), as: UTF8.self)
        let address = try setup.standIn().appendingPathComponent("platform/identity-token").absoluteString
        let answer = try await setup.exchange.send("POST", address, headers: [("Content-Type", "application/json")], body: body)
        guard let token = answer.object["token"] as? String else {
            throw CommandFailure("the stand-in platform answered \(answer.status)", advice: "give a token with --platform-token")
        }
        return token
    }

    /// - Returns: A token of the device's own for the other one's person.
    private func join(_ device: V2App, _ other: V2App) async throws -> String {
        try await step("The first device showed a link code, and another one typed it") { try await device.serviceToken(by: other.linkCode()) }
    }

    private func serviceToken() async throws -> String {
        guard let backendStatement else {
            throw CommandFailure(
                "no service of the programmer names its people", advice: "give a token with --service-token, or start a local cluster")
        }
        let backend = try await app(UUID().uuidString, statement: backendStatement)
        return try await step("The programmer's service named the person") { try await backend.serviceToken(for: UUID().uuidString) }
    }
}
