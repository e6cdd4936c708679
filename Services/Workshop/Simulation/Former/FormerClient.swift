package import CommandKit
package import EntitlementClient
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
    let setup: DeviceSetup
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
        var app = StreamingApp(exchange: setup.exchange, gateway: setup.gateway, requestor: setup.requestor, deviceID: deviceID)
        try await app.register(statement: setup.statement)
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
            exchange: setup.exchange, gateway: setup.gateway, signer: try SignedCalls.signer(cluster, requestor: setup.requestor),
            requestor: setup.requestor, deviceID: deviceID, isKodi: kind == .kodi)
        let made = try await calls.send("POST", "/reggie/v1/\(setup.requestor)/regcode", [("deviceId", deviceID), ("deviceType", "android_tv")])
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
        var browser = SimulatedPerson(exchange: setup.exchange)
        let end = "\(setup.gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code), ("requestor_id", setup.requestor), ("mso_id", mvpd), ("domain_name", "adobe.com"), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code)&requestor=\(setup.requestor)"),
        ])
        let path = kind == .sdk ? "/adobe-services/authenticate/saml" : "/api/v1/authenticate"
        _ = try await browser.signIn(at: "\(setup.gateway)\(path)?\(query)", name: person, password: person, until: end)
        console.line("second screen  \(person) has signed in at \(mvpd)")
    }

    private func verify(_ token: String) async throws {
        let report = try await PlayedToken.verify(token, of: resource, on: setup)
        console.line("media token    \(report.verdict.rawValue)")
    }

    private func refused(_ answer: HTTPAnswer, _ what: String) -> CommandFailure {
        let reason = answer.object["details"] as? String ?? answer.object["message"] as? String ?? answer.object["error"] as? String
        return CommandFailure("\(what) was answered \(answer.status)\(reason.map { " (\($0))" } ?? "")")
    }
}

/// The calls of apps from before client registration: each is signed with a pair of the application (clients §2).
package struct SignedCalls: Sendable {
    let exchange: HTTPExchange
    let gateway: String
    let signer: RequestSigner
    let requestor: String
    let deviceID: String
    /// As Kodi's add-ons send them: all in the query, JSON by a parameter. Else as recorders do, by `Accept`.
    let isKodi: Bool

    /// - Throws: `CommandFailure` when the cluster has no pair.
    package static func signer(_ cluster: ClusterFile?, requestor: String) throws -> RequestSigner {
        guard let pair = cluster?.signedRequests?["acme-legacy"] else {
            throw CommandFailure(
                "the cluster has no key pair to sign with", advice: "the local cluster's demo catalogue has the application acme-legacy")
        }
        return RequestSigner(requestor: requestor, publicKey: pair.publicKey, secret: pair.secret)
    }

    func send(_ method: String, _ path: String, _ query: [(String, String)] = []) async throws -> HTTPAnswer {
        var all = query
        if isKodi { all.append(("format", "json")) }
        // The end of the path is signed, as clients are seen to do.
        let signed = path.replacing("/api/v1", with: "").replacing("/reggie/v1/\(requestor)", with: "")
        var headers = [("Authorization", signer.header(method, signed, now: Date()))]
        if !isKodi { headers.append(("Accept", "application/json")) }
        let body = method == "POST" ? "" : nil
        if body != nil { headers.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return try await exchange.send(method, "\(gateway)\(path)?\(FormEncoding.encode(all))", headers: headers, body: body)
    }

    var own: [(String, String)] { [("requestor", requestor), ("deviceId", deviceID)] }
}

/// The calls of programs on the vendor's SDKs for devices (clients §3), of an app that is registered.
package struct SdkCalls: Sendable {
    package static let session = "/adobe-services/sessionDevice"
    package static let permit = "/adobe-services/authorizeDevice"
    package static let play = "/adobe-services/deviceShortAuthorize"

    package let app: StreamingApp

    /// - Parameter app: With its access token.
    package init(_ app: StreamingApp) { self.app = app }

    /// The form that is sent for the token of a code's session.
    package func sessionForm(_ code: String) -> String { form([("_method", "GET"), ("reg_code", code)]) }

    package func permitForm(_ token: String, _ resource: String) -> String { form([("authentication_token", token), ("resource_id", resource)]) }

    package func playForm(_ permit: String) -> String {
        form([("authz_token", permit), ("session_guid", "0123456789abcdef"), ("hashed_guid", "false")])
    }

    private func form(_ fields: [(String, String)]) -> String {
        FormEncoding.encode(fields + [("requestor_id", app.requestor), ("device_id", app.deviceID), ("networkType", "WIFI")])
    }

    /// - Returns: `nil` while nobody has signed in.
    func token(_ code: String) async throws -> String? {
        let answer = try await post(Self.session, sessionForm(code))
        return answer.status == 401 ? nil : try stored("authnToken", answer, "the token of the session")
    }

    /// The token of a session that is there.
    package func sessionToken(_ code: String) async throws -> String {
        guard let token = try await token(code) else { throw CommandFailure("nobody has signed in with the code") }
        return token
    }

    package func permit(_ token: String, _ resource: String) async throws -> String {
        try stored("authzToken", try await post(Self.permit, permitForm(token, resource)), "the token of the permit")
    }

    /// The media token in clear.
    func mediaToken(_ permit: String) async throws -> String {
        let answer = try await post(Self.play, playForm(permit))
        guard answer.status == 200, !answer.text.contains("<pendingLogout") else { throw app.failure(answer, "the media token") }
        return answer.text
    }

    /// True when the app is told to forget its token.
    func isOver(_ token: String, _ resource: String) async throws -> Bool {
        try await post(Self.permit, permitForm(token, resource)).text.contains("<pendingLogout")
    }

    private func post(_ path: String, _ form: String) async throws -> HTTPAnswer {
        try await app.send("POST", path, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: form)
    }

    /// Searched as text and unescaped once, as these programs do.
    private func stored(_ name: String, _ answer: HTTPAnswer, _ what: String) throws -> String {
        guard answer.status == 200, let start = answer.text.range(of: "<\(name)>"), let end = answer.text.range(of: "</\(name)>") else {
            if let start = answer.text.range(of: "<details>"), let end = answer.text.range(of: "</details>") {
                throw CommandFailure("\(what) is refused: \(answer.text[start.upperBound..<end.lowerBound])")
            }
            throw app.failure(answer, what)
        }
        let names = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#13;", "\r"), ("&amp;", "&")]
        return names.reduce(String(answer.text[start.upperBound..<end.lowerBound])) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}
