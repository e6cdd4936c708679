internal import Contracts

/// BeginSignIn and ContinueSignIn: what a sign-in by REST v2 takes (rest-v2 §2.2, §2.3).
extension AuthenticationRequirements {
    static let plans = [
        Requirement(
            "AUTHN-57",
            "BeginSignIn with all that a sign-in needs says AUTHENTICATE and gives a code of 7 capitals and digits for 1800 s, which keeps what was sent.",
            source: "authentication.proto BeginSignIn, SignInPlan, RegistrationCode.domain_name, rest-v2 §2.2"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let plan = try await app.plan(device)
            guard plan.step == .authenticate, plan.reason == .none, plan.mvpd == TestMvpd.id, !plan.id.isEmpty, let code = plan.code else {
                throw Unmet("step AUTHENTICATE without a reason at \(TestMvpd.id), with an id and a code", came: FrameText.text(plan))
            }
            guard !plan.lacksMvpd, !plan.lacksDomainName, !plan.lacksRedirectURL else { throw Unmet("nothing missing", came: FrameText.text(plan)) }
            guard code.code.utf8.count == 7, code.code.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber) }),
                code.expiresAtMilliseconds &- code.generatedAtMilliseconds == 1_800_000, code.requestor == "ACME1", !code.used
            else { throw Unmet("7 capitals and digits for 1800000 ms at ACME1, not used", came: FrameText.text(code)) }
            let request = RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: code.code, api: .v2)
            let kept = try await examination.greet().call(AuthenticationMethods.getRegistrationCode, request)
            guard kept.mvpd == TestMvpd.id, kept.domainName == "acme.example", kept.redirectURL == TestApp.address, kept.deviceID == device else {
                throw Unmet("MVPD, domain_name, redirect_url and device of the call", came: FrameText.text(kept))
            }
        },
        Requirement(
            "AUTHN-58",
            "What a sign-in lacks BeginSignIn names, with COMPLETE and a code all the same. A domain decides nothing: any text on one line is one, a blank or an overlong one is none.",
            source: "authentication.proto BeginSignInRequest.domain_name, SignInPlan, clients §4.1"
        ) { examination in
            let app = try await TestApp(examination)
            func lacks(_ plan: SignInPlan) -> [Bool] { [plan.lacksMvpd, plan.lacksDomainName, plan.lacksRedirectURL] }
            let cases: [(mvpd: String, domain: String, address: String, lacks: [Bool])] = [
                ("", "", "", [true, true, true]), (TestMvpd.id, "acme.example", "", [false, false, true]),
                ("", "https://elsewhere.example/page", TestApp.address, [true, false, false]),
                (TestMvpd.id, "   ", TestApp.address, [false, true, false]),
                (TestMvpd.id, String(repeating: "a", count: 254), TestApp.address, [false, true, false]),
                (TestMvpd.id, "acme\n.example", TestApp.address, [false, true, false]),
            ]
            for (mvpd, domain, address, missing) in cases {
                let plan = try await app.plan(TestApp.device(), mvpd: mvpd, domain: domain, address: address)
                guard plan.step == .complete, plan.reason == .none, lacks(plan) == missing, plan.mvpd == mvpd else {
                    throw Unmet("step COMPLETE, and MVPD, domain, address missing: \(missing)", came: FrameText.text(plan))
                }
                _ = try app.code(of: plan)
            }
            for domain in ["elsewhere.example", "adobe.com", "https://www.acme.example:443/a?b", "no host at all"] {
                let plan = try await app.plan(TestApp.device(), domain: domain)
                guard plan.step == .authenticate else { throw Unmet("step AUTHENTICATE with the domain '\(domain)'", came: FrameText.text(plan)) }
            }
        },
        Requirement(
            "AUTHN-59",
            "BeginSignIn checks in this order: bearer, of REST v2, requestor, device id, MVPD (`invalid_mvpd`), address (`invalid_redirect_url`), integration (`unknown_integration`).",
            source: "authentication.proto BeginSignIn, DeviceCall, API_VERSION_V2, rest-v2 §1.5"
        ) { examination in
            let app = try await TestApp(examination)
            let older = try await TestApp(examination, application: "acme-legacy")
            var request = BeginSignInRequest(
                call: DeviceCall(api: .v2), mvpd: "Nowhere", domainName: "acme.example", redirectURL: "https://elsewhere.example/")
            let steps: [(String, (inout BeginSignInRequest) -> Void)] = [
                ("access_denied", { $0.call?.accessToken = older.token }), ("access_denied", { $0.call?.accessToken = app.token }),
                ("invalid_requestor", { $0.call?.requestor = "BRAVO" }), ("insufficient_scope", { $0.call?.requestor = "ACME1" }),
                ("invalid_device_id", { $0.call?.deviceID = TestApp.device() }), ("invalid_mvpd", { $0.mvpd = "ParkedTV" }),
                ("invalid_redirect_url", { $0.redirectURL = TestApp.address }), ("unknown_integration", { $0.mvpd = TestMvpd.id }),
            ]
            for (code, mend) in steps {
                try await app.conversation.refusal(of: AuthenticationMethods.beginSignIn, request, codes: [code])
                mend(&request)
            }
            try await app.conversation.call(AuthenticationMethods.beginSignIn, request)
            for address in [
                "not an address", "javascript:alert(1)", "https://acme.example.elsewhere.example/", "https://acme.example@elsewhere.example/",
            ] {
                request.redirectURL = address
                try await app.conversation.refusal(of: AuthenticationMethods.beginSignIn, request, codes: ["invalid_redirect_url"])
            }
        },
        Requirement(
            "AUTHN-60",
            "A new code ends the unused one that the client's device got at the requestor by BeginSignIn before; another client's, another device's, another requestor's and one of REST v1 go on.",
            source: "authentication.proto BeginSignIn"
        ) { examination in
            let (app, other) = (try await TestApp(examination), try await TestApp(examination))
            let device = TestApp.device()
            let replaced = try app.code(of: try await app.plan(device))
            let elsewhere = try app.code(of: try await app.plan(TestApp.device()))
            let foreign = try other.code(of: try await other.plan(device))
            let older = try await app.code(device).code
            let sibling = try app.code(of: try await app.plan(device, requestor: "ACME2", address: "https://acme-two.example/done"))
            let code = try app.code(of: try await app.plan(device))
            for live in [elsewhere, foreign, code] {
                try await app.conversation.call(AuthenticationMethods.continueSignIn, app.proceed(live))
            }
            try await app.conversation.call(AuthenticationMethods.continueSignIn, app.proceed(sibling, requestor: "ACME2"))
            try await app.conversation.call(
                AuthenticationMethods.getRegistrationCode, RegistrationCodeRequest(accessToken: app.token, requestor: "ACME1", code: older))
            let over: Set = ["invalid_registration_code", "registration_code_spent"]
            try await app.conversation.refusal(of: AuthenticationMethods.continueSignIn, app.proceed(replaced), codes: over)
            try await app.conversation.refusal(of: AuthenticationMethods.findProfilesByCode, app.byCode(replaced), codes: over)
            try await app.conversation.refusal(of: AuthenticationMethods.startSignIn, app.open(replaced), codes: over)
        },
        Requirement(
            "AUTHN-61",
            "ContinueSignIn puts what is sent in place of what the code has, for any client of the requestor and in any letter case; what is empty stays. Once more it says the same.",
            source: "authentication.proto ContinueSignIn, ContinueSignInRequest"
        ) { examination in
            let (app, screen) = (try await TestApp(examination), try await TestApp(examination))
            let code = try app.code(of: try await app.plan(TestApp.device(), mvpd: "", domain: "", address: ""))
            let method = AuthenticationMethods.continueSignIn
            let first = try await screen.conversation.call(
                method, screen.proceed(code.lowercased(), mvpd: TestMvpd.neighbour, domain: "acme.example"))
            guard first.step == .complete, first.lacksRedirectURL, !first.lacksMvpd, !first.lacksDomainName, first.code?.code == code else {
                throw Unmet("step COMPLETE, redirect_url missing, the same code", came: FrameText.text(first))
            }
            let request = screen.proceed(code, mvpd: TestMvpd.id, address: TestApp.address)
            for _ in 1...2 {
                let plan = try await screen.conversation.call(method, request)
                guard plan.step == .authenticate, plan.mvpd == TestMvpd.id, plan.code?.code == code, plan.code?.deviceID.isEmpty ?? false else {
                    throw Unmet("step AUTHENTICATE at \(TestMvpd.id), the same code, no device", came: FrameText.text(plan))
                }
            }
            let seen = try await app.conversation.call(method, app.proceed(code))
            guard seen.step == .authenticate, seen.code?.domainName == "acme.example", seen.code?.redirectURL == TestApp.address else {
                throw Unmet("what the other client sent", came: FrameText.text(seen))
            }
        },
        Requirement(
            "AUTHN-62",
            "ContinueSignIn refuses a bad bearer, a code that is not known or another requestor's (`invalid_registration_code`), then MVPD, address and integration; a refusal changes nothing.",
            source: "authentication.proto ContinueSignIn, rest-v2 §1.5"
        ) { examination in
            let app = try await TestApp(examination)
            let older = try await TestApp(examination, application: "acme-legacy")
            let code = try app.code(of: try await app.plan(TestApp.device()))
            let method = AuthenticationMethods.continueSignIn
            var request = app.proceed("NOTHING", requestor: "NOBODY", mvpd: "Nowhere", address: "https://elsewhere.example/")
            request.accessToken = ""
            let steps: [(String, (inout ContinueSignInRequest) -> Void)] = [
                ("access_denied", { $0.accessToken = older.token }), ("access_denied", { $0.accessToken = app.token }),
                ("invalid_requestor", { $0.requestor = "BRAVO" }), ("insufficient_scope", { $0.requestor = "ACME2" }),
                ("invalid_registration_code", { $0.code = code }), ("invalid_registration_code", { $0.requestor = "ACME1" }),
                ("invalid_mvpd", { $0.mvpd = "ParkedTV" }), ("invalid_redirect_url", { $0.redirectURL = "" }),
                ("unknown_integration", { $0.mvpd = "" }),
            ]
            for (code, mend) in steps {
                try await app.conversation.refusal(of: method, request, codes: [code])
                mend(&request)
            }
            let plan = try await app.conversation.call(method, request)
            guard plan.step == .authenticate, plan.mvpd == TestMvpd.id, plan.code?.redirectURL == TestApp.address else {
                throw Unmet("the plan as it was", came: FrameText.text(plan))
            }
        },
        Requirement(
            "AUTHN-63",
            "StartSignIn by REST v2 takes MVPD, domain and address from the code: one that lacks some is `invalid_request`, one that is not known or another requestor's `invalid_registration_code`.",
            source: "authentication.proto StartSignInRequest.api"
        ) { examination in
            let app = try await TestApp(examination)
            let method = AuthenticationMethods.startSignIn
            let plan = try await app.plan(TestApp.device(), address: "")
            let code = try app.code(of: plan)
            try await app.conversation.refusal(of: method, app.open(code), codes: ["invalid_request"])
            try await app.conversation.refusal(of: method, app.open("NOTHING"), codes: ["invalid_registration_code"])
            try await app.conversation.call(AuthenticationMethods.continueSignIn, app.proceed(code, address: TestApp.address))
            var foreign = app.open(code)
            foreign.requestor = "ACME2"
            try await app.conversation.refusal(of: method, foreign, codes: ["invalid_registration_code"])
            let start = try await app.conversation.call(method, app.open(code))
            guard !start.url.isEmpty, start.url != TestApp.address else { throw Unmet("the MVPD's address", came: FrameText.text(start)) }
        },
    ]
}
