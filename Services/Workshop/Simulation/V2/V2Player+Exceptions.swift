internal import CommandKit
internal import Cryptography
internal import Foundation
internal import TextEncodings

/// Flows K and L: no login.
extension V2Player {
    private static let ruleSeconds = 300
    /// A rule is everywhere within a second (clients §4.18).
    private static let spread: Duration = .seconds(5)

    /// K. The programmer's back office degrades the MVPD for a while.
    func playDegradation() async throws {
        guard let office else {
            throw CommandFailure("no back office may degrade \(mvpd) at \(ground.requestor)", advice: "start a local cluster with ./Services/up")
        }
        let app = try await app()
        let domain = try domain(try await configuration(app))
        let rules = try await Degradation(office, ground, mvpd)
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
        private let office: Office
        private let app: StreamingApp
        private let query: String
        private let exchange: HTTPExchange

        init(_ office: Office, _ ground: DeviceGround, _ mvpd: String) async throws {
            var app = StreamingApp(exchange: ground.exchange, gateway: ground.gateway, requestor: ground.requestor, deviceID: "office")
            try await app.register(statement: office.statement)
            (self.office, self.app, exchange) = (office, app, ground.exchange)
            query = FormEncoding.encode([("programmer", ground.requestor), ("mvpd", mvpd)])
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
            let address = "\(office.administration)/control/v3/degradation/\(FormEncoding.encode(office.company))/\(kind)?\(query)\(more)"
            let answer = try await exchange.send(method, address, headers: [("Authorization", "Bearer \(app.accessToken)")])
            guard answer.status == status else { throw app.failure(answer, "\(method) of a rule \(kind)") }
        }
    }
}
