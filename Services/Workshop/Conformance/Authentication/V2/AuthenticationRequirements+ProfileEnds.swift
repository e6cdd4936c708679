internal import Contracts
internal import Foundation

/// EndProfile, and v1's logout of what REST v2 shows (rest-v2 §2.11, §6).
extension AuthenticationRequirements {
    static let profileEnds = [
        Requirement(
            "AUTHN-71",
            "EndProfile checks bearer, requestor, device id, MVPD (`invalid_mvpd`), address (`invalid_redirect_url`: absent, or not the requestor's) and integration (`unknown_integration`) in this order.",
            source: "authentication.proto EndProfile, rest-v2 §1.5"
        ) { examination in
            let app = try await TestApp(examination)
            let older = try await TestApp(examination, application: "acme-legacy")
            var request = EndProfileRequest(call: DeviceCall(api: .v2), mvpd: "Nowhere")
            let steps: [(String, (inout EndProfileRequest) -> Void)] = [
                ("access_denied", { $0.call?.accessToken = older.token }), ("access_denied", { $0.call?.accessToken = app.token }),
                ("invalid_requestor", { $0.call?.requestor = "BRAVO" }), ("insufficient_scope", { $0.call?.requestor = "ACME1" }),
                ("invalid_device_id", { $0.call?.deviceID = TestApp.device() }), ("invalid_mvpd", { $0.mvpd = "ParkedTV" }),
                ("invalid_redirect_url", { $0.redirectURL = "https://elsewhere.example/" }),
                ("invalid_redirect_url", { $0.redirectURL = TestApp.address }), ("unknown_integration", { $0.mvpd = TestMvpd.id }),
            ]
            for (code, mend) in steps {
                try await app.conversation.refusal(of: AuthenticationMethods.endProfile, request, codes: [code])
                mend(&request)
            }
            let ended = try await app.conversation.call(AuthenticationMethods.endProfile, request)
            guard ended.end == .none, ended.visitURL.isEmpty else { throw Unmet("end NONE, no visit_url", came: FrameText.text(ended)) }
        },
        Requirement(
            "AUTHN-72",
            "EndProfile ends the client's session at the MVPD, at once and for every call of both APIs, and leads a browser to the MVPD (VISIT); once more there is NONE. Another client's session goes on.",
            source: "authentication.proto EndProfile, PROFILE_END_VISIT, rest-v2 §2.11"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other, device) = (mvpd.app, try await TestApp(examination), TestApp.device())
                try await mvpd.signInByV2(on: device)
                let ended = try await app.leave(TestMvpd.id, on: device)
                guard ended.end == .visit, !ended.visitURL.isEmpty else { throw Unmet("end VISIT with a visit_url", came: FrameText.text(ended)) }
                let conversation = try await examination.greet()
                try await app.requireNoProfile(on: device)
                let missing: Set = ["authentication_session_missing"]
                let older = SessionRequest(call: app.call(device))
                try await conversation.refusal(of: AuthenticationMethods.getSession, older, codes: missing)
                try await conversation.refusal(of: SessionsMethods.findSession, older, codes: missing)
                let request = SessionRequest(call: app.callV2(device), mvpd: TestMvpd.id)
                try await conversation.refusal(of: SessionsMethods.findSession, request, codes: missing)
                guard try await app.leave(TestMvpd.id, on: device).end == .none else { throw Unmet("end NONE the second time", came: "another") }
                try await mvpd.signInByV2(on: device)
                try await mvpd.signInByV2(other, on: device)
                _ = try await app.leave(TestMvpd.id, on: device)
                guard try await other.profiles(on: device).count == 1 else { throw Unmet("the other client's profile", came: "none") }
            }
        },
        Requirement(
            "AUTHN-73", "The visit_url of EndProfile has a handle with which VisitLogout goes on to the MVPD's logout.",
            source: "authentication.proto EndedProfile.visit_url, VisitLogout"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let device = TestApp.device()
                try await mvpd.signInByV2(on: device)
                let ended = try await mvpd.app.leave(TestMvpd.id, on: device)
                guard let handle = URLComponents(string: ended.visitURL)?.queryItems?.first(where: { $0.name == "handle" })?.value else {
                    throw Unmet("a visit_url with a handle", came: FrameText.text(ended))
                }
                let step = try await mvpd.app.conversation.call(AuthenticationMethods.visitLogout, VisitLogoutRequest(handle: handle))
                guard step.result == .goesOn, step.url.hasPrefix("\(TestMvpd.address)/slo") else {
                    throw Unmet("LOGOUT_RESULT_GOES_ON to \(TestMvpd.address)/slo", came: FrameText.text(step))
                }
            }
        },
        Requirement(
            "AUTHN-74", "EndProfile is COMPLETE where the MVPD has no logout, at a TempPass, and while an AuthN-all rule stands for a session.",
            source: "authentication.proto PROFILE_END_COMPLETE"
        ) { examination in
            func requireComplete(_ ended: EndedProfile, _ what: String) throws {
                guard ended.end == .complete, ended.visitURL.isEmpty else {
                    throw Unmet("end COMPLETE without a visit_url \(what)", came: FrameText.text(ended))
                }
            }
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                try await mvpd.signInByV2(on: device, at: TestMvpd.neighbour)
                try requireComplete(try await app.leave(TestMvpd.neighbour, on: device), "at an MVPD without a logout")
                try await app.requireNoProfile(on: device)
                try requireComplete(try await app.leave("Preview10", on: device), "at a TempPass")
                try await app.whileBypassed(examination, at: TestMvpd.neighbour) {
                    try requireComplete(try await app.leave(TestMvpd.neighbour, on: device), "while the MVPD is bypassed")
                }
            }
        },
        Requirement(
            "AUTHN-75", "Logout of REST v1 ends the device's sessions at the requestor of every client and MVPD; no profile is left.",
            source: "authentication.proto Logout, FindProfiles, rest-v2 §6"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other, device) = (mvpd.app, try await TestApp(examination), TestApp.device())
                try await mvpd.signInByV2(on: device)
                try await mvpd.signInByV2(on: device, at: TestMvpd.neighbour)
                try await mvpd.signInByV2(other, on: device)
                try await app.conversation.call(AuthenticationMethods.logout, LogoutRequest(call: app.call(device)))
                try await app.requireNoProfile(on: device)
                try await other.requireNoProfile(on: device)
                try await app.requireNoSession(on: device)
            }
        },
    ]

    static let durable = [
        Requirement(
            "AUTHN-85",
            "Clients, tokens, codes and sessions outlive the service's process, and so does that a code was used, a session ended, a trial begun.",
            source: "Replacing.md §1", isDisruptive: true
        ) { examination in
            let app = try await TestApp(examination)
            let (device, former, fresh) = (TestApp.device(), TestApp.device(), TestApp.device())
            var code = ""
            try await TestMvpd.play(examination) { mvpd in
                code = try await mvpd.signInByV2(app, on: device)
                try await mvpd.signInByV2(app, on: former)
            }
            let session = try await app.session(on: device)
            _ = try await app.leave(TestMvpd.id, on: former)
            let waiting = try app.code(of: try await app.plan(fresh))
            let spend = SpendTempPassRequest(deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS", mvpd: "Preview10")
            let end = try await app.conversation.call(SessionsMethods.spendTempPass, spend).expiresAtMilliseconds
            try await examination.restart()
            let again = TestApp(app, on: try await examination.greet())
            guard try await again.session(on: device) == session, try await again.profiles(on: device).map(\.session) == [session] else {
                throw Unmet("the session as it was, in both APIs", came: "another")
            }
            let used: Set = ["registration_code_spent", "invalid_registration_code"]
            try await again.conversation.refusal(of: AuthenticationMethods.startSignIn, again.open(code), codes: used)
            try await again.conversation.call(AuthenticationMethods.continueSignIn, again.proceed(waiting))
            try await again.requireNoProfile(on: former)
            let balance = try await again.conversation.call(SessionsMethods.spendTempPass, spend)
            guard balance.expiresAtMilliseconds == end else { throw Unmet("the trial's end, \(end)", came: "\(balance.expiresAtMilliseconds)") }
        }
    ]
}
