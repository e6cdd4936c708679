internal import Contracts
internal import Faults
@testable import GatewayEdge
internal import Hummingbird
internal import Testing

/// Sign in with Apple over HTTP (apple §2, §4).
@Suite struct AppleSignInTests {
    let gateway = TestGateway()
    private let proof =
        #"{"identityToken":"t","code":"c","nonce":"n","clientId":"example.acme.tv","createAccount":true,"user":"#
        + #"{"name":{"firstName":"Ada","lastName":"L"},"email":"a@example.org"}}"#

    private func post(_ path: String, _ body: String, _ headers: HTTPFields = TestGateway.app) async throws -> Reply {
        try await gateway.send(.post, "/apple/v1/ACME1/\(path)", headers, body: body)
    }

    @Test func aNonceIsForAClient() async throws {
        gateway.signInWithApple.createNonce.answer(with: Nonce(nonce: "n", expiresAtMilliseconds: 5))
        let reply = try await post("nonce", #"{"clientId":"example.acme.tv"}"#, TestGateway.app.with(.idempotencyKey, nil))
        #expect(reply.status == 201 && reply.text == #"{"nonce":"n","expiresAt":5}"#)
        #expect(gateway.signInWithApple.createNonce.requests.first?.clientID == "example.acme.tv")
    }

    @Test func signingInAnswersTheSession() async throws {
        gateway.signInWithApple.signIn.answer(
            with: AppleSignInOutcome(outcome: .signedIn(AppleSignedIn(session: TestGateway.session, isNew: true, realUserPolicy: .skipChecks))))
        let reply = try await post("signin", proof)
        #expect(reply.status == 200 && reply.json["sessionId"] as? String == "s9" && reply.json["isNew"] as? Bool == true)
        #expect(reply.json["realUserPolicy"] as? String == "skip_checks" && (reply.json["profiles"] as? [String: Any])?.count == 1)
        let request = try #require(gateway.signInWithApple.signIn.requests.first)
        #expect(request.identityToken == "t" && request.code == "c" && request.nonce == "n" && request.createAccount)
        #expect(request.user == FirstTimeUser(givenName: "Ada", familyName: "L", email: "a@example.org") && request.idempotencyKey == "key-1")
    }

    @Test(arguments: ["account_exists", "confirmation_required"])
    func whereAPersonHasToDecideThereIsATicket(code: String) async throws {
        gateway.signInWithApple.signIn.answer(
            with: AppleSignInOutcome(outcome: .ticket(TicketIssued(code: code, ticket: "tick", expiresAtMilliseconds: 9))))
        let reply = try await post("signin", proof)
        #expect(reply.status == 409 && reply.json["code"] as? String == code)
        #expect(reply.json["ticket"] as? String == "tick" && reply.json["expiresAt"] as? Int == 9)
    }

    @Test func aTicketNeedsNothingBesideIt() async throws {
        gateway.signInWithApple.signIn.answer(with: AppleSignInOutcome(outcome: .signedIn(AppleSignedIn(session: TestGateway.session))))
        #expect(try await post("signin", #"{"ticket":"tick","createAccount":true}"#).status == 200)
        let request = try #require(gateway.signInWithApple.signIn.requests.first)
        #expect(request.ticket == "tick" && request.identityToken.isEmpty && request.createAccount)
    }

    @Test(arguments: [
        ("{}", "Required 'identityToken' is not present"), (#"{"identityToken":"t"}"#, "Required 'nonce' is not present"),
        (#"{"identityToken":"t","nonce":"n"}"#, "Required 'clientId' is not present"),
        (#"{"identityToken":"t","nonce":"n","clientId":"c","user":"x"}"#, "Member 'user' must be an object"),
        (#"{"identityToken":"t","nonce":"n","clientId":"c","user":{"name":{"firstName":1}}}"#, "Member 'user.name.firstName' must be a string"),
        (#"{"identityToken":"t","nonce":"n","clientId":"c","createAccount":"yes"}"#, "Member 'createAccount' must be true or false"),
    ])
    func whatIsMissingIsNamed(body: String, message: String) async throws {
        let reply = try await post("signin", body)
        #expect(reply.status == 400 && reply.json["message"] as? String == message)
    }

    @Test func linksAreMadeAndTakenAway() async throws {
        gateway.signInWithApple.linkApple.answer(
            with: AppleLink(id: "l1", teamID: "T", accountID: "a1", state: .active, authorizedAtMilliseconds: 5, isMailAllowed: true))
        let link = try await post("link", proof)
        #expect(
            link.status == 200
                && link.text == #"{"linkId":"l1","teamId":"T","accountId":"a1","state":"active","authorizedAt":5,"mailAllowed":true}"#)
        gateway.signInWithApple.unlinkApple.answer(with: UnlinkAppleResponse())
        let gone = try await gateway.send(.delete, "/apple/v1/ACME1/link?linkId=l1", TestGateway.app)
        #expect(gone.status == 204 && gone.text.isEmpty)
        #expect(gateway.signInWithApple.unlinkApple.requests.first?.linkID == "l1")
        gateway.signInWithApple.unlinkApple.fail(with: Fault(.lastMethod, "x"))
        #expect(try await gateway.send(.delete, "/apple/v1/ACME1/link", TestGateway.app).status == 409)
    }

    @Test func aNotificationIs200OnceItHasItsEffect() async throws {
        gateway.signInWithApple.receiveNotification.answer(with: AppleNotificationResponse(hadEffect: true))
        let reply = try await gateway.send(.post, "/apple/v1/notifications", [:], body: #"{"payload":"a.b.c"}"#)
        #expect(reply.status == 200 && reply.text.isEmpty)
        #expect(gateway.signInWithApple.receiveNotification.requests.first?.payload == "a.b.c")
    }

    @Test("apple #61: a notification that is not Apple's is 400 without a body", arguments: ["", "{}", "no", #"{"payload":1}"#, #"{"payload":"x"}"#])
    func refusedNotification(body: String) async throws {
        gateway.signInWithApple.receiveNotification.fail(with: Fault(.appleNotificationInvalid, "x"))
        let reply = try await gateway.send(.post, "/apple/v1/notifications", [.contentType: "application/json"], body: body)
        #expect(reply.status == 400 && reply.text.isEmpty)
    }

    @Test("apple #61: who sends many that are not Apple's is told to slow down; one that verifies is never refused, and a neighbour's are his own")
    func manyFailedNotifications() async throws {
        let gateway = TestGateway(trusted: ["127.0.0.0/8"], throttle: ThrottleSettings(), clock: SetClock())
        gateway.signInWithApple.receiveNotification.answer { message, _ in
            guard message.payload == "g.o.od" else { throw Fault(.appleNotificationInvalid, "x") }
            return AppleNotificationResponse(hadEffect: true)
        }
        let path = "/apple/v1/notifications"
        try await gateway.exchange(over: .live) { client in
            func send(_ payload: String, from address: String) async throws -> (Int, String?) {
                let body = ByteBuffer(string: "{\"payload\":\"\(payload)\"}")
                return try await client.execute(uri: path, method: .post, headers: [.forwardedFor: address], body: body) {
                    ($0.status.code, $0.headers[.retryAfter])
                }
            }
            for _ in 0...NotificationThrottle.burst { #expect(try await send("b.a.d", from: "203.0.113.9").0 == 400) }
            let late = try await send("b.a.d", from: "203.0.113.9")
            #expect(late.0 == 429 && late.1 == "1")
            #expect(try await send("g.o.od", from: "203.0.113.9").0 == 200)
            #expect(try await send("b.a.d", from: "203.0.113.10").0 == 400)
        }
    }

    @Test func aNotificationThatCannotBeKeptIsAskedForAgain() async throws {
        gateway.signInWithApple.receiveNotification.fail(with: Fault(.unavailable, "x"))
        let reply = try await gateway.send(.post, "/apple/v1/notifications", [:], body: #"{"payload":"a.b.c"}"#)
        #expect(reply.status == 503 && reply.text.isEmpty && reply.headers[.retryAfter] == "1")
        let get = try await gateway.get("/apple/v1/notifications", [:])
        #expect(get.status == 405 && get.text.isEmpty && get.headers[.allow] == "POST, OPTIONS")
    }
}
