internal import CommandKit
internal import EntitlementClient
internal import Foundation
internal import MediaTokenVerifier
internal import TextEncodings

/// `boxoffice device --as kodi|sdk|signed`: an app that nobody can change any more, against a running cluster.
struct FormerClient {
    enum Kind: String, CaseIterable {
        /// Kodi's module that add-ons share, 2020.
        case kodi
        /// A program on the device SDKs' own calls.
        case sdk
        /// A recorder that signs its requests, 2025.
        case signed
    }

    let kind: Kind
    let ground: DeviceGround
    let cluster: ClusterFile?
    let person: String
    let mvpd: String
    let resource: String
    let deviceID: String
    let console: Console

    /// Signs in, plays and signs out.
    /// - Throws: `CommandFailure` naming the step that does not work.
    func play() async throws {
        switch kind {
        case .sdk: try await playSdk()
        case .kodi, .signed: try await playSigned()
        }
    }

    private func playSdk() async throws {
        var app = StreamingApp(exchange: ground.exchange, gateway: ground.gateway, requestor: ground.requestor, deviceID: deviceID)
        try await app.register(statement: ground.statement)
        let calls = SdkCalls(app)
        let code = try await app.requestCode().code
        console.line("code           \(code)")
        guard try await calls.token(code) == nil else { throw CommandFailure("the code has a session before anybody has signed in") }
        try await signIn(code)
        let token = try await calls.sessionToken(code)
        console.line("session        a token of \(token.utf8.count) octets, kept by the app")
        let permit = try await calls.permit(token, resource)
        console.line("permit         a token of \(permit.utf8.count) octets")
        try await verify(try await calls.mediaToken(permit))
        let out = try await app.send("DELETE", "/api/v1/logout?\(app.deviceSet())")
        guard out.status == 204, try await calls.isOver(token, resource) else { throw CommandFailure("the token outlives a logout") }
        console.line("signed out     the token is worth nothing any more")
    }

    private func playSigned() async throws {
        let calls = SignedCalls(
            exchange: ground.exchange, gateway: ground.gateway, signer: try SignedCalls.signer(cluster, requestor: ground.requestor),
            requestor: ground.requestor, deviceID: deviceID, isKodi: kind == .kodi)
        let made = try await calls.send("POST", "/reggie/v1/\(ground.requestor)/regcode", [("deviceId", deviceID), ("deviceType", "android_tv")])
        guard made.status == 201, let code = made.object["code"] as? String else { throw refused(made, "a registration code") }
        console.line("code           \(code)")
        // Recorders poll by the code, add-ons by the device.
        let poll = kind == .kodi ? "/api/v1/checkauthn" : "/api/v1/authenticate/\(code)"
        let before = try await calls.send("GET", poll, calls.own)
        guard before.status == (kind == .kodi ? 403 : 404) else { throw refused(before, "polling in vain") }
        try await signIn(code)
        let after = try await calls.send("GET", poll, calls.own)
        guard after.status == 200 else { throw refused(after, "polling after the sign-in") }
        console.line("signed in      \(poll) is answered 200")
        let watched = calls.own + [("resource", resource)]
        let permit = try await calls.send("GET", "/api/v1/authorize", watched)
        guard permit.status == 200 else { throw refused(permit, "\(resource)") }
        console.line("permit         \(resource)")
        let media = try await calls.send("GET", kind == .kodi ? "/api/v1/mediatoken" : "/api/v1/tokens/media", watched)
        guard media.status == 200, let token = media.object["serializedToken"] as? String else { throw refused(media, "the media token") }
        try await verify(token)
        let out = try await calls.send("DELETE", "/api/v1/logout", [("deviceId", deviceID)])
        guard out.status == 204 else { throw refused(out, "signing out") }
        let end = try await calls.send("GET", "/api/v1/checkauthn", calls.own)
        guard end.status == 403 else { throw refused(end, "checkauthn after signing out") }
        console.line("signed out     checkauthn is answered 403")
    }

    private func signIn(_ code: String) async throws {
        var browser = SimulatedPerson(exchange: ground.exchange)
        let end = "\(ground.gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", ground.requestor), ("mso_id", mvpd), ("domain_name", "adobe.com"), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)&requestor=\(ground.requestor)"),
        ])
        let path = kind == .sdk ? "/adobe-services/authenticate/saml" : "/api/v1/authenticate"
        _ = try await browser.signIn(at: "\(ground.gateway)\(path)?\(query)", name: person, password: person, until: end)
        console.line("second screen  \(person) has signed in at \(mvpd)")
    }

    private func verify(_ token: String) async throws {
        let report = try await PlayedToken.verify(token, of: resource, on: ground)
        console.line("media token    \(report.verdict.rawValue)")
    }

    private func refused(_ answer: HTTPAnswer, _ what: String) -> CommandFailure {
        let reason = answer.object["details"] as? String ?? answer.object["message"] as? String ?? answer.object["error"] as? String
        return CommandFailure("\(what) was answered \(answer.status)\(reason.map { " (\($0))" } ?? "")")
    }
}
