internal import Contracts

/// FindProfiles, FindProfilesByCode and FindSession by REST v2: sessions of the caller's own client (rest-v2 §2.6 to §2.8, §6).
extension AuthenticationRequirements {
    static let profiles = [
        Requirement(
            "AUTHN-64",
            "A sign-in through a code of REST v2 is one session for both APIs: FindProfiles, FindProfilesByCode, GetSession and FindSession tell the same. The code starts no other.",
            source: "authentication.proto StartSignIn, FindProfiles, FindProfilesByCode, GetSession"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                let code = try await mvpd.signInByV2(on: device)
                let found = try await app.profiles(on: device)
                guard found.count == 1, let session = found[0].session, session.kind == .regular, session.mvpd == TestMvpd.id,
                    session.requestor == "ACME1", session.expiresAtMilliseconds > TestClock.now
                else { throw Unmet("one profile, REGULAR at \(TestMvpd.id) for ACME1", came: FrameText.text(Profiles(profiles: found))) }
                for same in [try await app.profiles(by: code), try await app.profiles(on: device, at: TestMvpd.id)] where same != found {
                    throw Unmet(FrameText.text(found[0]), came: FrameText.text(Profiles(profiles: same)))
                }
                let older = try await app.session(on: device)
                guard older == session else { throw Unmet(FrameText.text(session), came: FrameText.text(older)) }
                let request = SessionRequest(call: app.callV2(device), mvpd: TestMvpd.id)
                let subject = try await app.conversation.call(SessionsMethods.findSession, request)
                guard subject.session == session, subject.clientID == app.client.clientID, subject.deviceID == device, !subject.standsIn else {
                    throw Unmet("the same session of the client and device, standing in for none", came: FrameText.text(subject))
                }
                try await app.conversation.refusal(
                    of: AuthenticationMethods.startSignIn, app.open(code), codes: ["registration_code_spent", "invalid_registration_code"])
                let done = try await app.conversation.call(AuthenticationMethods.continueSignIn, app.proceed(code, mvpd: TestMvpd.neighbour))
                guard done.step == .authorize, done.reason == .authenticated, done.mvpd == TestMvpd.id else {
                    throw Unmet("step AUTHORIZE, reason AUTHENTICATED at \(TestMvpd.id)", came: FrameText.text(done))
                }
            }
        },
        Requirement(
            "AUTHN-65",
            "A sign-in by REST v1 is a profile of its client. Where the client's device has one BeginSignIn says AUTHORIZE, AUTHENTICATED, without a code; elsewhere a person has to sign in.",
            source: "authentication.proto BeginSignIn, FindProfiles, SIGN_IN_REASON_AUTHENTICATED"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (pending, session) = try await mvpd.signIn()
                let found = try await mvpd.app.profiles(on: pending.device)
                guard found.map(\.session) == [session] else { throw Unmet(FrameText.text(session), came: FrameText.text(Profiles(profiles: found))) }
                let plan = try await mvpd.app.plan(pending.device)
                guard plan.step == .authorize, plan.reason == .authenticated, plan.mvpd == TestMvpd.id, plan.code == nil else {
                    throw Unmet("step AUTHORIZE, reason AUTHENTICATED at \(TestMvpd.id), no code", came: FrameText.text(plan))
                }
                let other = try await TestApp(examination)
                let elsewhere = [
                    try await mvpd.app.plan(pending.device, mvpd: TestMvpd.neighbour), try await mvpd.app.plan(TestApp.device()),
                    try await mvpd.app.plan(pending.device, requestor: "ACME2", address: "https://acme-two.example/done"),
                    try await other.plan(pending.device),
                ]
                for plan in elsewhere where plan.step != .authenticate || plan.code == nil {
                    throw Unmet("step AUTHENTICATE with a code", came: FrameText.text(plan))
                }
            }
        },
        Requirement(
            "AUTHN-66",
            "FindProfiles of a device without a session is empty, also for one MVPD. It checks bearer, requestor, device id, MVPD (`invalid_mvpd`) and integration (`unknown_integration`) in this order.",
            source: "authentication.proto FindProfiles, rest-v2 §1.5"
        ) { examination in
            let app = try await TestApp(examination)
            try await app.requireNoProfile(on: TestApp.device())
            try await app.requireNoProfile(on: TestApp.device(), at: TestMvpd.id)
            let older = try await TestApp(examination, application: "acme-legacy")
            var request = FindProfilesRequest(call: DeviceCall(api: .v2), mvpd: "Nowhere")
            let steps: [(String, (inout FindProfilesRequest) -> Void)] = [
                ("access_denied", { $0.call?.accessToken = older.token }), ("access_denied", { $0.call?.accessToken = app.token }),
                ("invalid_requestor", { $0.call?.requestor = "BRAVO" }), ("insufficient_scope", { $0.call?.requestor = "ACME1" }),
                ("invalid_device_id", { $0.call?.deviceID = TestApp.device() }), ("invalid_mvpd", { $0.mvpd = "ParkedTV" }),
                ("unknown_integration", { $0.mvpd = "" }),
            ]
            for (code, mend) in steps {
                try await app.conversation.refusal(of: AuthenticationMethods.findProfiles, request, codes: [code])
                mend(&request)
            }
            try await app.conversation.call(AuthenticationMethods.findProfiles, request)
        },
        Requirement(
            "AUTHN-67",
            "A profile is its client's: another client, another device and another requestor have none of it, in FindProfiles and in FindSession.",
            source: "authentication.proto FindProfiles, FindSession"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other, device) = (mvpd.app, try await TestApp(examination), TestApp.device())
                try await mvpd.signInByV2(on: device)
                try await other.requireNoProfile(on: device)
                try await other.requireNoProfile(on: device, at: TestMvpd.id)
                try await app.requireNoProfile(on: TestApp.device())
                try await app.requireNoProfile(on: device, requestor: "ACME2")
                let foreign = SessionRequest(call: other.callV2(device), mvpd: TestMvpd.id)
                try await app.conversation.refusal(of: SessionsMethods.findSession, foreign, codes: ["authentication_session_missing"])
                try await mvpd.signInByV2(other, on: device)
                guard try await app.profiles(on: device).count == 1, try await other.profiles(on: device).count == 1 else {
                    throw Unmet("one profile of each client", came: "more, or none")
                }
            }
        },
        Requirement(
            "AUTHN-68",
            "A device has a profile at each MVPD that its person signed in at; FindProfiles and FindSession for one MVPD tell that one, GetSession the newest. EndProfile at one leaves the other.",
            source: "authentication.proto FindProfiles, FindSession, GetSession, EndProfile"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                try await mvpd.signInByV2(on: device)
                try await mvpd.signInByV2(on: device, at: TestMvpd.neighbour)
                let both = Set([TestMvpd.id, TestMvpd.neighbour])
                let found = try await app.profiles(on: device).compactMap(\.session?.mvpd)
                guard found.count == 2, Set(found) == both else { throw Unmet("profiles at \(both.sorted())", came: "\(found)") }
                for name in both {
                    guard try await app.profiles(on: device, at: name).map(\.session?.mvpd) == [name] else {
                        throw Unmet("the profile at \(name)", came: "another")
                    }
                    let request = SessionRequest(call: app.callV2(device), mvpd: name)
                    let subject = try await app.conversation.call(SessionsMethods.findSession, request)
                    guard subject.session?.mvpd == name else { throw Unmet("the session at \(name)", came: FrameText.text(subject)) }
                }
                guard try await app.session(on: device).mvpd == TestMvpd.neighbour else { throw Unmet("the newest session", came: "another") }
                _ = try await app.leave(TestMvpd.neighbour, on: device)
                guard try await app.profiles(on: device).map(\.session?.mvpd) == [TestMvpd.id],
                    try await app.session(on: device).mvpd == TestMvpd.id
                else { throw Unmet("the profile at \(TestMvpd.id) alone, also for GetSession", came: "another") }
            }
        },
        Requirement(
            "AUTHN-69",
            "FindProfilesByCode is empty until somebody has signed in. Then its maker has the profile with what it may know, also after a newer code, and other clients the user's id alone; after a logout it is empty.",
            source: "authentication.proto FindProfilesByCode, clients §4.3"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other, device) = (mvpd.app, try await TestApp(examination), TestApp.device())
                let code = try app.code(of: try await app.plan(device))
                for reader in [app, other] {
                    guard try await reader.profiles(by: code).isEmpty else { throw Unmet("no profile before a sign-in", came: "one") }
                }
                try await mvpd.finish(code, on: device)
                _ = try await app.plan(device, mvpd: TestMvpd.neighbour)
                let own = try await app.profiles(by: code)
                guard own.count == 1, own[0].metadata?.data.contains(where: { $0.key == "householdID" }) ?? false else {
                    throw Unmet("one profile with the householdID", came: FrameText.text(Profiles(profiles: own)))
                }
                let seen = try await other.profiles(by: code)
                guard seen.map(\.session?.mvpd) == [TestMvpd.id], seen[0].metadata?.data.allSatisfy({ $0.key == "userID" }) ?? true else {
                    throw Unmet("one profile, and of it the userID alone", came: FrameText.text(Profiles(profiles: seen)))
                }
                _ = try await app.leave(TestMvpd.id, on: device)
                for reader in [app, other] {
                    guard try await reader.profiles(by: code).isEmpty else { throw Unmet("no profile after a logout", came: "one") }
                }
            }
        },
        Requirement(
            "AUTHN-70",
            "FindProfilesByCode refuses a call without a bearer of REST v2, for a foreign requestor, and a code that is not known or another requestor's (`invalid_registration_code`).",
            source: "authentication.proto FindProfilesByCode"
        ) { examination in
            let app = try await TestApp(examination)
            let older = try await TestApp(examination, application: "acme-legacy")
            let code = try app.code(of: try await app.plan(TestApp.device()))
            var (absent, foreign) = (app.byCode(code), app.byCode(code))
            absent.accessToken = ""
            foreign.accessToken = older.token
            let cases: [(SessionByCodeRequest, String)] = [
                (absent, "access_denied"), (foreign, "access_denied"), (app.byCode(code, requestor: "BRAVO"), "insufficient_scope"),
                (app.byCode(code, requestor: "NOBODY"), "invalid_requestor"), (app.byCode("NOTHING"), "invalid_registration_code"),
                (app.byCode(code, requestor: "ACME2"), "invalid_registration_code"),
            ]
            for (request, refusal) in cases {
                try await app.conversation.refusal(of: AuthenticationMethods.findProfilesByCode, request, codes: [refusal])
            }
        },
    ]
}
