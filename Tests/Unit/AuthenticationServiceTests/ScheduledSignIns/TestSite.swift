import Contracts
import Foundation
import OutboundHttp
import Synchronization
import TextEncodings

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// Our public addresses, and an MVPD at `https://idp.example` whose subscriber is `tess` with the password `s3same`, as a browser sees both.
final class TestSite: OutboundTransport {
    static let origin = "https://tv.example"
    static let mvpd = "https://idp.example"
    static let secrets = ["tess": "s3same"]

    struct Script {
        var password = "s3same"
        /// In place of the login page.
        var page: OutboundAnswer?
        /// In place of an answer.
        var failure: OutboundFailure.Kind?
        var service: AuthenticationClient?
        var saml: ScriptedSaml?
    }

    let script = Mutex(Script())
    private let seen = Mutex<[OutboundRequest]>([])

    var requests: [OutboundRequest] { seen.withLock { $0 } }

    static func html(_ body: String, status: Int = 200) -> OutboundAnswer {
        OutboundAnswer(status: status, headers: [("content-type", "text/html")], body: Array(body.utf8))
    }

    static let login = """
        <form method="post" action="/login"><input type="hidden" name="state" value="a&amp;b"><input name="username"><input type="password" name="password">
        <button name="action" value="sign-in">Sign in</button><button name="action" value="cancel">Cancel</button></form>
        """

    func send(_ request: OutboundRequest, by _: OutboundRoute, timeLeft _: Duration) async throws(OutboundFailure) -> OutboundAnswer {
        seen.withLock { $0.append(request) }
        let script = script.withLock { $0 }
        do {
            if request.url.hasPrefix(Self.origin) { return try await gateway(request, script) }
        } catch {
            return Self.html("away", status: 503)
        }
        if let failure = script.failure { throw OutboundFailure(failure) }
        if request.method == .get { return script.page ?? Self.html(Self.login) }
        let fields = Self.fields(request)
        guard fields["username"] == "tess", fields["password"] == script.password, fields["state"] == "a&b", fields["action"] == "sign-in" else {
            return Self.html("<p role=alert>tess: the password <b>s3same</b> is wrong.</p>" + Self.login, status: 422)
        }
        let relay = script.saml?.requests.last?.relay.text ?? ""
        return Self.html(
            """
            <form method="post" action="\(Self.origin)/acs"><input type="hidden" name="SAMLResponse" value="PHNhbWw+">
            <input type="hidden" name="RelayState" value="\(relay)"></form>
            """)
    }

    private func gateway(_ request: OutboundRequest, _ script: Script) async throws -> OutboundAnswer {
        guard let service = script.service else { return Self.html("", status: 500) }
        if request.method == .get {
            let ticket = String(request.url.dropFirst(Self.origin.count + "/test-sign-in/".count))
            let start = try await service.openTestSignIn(OpenTestSignInRequest(ticket: ticket), context: .init())
            return OutboundAnswer(
                status: 302, headers: [("location", start.url), ("set-cookie", "signin=\(start.browserSecret); Path=/; HttpOnly")])
        }
        let fields = Self.fields(request)
        let cookie = request.headers.first { $0.name == "cookie" }?.value.dropFirst("signin=".count)
        let outcome = try await service.completeSamlSignIn(
            CompleteSamlSignInRequest(
                samlResponse: fields["SAMLResponse"] ?? "", relayState: fields["RelayState"] ?? "", relayStatePresent: true,
                browserSecret: String(cookie ?? "")), context: .init())
        guard let verdict = outcome.verdict else { return Self.html("neutral", status: 400) }
        return OutboundAnswer(
            status: 200, headers: [("Boxoffice-Test-Result", verdict.result == .signedIn ? "signedIn" : "rejected \(verdict.reason)")])
    }

    static func fields(_ request: OutboundRequest) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in String(decoding: request.body ?? [], as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { String($0).removingPercentEncoding ?? "" }
            fields[parts[0]] = parts.count > 1 ? parts[1] : ""
        }
        return fields
    }
}
