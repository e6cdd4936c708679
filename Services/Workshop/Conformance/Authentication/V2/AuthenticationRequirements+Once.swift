internal import Contracts
internal import Foundation
internal import SamlResponder

/// Sign-ins through one code, and how long what they made is there (rest-v1 §3.7, clients §4.2 to §4.4, rest-v2 §2.6).
extension AuthenticationRequirements {
    static let once = [
        Requirement(
            "AUTHN-86",
            "A sign-in through a code may be begun again: each answer is good until one succeeds, which ends the others. A new code of the device ends those of the one before.",
            source: "authentication.proto StartSignIn, BeginSignIn, SIGN_IN_RESULT_REJECTED"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                func begin(_ code: String) async throws -> TestMvpd.Pending {
                    let start = try await app.conversation.call(AuthenticationMethods.startSignIn, app.open(code))
                    return try TestMvpd.pending(start, device, code)
                }
                func answer(_ pending: TestMvpd.Pending) throws -> String {
                    try mvpd.mvpd.response(to: pending.request, for: TestMvpd.subscriber, now: Date())
                }
                let replaced = try await begin(try app.code(of: try await app.plan(device)))
                let code = try app.code(of: try await app.plan(device))
                try await mvpd.requireRejected(try answer(replaced), to: replaced)
                let (first, second) = (try await begin(code), try await begin(code))
                guard try await mvpd.bring(try answer(first), to: first).result == .signedIn else {
                    throw Unmet("SIGN_IN_RESULT_SIGNED_IN for the sign-in that was begun first", came: "another result")
                }
                let found = try await app.profiles(on: device)
                try await mvpd.requireRejected(try answer(second), to: second)
                guard try await app.profiles(on: device) == found else { throw Unmet("the profile as it was", came: "another") }
            }
        },
        Requirement(
            "AUTHN-87",
            "The code's maker may hand a sign-in over: begun with its bearer it belongs to no browser, and any agent completes it, once, but no frame. With another client's bearer it belongs to the browser, and that is no fault.",
            source: "authentication.proto StartSignInRequest.access_token, SignInStart.browser_secret, CompleteSamlSignInRequest.is_embedded"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other, device) = (mvpd.app, try await TestApp(examination), TestApp.device())
                func begin(_ bearer: String) async throws -> TestMvpd.Pending {
                    var request = app.open(try app.code(of: try await app.plan(device)))
                    request.accessToken = bearer
                    let start = try await app.conversation.call(AuthenticationMethods.startSignIn, request)
                    return try TestMvpd.pending(start, device, request.registrationCode)
                }
                for bearer in [other.token, "nonsense"] {
                    guard try await !begin(bearer).browserSecret.isEmpty else {
                        throw Unmet("a browser_secret for a sign-in that is not the maker's to hand over", came: "none")
                    }
                }
                let pending = try await begin(app.token)
                guard pending.browserSecret.isEmpty else { throw Unmet("no browser_secret", came: "one") }
                let response = try mvpd.mvpd.response(to: pending.request, for: TestMvpd.subscriber, now: Date())
                var framed = CompleteSamlSignInRequest(
                    samlResponse: Data(response.utf8).base64EncodedString(), relayState: pending.relayState,
                    relayStatePresent: !pending.relayState.isEmpty)
                framed.isEmbedded = true
                let refused = try await app.conversation.call(AuthenticationMethods.completeSamlSignIn, framed)
                guard refused.result == .rejected else { throw Unmet("SIGN_IN_RESULT_REJECTED from a frame", came: FrameText.text(refused)) }
                try await app.requireNoProfile(on: device)
                let again = try await begin(app.token)
                let genuine = try mvpd.mvpd.response(to: again.request, for: TestMvpd.subscriber, now: Date())
                guard try await mvpd.bring(genuine, to: again, secret: "any-agent").result == .signedIn else {
                    throw Unmet("SIGN_IN_RESULT_SIGNED_IN from any agent", came: "another result")
                }
                try await mvpd.requireRejected(genuine, to: again, secret: "any-agent")
            }
        },
        Requirement(
            "AUTHN-88", "By REST v2 a code is shown to a bearer alone, and its device's id to its maker alone.",
            source: "authentication.proto GetRegistrationCode, RegistrationCodeRequest.api"
        ) { examination in
            let (app, other, device) = (try await TestApp(examination), try await TestApp(examination), TestApp.device())
            let code = try app.code(of: try await app.plan(device))
            let method = AuthenticationMethods.getRegistrationCode
            var request = RegistrationCodeRequest(requestor: "ACME1", code: code, api: .v2)
            try await app.conversation.refusal(of: method, request, codes: ["access_denied"])
            request.accessToken = other.token
            let seen = try await app.conversation.call(method, request)
            guard seen.code == code, seen.deviceID != device, seen.domainName == "acme.example" else {
                throw Unmet("the code with its domain, and not the device's id", came: FrameText.text(seen))
            }
        },
        Requirement(
            "AUTHN-93", "Of codes that a client's device gets at the same time by BeginSignIn one is left.",
            source: "authentication.proto BeginSignIn"
        ) { examination in
            let (app, device) = (try await TestApp(examination), TestApp.device())
            let request = BeginSignInRequest(
                call: app.callV2(device), mvpd: TestMvpd.id, domainName: "acme.example", redirectURL: TestApp.address)
            let codes = try await app.conversation.together(AuthenticationMethods.beginSignIn, Array(repeating: request, count: 8)).map { outcome in
                guard case .answer(let plan) = outcome else { throw Unmet("8 plans", came: "\(outcome)") }
                return try app.code(of: plan)
            }
            var live = 0
            for code in codes {
                if case .answer = try await app.conversation.outcome(of: AuthenticationMethods.continueSignIn, app.proceed(code)) { live += 1 }
            }
            guard Set(codes).count == 8, live == 1 else { throw Unmet("8 codes, 1 of them left", came: "\(Set(codes).count) codes, \(live) left") }
        },
        Requirement(
            "AUTHN-94", "Plays of a promotional TempPass that are counted at the same time take no more resources than there are.",
            source: "authentication.proto SpendTempPass"
        ) { examination in
            let (app, device) = (try await TestApp(examination), TestApp.device())
            let most = try app.promotedResources(examination)
            let plays = (0..<most + 5).map { number in
                SpendTempPassRequest(
                    deviceID: device, requestor: "ACME1", resource: "VOD-\(number)", genericData: #"{"email":"\#(device)@conformance.example"}"#,
                    mvpd: "PromoVod")
            }
            let permitted = try await app.conversation.together(SessionsMethods.spendTempPass, plays).count { outcome in
                if case .answer = outcome { true } else { false }
            }
            guard permitted == most else { throw Unmet("\(most) of \(plays.count) plays", came: "\(permitted)") }
        },
        Requirement(
            "AUTHN-90",
            "A session lasts as long as the integration says. When it is over FindProfiles is empty, GetSession and FindSession say `authentication_session_expired`, and a person has to sign in.",
            source: "config.proto Integration.authn_ttl_s, authentication.proto GetSession, FindSession"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                let change: (inout Configuration) -> Void = { configuration in
                    for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == TestMvpd.id {
                        configuration.integrations[index].authnTtlSeconds = 2
                    }
                }
                let isShort = { () async throws -> Bool in
                    let probe = TestApp.device()
                    try await mvpd.signInByV2(on: probe)
                    let session = try await app.session(on: probe)
                    return session.expiresAtMilliseconds &- session.createdAtMilliseconds == 2000
                }
                try await examination.peers().withCatalogue(change, until: isShort) {
                    try await mvpd.signInByV2(on: device)
                    try await TestClock.pass(try await app.session(on: device).expiresAtMilliseconds)
                    try await app.requireNoProfile(on: device)
                    let over: Set = ["authentication_session_expired"]
                    try await app.conversation.refusal(of: AuthenticationMethods.getSession, SessionRequest(call: app.call(device)), codes: over)
                    let request = SessionRequest(call: app.callV2(device), mvpd: TestMvpd.id)
                    try await app.conversation.refusal(of: SessionsMethods.findSession, request, codes: over)
                    guard try await app.plan(device).step == .authenticate else { throw Unmet("step AUTHENTICATE", came: "another") }
                }
            }
        },
        Requirement(
            "AUTHN-91",
            "Where an integration is switched off its profiles are hidden, and calls for its MVPD are `unknown_integration`; switched on again they are there.",
            source: "config.proto Integration.enabled, authentication.proto FindProfiles, FindSession"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                try await mvpd.signInByV2(on: device)
                let found = try await app.profiles(on: device)
                let off: (inout Configuration) -> Void = { configuration in
                    for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == TestMvpd.id {
                        configuration.integrations[index].enabled = false
                    }
                }
                let isOff = { () async throws -> Bool in try await app.profiles(on: device).isEmpty }
                try await examination.peers().withCatalogue(off, until: isOff) {
                    let call = app.callV2(device)
                    let unknown: Set = ["unknown_integration"]
                    try await app.conversation.refusal(
                        of: AuthenticationMethods.findProfiles, FindProfilesRequest(call: call, mvpd: TestMvpd.id), codes: unknown)
                    try await app.conversation.refusal(
                        of: SessionsMethods.findSession, SessionRequest(call: call, mvpd: TestMvpd.id), codes: unknown)
                    try await app.conversation.refusal(
                        of: AuthenticationMethods.endProfile, app.leaving(TestMvpd.id, on: device), codes: unknown)
                }
                let again = try await app.profiles(on: device)
                guard again == found else { throw Unmet("the profile as it was", came: FrameText.text(Profiles(profiles: again))) }
            }
        },
    ]
}
