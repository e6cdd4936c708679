internal import Contracts
internal import Foundation
internal import SamlResponder

extension AuthenticationRequirements {
    static let mvpdAnswers = [
        Requirement(
            "AUTHN-37",
            "A genuine answer of a SAML MVPD signs the device in: SIGNED_IN, the browser goes to redirect_url, the code is used, device and code have one session.",
            source: "authentication.proto CompleteSamlSignIn, Session, RegistrationCode.used"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (pending, session) = try await mvpd.signIn()
                guard session.kind == .regular, session.requestor == "ACME1", session.mvpd == TestMvpd.id, session.proxyMvpd.isEmpty,
                    session.expiresAtMilliseconds > session.createdAtMilliseconds
                else { throw Unmet("a session of kind REGULAR at \(TestMvpd.id) for ACME1", came: FrameText.text(session)) }
                guard session.userID.utf8.count == 64, session.userID.allSatisfy({ "0123456789abcdef".contains($0) }) else {
                    throw Unmet("a user_id of 64 lower-case hex digits", came: session.userID)
                }
                let byCode = SessionByCodeRequest(requestor: "ACME1", code: pending.code)
                let other = try await examination.greet()
                let same = try await other.call(AuthenticationMethods.getSessionByCode, byCode)
                guard same == session else { throw Unmet(FrameText.text(session), came: FrameText.text(same)) }
                let code = RegistrationCodeRequest(accessToken: mvpd.app.token, requestor: "ACME1", code: pending.code)
                guard try await other.call(AuthenticationMethods.getRegistrationCode, code).used else {
                    throw Unmet("a code that is used", came: "one that is not")
                }
            }
        },
        Requirement(
            "AUTHN-38", "FindSession tells the identity that the MVPD gave, and its attributes under the names of the catalogue.",
            source: "authentication.proto SessionSubject, config.proto SamlEndpoint.attribute_map"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let pending = try await mvpd.signIn().pending
                let subject = try await mvpd.app.conversation.call(
                    SessionsMethods.findSession, SessionRequest(call: mvpd.app.call(pending.device)))
                guard subject.upstreamUserID == TestMvpd.subscriber.nameID else {
                    throw Unmet("upstream_user_id \(TestMvpd.subscriber.nameID)", came: FrameText.text(subject))
                }
                for (key, values) in [("householdID", [TestMvpd.subscriber.householdID]), ("channelID", TestMvpd.subscriber.channels)] {
                    guard subject.attributes.first(where: { $0.key == key })?.values == values else {
                        throw Unmet("\(key) \(values)", came: FrameText.text(subject))
                    }
                }
            }
        },
        Requirement(
            "AUTHN-39", "user_id names a person at a requestor: the same at each of their sign-ins, another for another subscriber.",
            source: "authentication.proto Session.user_id"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let first = try await mvpd.signIn().session
                let again = try await mvpd.signIn().session
                let other = PlayedMvpd.Subscriber(nameID: "conformance-other", householdID: "conformance-household", channels: [])
                let neighbour = try await mvpd.signIn(other).session
                guard first.userID == again.userID, first.id != again.id else {
                    throw Unmet("another session of user \(first.userID)", came: FrameText.text(again))
                }
                guard neighbour.userID != first.userID else { throw Unmet("another user_id for another subscriber", came: neighbour.userID) }
                for id in [first.userID, neighbour.userID] where id.contains("conformance") {
                    throw Unmet("a user_id that does not show the MVPD's name of the person", came: id)
                }
            }
        },
        Requirement(
            "AUTHN-40", "An answer is taken once: the same one again, and the same assertion in the answer to another sign-in, is REJECTED.",
            source: "authentication.proto SIGN_IN_RESULT_REJECTED"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let pending = try await mvpd.begin()
                let response = try mvpd.mvpd.response(to: pending.request, for: TestMvpd.subscriber, now: Date())
                guard try await mvpd.bring(response, to: pending).result == .signedIn else {
                    throw Unmet("SIGN_IN_RESULT_SIGNED_IN for the first time", came: "another result")
                }
                try await mvpd.requireRejected(response, to: pending)
                let next = try await mvpd.begin()
                try await mvpd.requireRejected(response, to: next)
                try await mvpd.requireNoSession(next)
            }
        },
        Requirement(
            "AUTHN-95",
            "ExportPerson tells a person's rows, ErasePerson removes them and ends the session. A service that looks for nobody answers `unimplemented`.",
            source: "authentication.proto ExportPerson, ErasePerson"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let subscriber = PlayedMvpd.Subscriber(nameID: TestApp.device(), householdID: TestApp.device(), channels: [])
                let pending = try await mvpd.signIn(subscriber).pending
                let selector = PersonSelector(mvpd: TestMvpd.id, person: .userID(subscriber.nameID))
                let (tell, erase) = (AuthenticationOperationsMethods.exportPerson, AuthenticationOperationsMethods.erasePerson)
                let told: PersonExport
                switch try await mvpd.app.conversation.outcome(of: tell, ExportPersonRequest(selector: selector)) {
                case .fault(let fault) where fault.code == "unimplemented": return
                case .fault(let fault): throw Unmet("the person's rows", came: FrameText.text(fault))
                case .answer(let answer): told = answer
                }
                guard told.people.map(\.upstreamUserID) == [subscriber.nameID], told.records?.tables.isEmpty == false, !told.isAmbiguous else {
                    throw Unmet("one person, with rows", came: FrameText.text(told))
                }
                try await mvpd.app.conversation.call(erase, ErasePersonRequest(selector: selector))
                try await mvpd.requireNoSession(pending, isErased: true)
                let left = try await mvpd.app.conversation.call(tell, ExportPersonRequest(selector: selector))
                guard left.people.isEmpty, left.records?.tables.isEmpty ?? true else { throw Unmet("nobody, and no row", came: FrameText.text(left)) }
            }
        },
        Requirement(
            "AUTHN-41",
            "An answer is REJECTED whose assertion is not signed, was signed by another key, or was changed after it was signed; nobody is signed in.",
            source: "authentication.proto SIGN_IN_RESULT_REJECTED, config.proto SamlEndpoint.signing_certificates"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                for forge in TestMvpd.forgeries {
                    let pending = try await mvpd.begin()
                    try await mvpd.requireRejected(try forge(mvpd, pending.request), to: pending)
                    try await mvpd.requireNoSession(pending)
                }
            }
        },
        Requirement(
            "AUTHN-42",
            "A genuine answer is REJECTED that is for another service, another address or another request, that is over, or that another browser brings.",
            source: "authentication.proto CompleteSamlSignInRequest.browser_secret, SIGN_IN_RESULT_REJECTED"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let errors: [(inout AuthnRequestFacts) -> Void] = [
                    { $0.issuer = "https://elsewhere.example/sp" }, { $0.assertionConsumerService = "https://elsewhere.example/acs" },
                    { $0.id = "_another-request" },
                ]
                for err in errors {
                    let pending = try await mvpd.begin()
                    var request = pending.request
                    err(&request)
                    try await mvpd.requireRejected(try mvpd.mvpd.response(to: request, for: TestMvpd.subscriber, now: Date()), to: pending)
                    try await mvpd.requireNoSession(pending)
                }
                let late = try await mvpd.begin()
                let old = try mvpd.mvpd.response(to: late.request, for: TestMvpd.subscriber, now: Date(timeIntervalSinceNow: -3600))
                try await mvpd.requireRejected(old, to: late)
                try await mvpd.requireNoSession(late)
                let stolen = try await mvpd.begin()
                let response = try mvpd.mvpd.response(to: stolen.request, for: TestMvpd.subscriber, now: Date())
                try await mvpd.requireRejected(response, to: stolen, secret: "another-browser")
                try await mvpd.requireNoSession(stolen)
            }
        },
        Requirement(
            "AUTHN-43", "A person who did not sign in at the MVPD goes back to the app: DECLINED, with the redirect_url; nobody is signed in.",
            source: "authentication.proto SIGN_IN_RESULT_DECLINED"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let pending = try await mvpd.begin()
                let outcome = try await mvpd.bring(mvpd.mvpd.refusal(to: pending.request, now: Date()), to: pending)
                guard outcome.result == .declined, outcome.redirectURL.hasPrefix("https://acme.example/done") else {
                    throw Unmet("SIGN_IN_RESULT_DECLINED and redirect_url https://acme.example/done", came: FrameText.text(outcome))
                }
                try await mvpd.requireNoSession(pending)
            }
        },
    ]
}

extension TestMvpd {
    typealias Forgery = @Sendable (TestMvpd, AuthnRequestFacts) throws -> String

    static let forgeries: [Forgery] = [
        { try $0.impostor.response(to: $1, for: subscriber, now: Date()) },
        { try $0.mvpd.response(to: $1, for: subscriber, now: Date()).replacing(subscriber.nameID, with: "conformance-richer") },
        { try $0.mvpd.response(to: $1, for: subscriber, now: Date()).replacing(/<ds:Signature .*<\/ds:Signature>/, with: "") },
        // The signed assertion stays, and a forged one without a signature comes before it.
        { mvpd, request in
            let genuine = try mvpd.mvpd.response(to: request, for: subscriber, now: Date())
            guard let assertion = genuine.firstMatch(of: /<saml:Assertion .*<\/saml:Assertion>/) else { return genuine }
            let forged = assertion.0.replacing(/<ds:Signature .*<\/ds:Signature>/, with: "").replacing(subscriber.nameID, with: "conformance-richer")
                .replacing(/ID="[^"]*"/, with: #"ID="_forged""#)
            return genuine.replacing(assertion.0, with: forged + assertion.0)
        },
    ]

    /// - Throws: `Unmet` unless the answer is rejected.
    func requireRejected(_ response: String, to pending: Pending, secret: String? = nil) async throws {
        let outcome = try await bring(response, to: pending, secret: secret)
        guard outcome.result == .rejected, outcome.redirectURL.isEmpty, !outcome.traceID.isEmpty else {
            throw Unmet("SIGN_IN_RESULT_REJECTED with a trace_id and without a redirect_url", came: FrameText.text(outcome))
        }
    }
}
