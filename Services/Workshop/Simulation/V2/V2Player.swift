internal import CommandKit
internal import Cryptography
internal import EntitlementClient
internal import Foundation
internal import TextEncodings

/// Plays the flows of REST v2 against a running cluster: each on a device of its own, unless one is given.
package struct V2Player: Sendable {
    /// A programmer's back office, which manages degradation.
    struct ManagementAccess: Sendable {
        /// Base URL of the gateway's listener for administration.
        let administration: String
        let statement: String
        /// Id of the programmer.
        let company: String
    }

    let setup: DeviceSetup
    var stage: any V2Stage
    /// The person who signs in; `nil`: a person with a browser of their own.
    var person: String?
    var mvpd = "NorthCable"
    var resource: String
    /// The channels that the device lists.
    var channels: [String]
    /// `nil`: each flow has a new device.
    var deviceID: String?
    var pollInterval: Duration = .seconds(5)
    var management: ManagementAccess?
    /// Software statement of the programmer's own service, which names its people; `nil`: there is none.
    var backendStatement: String?
    /// Sent with each call, as a device or its app would.
    var identity = V2App.Identity()

    /// The flow's redirect address of an app on the device (rest-v1 §3.7).
    static let appAddress = "adobepass://ios.app"

    /// - Throws: `CommandFailure`, `DeviceFailure` or `V2Refusal` at the first step that does not go as documented.
    func play(_ flow: V2Flow) async throws {
        switch flow {
        case .a: try await playOwnBrowser()
        case .b: try await playSecondScreen()
        case .c: try await playSecondScreenThatChooses()
        case .d: try await playLookup()
        case .e: try await playPreauthorization()
        case .f: try await watch(try await signedIn())
        case .g: try await playLogout()
        case .h: try await playPartner()
        case .i: try await playPlatformIdentity()
        case .j: try await playServiceToken()
        case .k: try await playDegradation()
        case .l: try await playTrials()
        }
    }

    // MARK: - What flows share

    /// A registered app on a device.
    /// - Parameter id: The id of the device; `nil`: the one that was given, else a new one.
    func app(
        _ id: String? = nil, hardware: SimulatedHardware = .television, statement: String? = nil
    ) async throws -> V2App {
        var exchange = setup.exchange
        // A client that is told to slow down does so (rest-v2 §1.4).
        exchange.patience = .seconds(20)
        var app = StreamingApp(
            exchange: exchange, gateway: setup.gateway, requestor: setup.requestor, deviceID: id ?? deviceID ?? UUID().uuidString,
            hardware: hardware)
        try await app.register(statement: statement ?? setup.statement)
        return V2App(app: app, identity: identity)
    }

    /// The service provider, with the chosen MVPD among its own.
    func configuration(_ app: V2App) async throws -> V2.Configuration.Requestor {
        let requestor = try await step({ "\($0.id) has \($0.mvpds.count) providers" }) { try await app.configuration().requestor }
        guard requestor.mvpds.contains(where: { $0.id == mvpd }) else {
            throw CommandFailure(
                "\(mvpd) is not a provider of \(requestor.id)", advice: "there are \(requestor.mvpds.map(\.id).joined(separator: ", "))")
        }
        return requestor
    }

    /// - Throws: `CommandFailure` when the service provider has no domain.
    func domain(_ requestor: V2.Configuration.Requestor) throws -> String {
        guard let domain = requestor.domains.first?.name else {
            throw CommandFailure("\(requestor.id) has no domain", advice: "is it in the catalogue?")
        }
        return domain
    }

    /// A device that is signed in, by flow A.
    func signedIn() async throws -> V2App {
        let app = try await app()
        if try await app.profiles()[mvpd] == nil { try await signIn(app) }
        return app
    }

    /// Flow A from its second step, on a device that has a browser.
    /// - Returns: The code that it took; `nil`: the servers let it in without.
    @discardableResult
    func signIn(_ app: V2App) async throws -> String? {
        let requestor = try await configuration(app)
        let complete = V2App.SignIn(mvpd: mvpd, domainName: try domain(requestor), redirectURL: Self.appAddress)
        let session = try await app.createSession(complete)
        if session.actionName == .authorize { return nil }
        let (code, url) = try Self.interactive(session)
        let profile = try await visit(url, until: Self.appAddress, code, app)
        await stage.step("\(profile.mvpd) is signed in: a \(profile.profile.type) profile, user \(profile.profile.user)", took: .zero)
        return code
    }

    /// The login of a session, by the person or whoever is at the terminal; then the profile that came of it.
    func visit(_ url: String, until end: String, _ code: String, _ app: V2App) async throws -> (mvpd: String, profile: V2.Profile) {
        let address = setup.gateway + url
        if let person {
            try await step("\(person) signed in at \(mvpd)") {
                var browser = SimulatedPerson(exchange: setup.exchange)
                _ = try await browser.signIn(at: address, name: person, password: person, until: end)
            }
            // The profile is there before the browser is back (clients §4.5).
            guard let found = try await app.profile(code: code) else { throw CommandFailure("nobody is signed in after the login") }
            return found
        }
        await stage.open(address)
        return try await poll(code, app)
    }

    /// Asks until somebody has signed in.
    /// - Throws: `DeviceFailure` when the code ends before.
    func poll(_ code: String, _ app: V2App) async throws -> (mvpd: String, profile: V2.Profile) {
        while true {
            do {
                if let found = try await app.profile(code: code) { return found }
            } catch let refusal as V2Refusal where refusal.failure.code == "invalid_authentication_session" {
                throw DeviceFailure(.expired, nil, "the code expired before anybody signed in")
            }
            try await Task.sleep(for: pollInterval)
        }
    }

    /// Flow F: a decision, and the verified media token.
    func watch(_ app: V2App, at provider: String? = nil, _ channel: String? = nil) async throws {
        let (provider, channel) = (provider ?? mvpd, channel ?? resource)
        let decision = try await app.authorize(channel, at: provider)
        guard decision.authorized, let token = decision.token else {
            throw DeviceFailure(.refused, nil, "\(channel) is denied: \(decision.error?.reason ?? "without a reason")")
        }
        let report = try await step("\(channel) is permitted (\(decision.source)), its media token verified offline") {
            try await PlayedToken.verify(token.serializedToken, of: channel, on: setup)
        }
        await stage.play(channel, report)
    }

    /// - Throws: `DeviceFailure` when nobody is to visit an address.
    package static func interactive(_ session: V2.Session) throws -> (code: String, url: String) {
        guard session.actionName == .authenticate, let code = session.code, let url = session.url else {
            throw V2App.unexpected("a session with \(session.actionName.rawValue)/\(session.reasonType) in place of authenticate")
        }
        return (code, url)
    }

    /// - Throws: `DeviceFailure` unless it is so.
    static func require(_ condition: Bool, _ what: String) throws {
        guard condition else { throw V2App.unexpected(what) }
    }

    func step<Result>(_ text: String, _ work: () async throws -> Result) async throws -> Result { try await step({ _ in text }, work) }

    /// Does the work, then shows a step whose text depends on the result.
    func step<Result>(_ text: (Result) -> String, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        let result = try await work()
        await stage.step(text(result), took: ContinuousClock.now - start)
        return result
    }
}

extension V2.Profile {
    var user: String { attributes["userID"]?.value.map { String($0.description.prefix(20)) } ?? "without an id" }
}

/// Flows K and L: no login.
extension V2Player {
    private static let ruleSeconds = 300
    /// A rule is everywhere within a second (clients §4.18).
    private static let spread: Duration = .seconds(5)

    /// K. The programmer's back office degrades the MVPD for a while.
    func playDegradation() async throws {
        guard let management else {
            throw CommandFailure("no back office may degrade \(mvpd) at \(setup.requestor)", advice: "start a local cluster with ./Services/up")
        }
        let app = try await app()
        let domain = try domain(try await configuration(app))
        let rules = try await Degradation(management, setup, mvpd)
        try await rules.during("authnAll") {
            let session = try await wait(for: "The servers let everybody in") {
                let session = try await app.createSession(V2App.SignIn(mvpd: mvpd, domainName: domain, redirectURL: Self.appAddress))
                return session.reasonType == "degraded" ? session : nil
            }
            try Self.require(session.actionName == .authorize, "a degraded session with \(session.actionName.rawValue)")
            let profile = try await app.profile(at: mvpd)
            try Self.require(profile?.type == "degraded" && profile?.issuer == "Adobe", "no degraded profile")
            try await watch(app)
            try Self.require(try await signOut(app) == .complete, "a degraded logout with something to do")
        }
        _ = try await wait(for: "The rule is lifted") { try await app.profile(at: mvpd) == nil ? true : nil }
        try await deny(app, "authenticated_profile_missing")
        try await rules.during("authzNone") {
            _ = try await wait(for: "The servers deny by the rule") {
                try await app.authorize(resource, at: mvpd).error?.code == "authorization_denied_by_degradation_rule" ? true : nil
            }
        }
    }

    private func deny(_ app: V2App, _ code: String) async throws {
        let decision = try await app.authorize(resource, at: mvpd)
        try Self.require(!decision.authorized && decision.error?.code == code, "a decision that is not \(code)")
        await stage.step("\(resource) is denied: \(decision.error?.reason ?? code)", took: .zero)
    }

    /// L. Each free preview of the service provider.
    func playTrials() async throws {
        let plain = try await app()
        let requestor = try await configuration(plain)
        let trials = requestor.mvpds.filter { $0.isTempPass == true }
        guard !trials.isEmpty else { throw CommandFailure("\(requestor.id) has no free preview", advice: "ACME1 of the demo catalogue has two") }
        for trial in trials {
            var app = plain
            let address = V2App.SignIn(mvpd: trial.id, domainName: try domain(requestor), redirectURL: Self.appAddress)
            let session = try await app.createSession(address)
            try Self.require(session.actionName == .authorize && session.reasonType == "temporary", "a preview with \(session.actionName.rawValue)")
            if try await app.authorize(resource, at: trial.id).error?.code == "invalid_header_identity_for_temporary_access" {
                // Promotional: counted by person (rest-v2 §1.3).
                app.identity.trialIdentity = identity.trialIdentity ?? #"{"email":"\#(Hex.encode(SHA256.hash(UUID().uuidString)))"}"#
            }
            try await watch(app, at: trial.id)
            guard let profile = try await app.profile(at: trial.id) else { throw V2App.unexpected("no profile of the preview") }
            try Self.require(profile.type == "temporary", "a preview with a \(profile.type) profile")
            let left = profile.attributes["remaining_resources"]?.value.map { ", for \($0) more channels" } ?? ""
            let end = profile.attributes["expiration_date"]?.value.flatMap(Self.moment) ?? "its end"
            await stage.step("\(trial.displayName) until \(end)\(left)", took: .zero)
        }
    }

    private static func moment(_ value: V2.Value) -> String? {
        guard case .number(let milliseconds) = value else { return nil }
        return Date(timeIntervalSince1970: milliseconds / 1000).formatted(.iso8601)
    }

    private func wait<Value>(for what: String, _ look: () async throws -> Value?) async throws -> Value {
        try await step(what) {
            let end = ContinuousClock.now + Self.spread
            while true {
                if let value = try await look() { return value }
                guard ContinuousClock.now < end else { throw CommandFailure("waited in vain: \(what)") }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    /// The rules that a back office puts in force.
    private struct Degradation {
        private let management: ManagementAccess
        private let app: StreamingApp
        private let query: String
        private let exchange: HTTPExchange

        init(_ management: ManagementAccess, _ setup: DeviceSetup, _ mvpd: String) async throws {
            var app = StreamingApp(exchange: setup.exchange, gateway: setup.gateway, requestor: setup.requestor, deviceID: "office")
            try await app.register(statement: management.statement)
            (self.management, self.app, exchange) = (management, app, setup.exchange)
            query = FormEncoding.encode([("programmer", setup.requestor), ("mvpd", mvpd)])
        }

        /// Runs `work` while a rule of that kind is in force.
        func during(_ kind: String, _ work: () async throws -> Void) async throws {
            try await send("POST", kind, "&ttl=\(ruleSeconds)", expecting: 201)
            do {
                try await work()
            } catch {
                try await send("DELETE", kind, "", expecting: 204)
                throw error
            }
            try await send("DELETE", kind, "", expecting: 204)
        }

        private func send(_ method: String, _ kind: String, _ more: String, expecting status: Int) async throws {
            let address = "\(management.administration)/control/v3/degradation/\(FormEncoding.encode(management.company))/\(kind)?\(query)\(more)"
            let answer = try await exchange.send(method, address, headers: [("Authorization", "Bearer \(app.accessToken)")])
            guard answer.status == status else { throw app.failure(answer, "\(method) of a rule \(kind)") }
        }
    }
}
