internal import Contracts
internal import Foundation
internal import SamlResponder

/// Logins of a platform's user (rest-v2 §2.12, §2.13, §5 H, I).
extension AuthenticationRequirements {
    static let platformLogins = [
        Requirement(
            "AUTHN-80",
            "An app takes over the login of the same platform identity elsewhere: a profile of kind SHARED of the same user, and BeginSignIn says AUTHORIZE, SHARED. A token that does not hold, or another's, counts as none. EndProfile with the token ends the login, too.",
            source: "authentication.proto DeviceCall.subject_token, SIGN_IN_REASON_SHARED, EndProfile"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, other) = (mvpd.app, try await TestApp(examination))
                let (home, device) = (TestApp.device(), TestApp.device())
                let identity = PlatformToken(subject: home)
                let token = try identity.text()
                try await app.whilePlatformIsTrusted(examination, mvpd) {
                    try await mvpd.signInByV2(on: home, subjectToken: token)
                    let own = try await app.profiles(on: home, subjectToken: token)
                    guard own.map(\.session?.kind) == [.regular] else {
                        throw Unmet("one profile, of kind REGULAR", came: FrameText.text(Profiles(profiles: own)))
                    }
                    let shared = try await other.profiles(on: device, subjectToken: token)
                    guard shared.count == 1, let session = shared[0].session, session.kind == .shared, session.mvpd == TestMvpd.id,
                        session.userID == own[0].session?.userID, session.expiresAtMilliseconds <= own[0].session?.expiresAtMilliseconds ?? 0
                    else { throw Unmet("one profile, of kind SHARED, of the same user", came: FrameText.text(Profiles(profiles: shared))) }
                    let plan = try await other.plan(device, subjectToken: token)
                    guard plan.step == .authorize, plan.reason == .shared else {
                        throw Unmet("step AUTHORIZE, reason SHARED", came: FrameText.text(plan))
                    }
                    let useless = ["", "nonsense", try identity.forged(), try identity.unsigned(), try PlatformToken(subject: device).text()]
                    for text in useless {
                        guard try await other.profiles(on: device, subjectToken: text).isEmpty else {
                            throw Unmet("no profile with the token '\(text)'", came: "one")
                        }
                    }
                    let ended = try await other.leave(TestMvpd.id, on: device, subjectToken: token)
                    guard ended.end != .none else { throw Unmet("the end of the login", came: FrameText.text(ended)) }
                    guard try await app.profiles(on: home, subjectToken: token).isEmpty else { throw Unmet("no login any more", came: "one") }
                    try await app.requireNoSession(on: home)
                }
            }
        },
        Requirement(
            "AUTHN-81",
            "Where the platform signs people in at the MVPD of the call's status, BeginPartnerSignIn says PARTNER, with a SAML request and the attributes to ask for. What keeps it from that is the plan's reason: PARTNER_STATUS, MISSING or CONFIGURATION, with a code.",
            source: "authentication.proto BeginPartnerSignIn, SIGN_IN_REASON_PARTNER_STATUS"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                let plan = try await app.partner(device)
                guard plan.step == .partner, plan.reason == .none, plan.mvpd == TestMvpd.id, plan.code == nil,
                    plan.attributeNames.contains("householdID"), AuthnRequestFacts(profileRequest: plan.verificationToken) != nil
                else {
                    throw Unmet("step PARTNER at \(TestMvpd.id), a SAML request, attributes with householdID, no code", came: FrameText.text(plan))
                }
                let granted = TestApp.granted
                var (refused, over) = (granted, granted)
                refused.access = .refused
                over.expiresAtMilliseconds = TestClock.now - 60_000
                let picker = PartnerStatus(access: .granted, providerID: "lake-tel", expiresAtMilliseconds: granted.expiresAtMilliseconds)
                let cases: [(SignInPlan, SignInReason, SignInStep)] = [
                    (try await app.partner(device, status: refused), .partnerStatus, .complete),
                    (try await app.partner(device, status: nil), .partnerStatus, .complete),
                    (try await app.partner(device, status: over), .partnerStatus, .authenticate),
                    (try await app.partner(device, address: ""), .missing, .complete),
                    (try await app.partner(device, address: "not an address"), .missing, .complete),
                    (try await app.partner(device, status: picker), .configuration, .authenticate),
                    (try await app.partner(device, system: ""), .configuration, .authenticate),
                ]
                for (plan, reason, step) in cases where plan.reason != reason || plan.step != step || plan.code == nil {
                    throw Unmet("step \(step), reason \(reason), a code", came: FrameText.text(plan))
                }
                try await mvpd.signInByV2(on: device)
                let signedIn = try await app.partner(device)
                guard signedIn.step == .authorize, signedIn.reason == .authenticated else {
                    throw Unmet("step AUTHORIZE, reason AUTHENTICATED", came: FrameText.text(signedIn))
                }
            }
        },
        Requirement(
            "AUTHN-82",
            "ExchangePartnerProfile makes a session of kind PLATFORM of the MVPD's answer, once; a forged one or none is `invalid_parameter_saml_response`, and nobody is signed in.",
            source: "authentication.proto ExchangePartnerProfile"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                let method = AuthenticationMethods.exchangePartnerProfile
                func exchange(_ make: (AuthnRequestFacts) throws -> String) async throws -> ExchangePartnerProfileRequest {
                    let plan = try await app.partner(device)
                    guard let facts = AuthnRequestFacts(profileRequest: plan.verificationToken) else {
                        throw Unmet("a verification_token that is Base64 of a SAML AuthnRequest", came: plan.verificationToken)
                    }
                    return ExchangePartnerProfileRequest(
                        call: app.callPartner(device), samlResponse: Data(try make(facts).utf8).base64EncodedString())
                }
                let unusable: Set = ["invalid_parameter_saml_response"]
                let empty = ExchangePartnerProfileRequest(call: app.callPartner(device))
                try await app.conversation.refusal(of: method, empty, codes: unusable)
                for forge in TestMvpd.forgeries {
                    try await app.conversation.refusal(of: method, try await exchange { try forge(mvpd, $0) }, codes: unusable)
                }
                try await app.requireNoSession(on: device)
                let genuine = try await exchange { try mvpd.mvpd.response(to: $0, for: TestMvpd.subscriber, now: Date()) }
                let made = try await app.conversation.call(method, genuine).profiles
                guard made.count == 1, let session = made[0].session, session.kind == .platform, session.mvpd == TestMvpd.id else {
                    throw Unmet("one profile, of kind PLATFORM at \(TestMvpd.id)", came: FrameText.text(Profiles(profiles: made)))
                }
                guard try await app.session(on: device) == session else { throw Unmet("the same session by REST v1", came: "another") }
                try await app.conversation.refusal(of: method, genuine, codes: unusable)
            }
        },
        Requirement(
            "AUTHN-83",
            "A session of kind PLATFORM is shown while the call's partner status says that the platform has it; without, and with one that does not hold, it is hidden, and that is no fault. EndProfile ends it: PLATFORM.",
            source: "authentication.proto FindProfiles, PartnerStatus, PROFILE_END_PLATFORM"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                try await mvpd.signInByPlatform(device)
                var (refused, over) = (TestApp.granted, TestApp.granted)
                refused.access = .refused
                over.expiresAtMilliseconds = TestClock.now - 60_000
                let picker = PartnerStatus(access: .granted, providerID: "lake-tel", expiresAtMilliseconds: TestApp.granted.expiresAtMilliseconds)
                let useless: [PartnerStatus?] = [nil, refused, over, picker]
                for status in useless {
                    guard try await app.partnerProfiles(device, status).isEmpty else {
                        throw Unmet("no profile", came: "one, with \(status.map { FrameText.text($0) } ?? "none")")
                    }
                }
                guard try await app.partnerProfiles(device, TestApp.granted).count == 1 else {
                    throw Unmet("the profile with the platform's status", came: "none")
                }
                let leaving = app.leaving(TestMvpd.id, on: device)
                let ended = try await app.conversation.call(AuthenticationMethods.endProfile, leaving)
                guard ended.end == .platform, ended.visitURL.isEmpty else { throw Unmet("end PLATFORM", came: FrameText.text(ended)) }
                guard try await app.partnerProfiles(device, TestApp.granted).isEmpty else { throw Unmet("no profile any more", came: "one") }
            }
        },
        Requirement(
            "AUTHN-92",
            "For a decision a session of kind PLATFORM needs a partner status that says when the platform's login ends: without a status it is `authentication_session_missing`, with one that does not hold what is wrong with that.",
            source: "authentication.proto Sessions.FindSession, rest-v2 D13"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device) = (mvpd.app, TestApp.device())
                try await mvpd.signInByPlatform(device)
                var (refused, endless, other) = (TestApp.granted, TestApp.granted, TestApp.granted)
                refused.access = .refused
                endless.expiresAtMilliseconds = 0
                other.providerID = "lake-tel"
                let cases: [(PartnerStatus?, String)] = [
                    (nil, "authentication_session_missing"), (refused, "invalid_header_pfs_permission_access_not_granted"),
                    (endless, "invalid_header_pfs_provider_info_expired"), (other, "invalid_header_pfs_provider_id_mismatch"),
                ]
                for (status, code) in cases {
                    let request = SessionRequest(call: app.callPartner(device, status: status), mvpd: TestMvpd.id)
                    try await app.conversation.refusal(of: SessionsMethods.findSession, request, codes: [code])
                }
                let request = SessionRequest(call: app.callPartner(device), mvpd: TestMvpd.id)
                let subject = try await app.conversation.call(SessionsMethods.findSession, request)
                guard subject.session?.kind == .platform else { throw Unmet("the session of kind PLATFORM", came: FrameText.text(subject)) }
            }
        },
        Requirement(
            "AUTHN-84",
            "ExchangePartnerProfile refuses a partner status by what is wrong first: no access said, not asked, refused, no provider that is known, a login that is over. BeginPartnerSignIn for a provider that is not integrated is `unknown_integration`.",
            source: "authentication.proto ExchangePartnerProfile, BeginPartnerSignIn, rest-v2 §1.3"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            var status = PartnerStatus(access: .absent, hasUnreadableExpiry: true)
            let steps: [(String, (inout PartnerStatus) -> Void)] = [
                ("permission_access_not_present", { $0.access = .notDetermined }), ("permission_access_not_determined", { $0.access = .refused }),
                ("permission_access_not_granted", { $0.access = .granted }), ("provider_id_not_determined", { $0.providerID = "nowhere" }),
                ("provider_id_not_determined", { $0.providerID = "north-cable" }), ("provider_info_expired", { $0.hasUnreadableExpiry = false }),
            ]
            let method = AuthenticationMethods.exchangePartnerProfile
            for (code, mend) in steps {
                let request = ExchangePartnerProfileRequest(call: app.callPartner(device, status: status), samlResponse: "bm9uZQ==")
                try await app.conversation.refusal(of: method, request, codes: ["invalid_header_pfs_\(code)"])
                mend(&status)
            }
            let request = ExchangePartnerProfileRequest(call: app.callPartner(device, status: status), samlResponse: "bm9uZQ==")
            try await app.conversation.refusal(of: method, request, codes: ["invalid_parameter_saml_response"])
            let off: (inout Configuration) -> Void = { configuration in
                for index in configuration.integrations.indices where configuration.integrations[index].mvpdID == TestMvpd.id {
                    configuration.integrations[index].enabled = false
                }
            }
            let begin = BeginSignInRequest(call: app.callPartner(device), domainName: "acme.example", redirectURL: TestApp.address)
            let isOff = { () async throws -> Bool in
                guard case .fault = try await app.conversation.outcome(of: AuthenticationMethods.beginPartnerSignIn, begin) else { return false }
                return true
            }
            try await examination.peers().withCatalogue(off, until: isOff) {
                try await app.conversation.refusal(of: AuthenticationMethods.beginPartnerSignIn, begin, codes: ["unknown_integration"])
            }
        },
        Requirement(
            "AUTHN-89",
            "While an AuthN-all rule holds nobody asks the platform: BeginPartnerSignIn says AUTHORIZE, DEGRADED, ExchangePartnerProfile tells a profile of kind DEGRADED. At an MVPD that the platform does not sign in at it is `invalid_configuration_platform_services`.",
            source: "authentication.proto BeginPartnerSignIn, ExchangePartnerProfile"
        ) { examination in
            let (app, device) = (try await TestApp(examination), TestApp.device())
            let method = AuthenticationMethods.exchangePartnerProfile
            try await app.whileBypassed(examination, at: TestMvpd.id) {
                let plan = try await app.partner(device)
                guard plan.step == .authorize, plan.reason == .degraded else {
                    throw Unmet("step AUTHORIZE, reason DEGRADED", came: FrameText.text(plan))
                }
                let request = ExchangePartnerProfileRequest(call: app.callPartner(device), samlResponse: "bm9uZQ==")
                let found = try await app.conversation.call(method, request).profiles
                guard found.map(\.session?.kind) == [.degraded] else {
                    throw Unmet("one profile, of kind DEGRADED", came: FrameText.text(Profiles(profiles: found)))
                }
            }
            var status = TestApp.granted
            status.providerID = "lake-tel"
            let request = ExchangePartnerProfileRequest(call: app.callPartner(device, status: status), samlResponse: "bm9uZQ==")
            try await app.conversation.refusal(of: method, request, codes: ["invalid_configuration_platform_services"])
        },
    ]
}

extension TestApp {
    /// The platform has a login at NorthCable, for an hour.
    static var granted: PartnerStatus {
        PartnerStatus(access: .granted, providerID: "north-cable", expiresAtMilliseconds: TestClock.now + 3_600_000)
    }

    func callPartner(_ device: String, status: PartnerStatus? = granted, system: String = "tvOS") -> DeviceCall {
        var call = callV2(device, system: system)
        call.partnerStatus = status
        return call
    }

    func partner(
        _ device: String, status: PartnerStatus? = granted, address: String = address, system: String = "tvOS"
    ) async throws -> SignInPlan {
        let request = BeginSignInRequest(
            call: callPartner(device, status: status, system: system), domainName: "acme.example", redirectURL: address)
        return try await conversation.call(AuthenticationMethods.beginPartnerSignIn, request)
    }

    func partnerProfiles(_ device: String, _ status: PartnerStatus?) async throws -> [Profile] {
        let request = FindProfilesRequest(call: callPartner(device, status: status))
        return try await conversation.call(AuthenticationMethods.findProfiles, request).profiles
    }

    /// Does the work while the catalogue believes the examiner's platform.
    func whilePlatformIsTrusted(_ examination: Examination, _ mvpd: TestMvpd, _ work: () async throws -> Void) async throws {
        let (home, device) = (TestApp.device(), TestApp.device())
        let token = try PlatformToken(subject: home).text()
        var configuration = try examination.peers().configuration
        try PlatformToken.trust(&configuration)
        let issuers = configuration.platformIdentityIssuers
        // A login counts as the platform user's from the moment on at which the platform is believed.
        let isTrusted = { () async throws -> Bool in
            try await mvpd.signInByV2(on: home, subjectToken: token)
            let isShared = try await !profiles(on: device, subjectToken: token).isEmpty
            _ = try await leave(TestMvpd.id, on: home)
            return isShared
        }
        try await examination.peers().withCatalogue({ $0.platformIdentityIssuers = issuers }, until: isTrusted, work)
    }
}

extension TestMvpd {
    /// The platform signs the device's person in.
    fileprivate func signInByPlatform(_ device: String) async throws {
        let plan = try await app.partner(device)
        guard let facts = AuthnRequestFacts(profileRequest: plan.verificationToken) else {
            throw Unmet("a verification_token that is Base64 of a SAML AuthnRequest", came: plan.verificationToken)
        }
        let response = try mvpd.response(to: facts, for: Self.subscriber, now: Date())
        try await app.conversation.call(
            AuthenticationMethods.exchangePartnerProfile,
            ExchangePartnerProfileRequest(call: app.callPartner(device), samlResponse: Data(response.utf8).base64EncodedString()))
    }
}
