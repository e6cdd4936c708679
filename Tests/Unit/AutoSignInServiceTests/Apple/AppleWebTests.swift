import Contracts
import Faults
import Foundation
import Testing

@testable import AutoSignInService

@Suite("Sign in with Apple on the web", .everyEngine)
struct AppleWebTests {
    private struct Visit {
        let rig: AppleRig
        let start: WebSignInStart
        let query: [String: String]

        init(_ rig: AppleRig, returnURL: String = "") async throws {
            self.rig = rig
            start = try await rig.service.signInWithApple.startWebSignIn(
                StartWebSignInRequest(requestor: "ACME1", returnURL: returnURL), context: rig.context)
            let items = URLComponents(string: start.url)?.queryItems ?? []
            query = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }

        /// The form that Apple posts.
        func form(_ subject: String = TokenMaker.subject, user: String = "") throws -> CompleteWebSignInRequest {
            let code = rig.apple.makeCode(client: AppleRig.web, subject: subject, nonce: query["nonce"], redirectURI: AppleRig.callback)
            let token = try TokenMaker(clientID: AppleRig.web, nonce: query["nonce"], subject: subject, now: rig.clock.now())
                .with("real_user_status", nil).with("c_hash", "\"\(TokenMaker.hash(code))\"").token()
            return CompleteWebSignInRequest(
                state: query["state"] ?? "", code: code, identityToken: token, user: user, browserSecret: start.browserSecret)
        }

        func post(_ form: CompleteWebSignInRequest) async throws -> WebSignInOutcome {
            try await rig.service.signInWithApple.completeWebSignIn(form, context: rig.context)
        }
    }

    @Test("the browser is sent to Apple with everything that ties its answer")
    func sendsToApple() async throws {
        let visit = try await Visit(try AppleRig())
        #expect(visit.start.url.hasPrefix(ScriptedApple.server + "/auth/authorize?"))
        #expect(visit.query["client_id"] == AppleRig.web)
        #expect(visit.query["redirect_uri"] == AppleRig.callback)
        #expect(visit.query["response_type"] == "code id_token")
        #expect(visit.query["response_mode"] == "form_post")
        #expect(visit.query["state"]?.utf8.count == 43)
        #expect(visit.query["nonce"] != visit.query["state"])
        #expect(visit.start.expiresInSeconds == 600)
    }

    @Test("a newcomer confirms with the ticket and gets a session of the pages; the next time at once")
    func signsIn() async throws {
        let rig = try AppleRig()
        let visit = try await Visit(rig, returnURL: "/devices?tab=1")
        let outcome = try await visit.post(visit.form(user: #"{"name":{"firstName":"Anna"}}"#))
        guard case .ticket(let question) = outcome.outcome else { throw Unexpected() }
        #expect(question.code == "confirmation_required")
        let foreign = CompleteWebSignInRequest(browserSecret: "other", ticket: question.ticket)
        #expect(await refusal { try await visit.post(foreign) } == .ticketInvalid)
        let confirmed = try await visit.post(CompleteWebSignInRequest(browserSecret: visit.start.browserSecret, ticket: question.ticket))
        guard case .signedIn(let first) = confirmed.outcome else { throw Unexpected() }
        #expect(first.isNew)
        #expect(first.returnURL == "/devices?tab=1")
        let status = try await rig.service.automaticSignIn.getOptInStatus(
            GetOptInStatusRequest(caller: Caller(who: .webSession(first.session?.secret ?? ""))), context: rig.context)
        #expect(status.givenName == "Anna")
        #expect(status.appleLinks.count == 1)
        let again = try await Visit(rig)
        guard case .signedIn(let second) = try await again.post(again.form()).outcome else { throw Unexpected() }
        #expect(!second.isNew)
        #expect(second.returnURL == "https://tv.acme.example/devices")
        #expect(rig.apple.calls("/auth/token").allSatisfy { $0.form["redirect_uri"] == AppleRig.callback && $0.form["client_id"] == AppleRig.web })
    }

    @Test("apple #54: a ticket makes no second account where the address has one, and stays good for the proof")
    func asksForProof() async throws {
        let rig = try AppleRig()
        try await rig.enter("first")
        let visit = try await Visit(rig)
        guard case .ticket(let question) = try await visit.post(visit.form("second")).outcome else { throw Unexpected() }
        #expect(question.code == "account_exists")
        let insisting = CompleteWebSignInRequest(browserSecret: visit.start.browserSecret, ticket: question.ticket)
        for _ in 0..<2 {
            guard case .ticket(let again) = try await visit.post(insisting).outcome else { throw Unexpected() }
            #expect(again.code == "account_exists" && again.ticket == question.ticket)
        }
        #expect(try await rig.accountCount() == 1)
    }

    @Test("apple #78: a missing, foreign, reused or late state is refused before any exchange")
    func checksState() async throws {
        let rig = try AppleRig()
        let visit = try await Visit(rig)
        var missing = try visit.form()
        missing.state = ""
        #expect(await refusal { try await visit.post(missing) } == .stateInvalid)
        var foreign = try visit.form()
        foreign.browserSecret = try await Visit(rig).start.browserSecret
        #expect(await refusal { try await visit.post(foreign) } == .stateInvalid)
        var bare = try visit.form()
        bare.browserSecret = ""
        #expect(await refusal { try await visit.post(bare) } == .stateInvalid)
        #expect(rig.apple.calls("/auth/token").isEmpty)
        _ = try await visit.post(visit.form())
        #expect(await refusal { try await visit.post(visit.form()) } == .stateInvalid)
        let late = try await Visit(rig)
        rig.clock.advance(by: .seconds(600))
        #expect(await refusal { try await late.post(late.form()) } == .stateInvalid)
        #expect(rig.apple.calls("/auth/token").count == 1)
    }

    @Test("a token of another sign-in does not fit the state")
    func checksNonce() async throws {
        let rig = try AppleRig()
        let (one, other) = (try await Visit(rig), try await Visit(rig))
        var mixed = try one.form()
        mixed.identityToken = try other.form().identityToken
        #expect(await refusal { try await one.post(mixed) } == .appleNonceMismatch)
    }

    @Test("a person who cancels goes back; another error of Apple's is ours")
    func returnsOnCancel() async throws {
        let rig = try AppleRig()
        let visit = try await Visit(rig, returnURL: "https://www.acme.example/start")
        let cancelled = CompleteWebSignInRequest(
            state: visit.query["state"] ?? "", error: "user_cancelled_authorize", browserSecret: visit.start.browserSecret)
        guard case .cancelled(let answer) = try await visit.post(cancelled).outcome else { throw Unexpected() }
        #expect(answer.returnURL == "https://www.acme.example/start")
        let again = try await Visit(rig)
        let refused = CompleteWebSignInRequest(
            state: again.query["state"] ?? "", error: "invalid_client", browserSecret: again.start.browserSecret)
        #expect(await refusal { try await again.post(refused) } == .appleRequestInvalid)
    }

    @Test(
        "only our own paths and the requestor's domains are returned to",
        arguments: [
            "//evil.example", "https://evil.example", "https://acme.example.evil.example", "https://acme.example@evil.example/",
            "javascript:alert(1)",
            "https://evil.example/?acme.example", "/\\evil.example", "https://notacme.example", "/a\nb",
        ])
    func checksReturnAddress(address: String) async throws {
        let rig = try AppleRig()
        #expect(await refusal { try await Visit(rig, returnURL: address) } == .invalidRedirectURL)
    }

    @Test("a programmer without a Services ID has no web sign-in")
    func needsServicesID() async throws {
        let rig = try AppleRig()
        let request = StartWebSignInRequest(requestor: "BRAVO")
        #expect(await refusal { try await rig.service.signInWithApple.startWebSignIn(request, context: rig.context) } == .clientUnknown)
    }
}
