internal import Contracts

/// The stand-ins for a session: a trial at a TempPass, and an AuthN-all rule (rest-v2 §2.6, §2.7, §5 K, L).
extension AuthenticationRequirements {
    static let standIns = [
        Requirement(
            "AUTHN-76",
            "At a TempPass nobody signs in: BeginSignIn says AUTHORIZE, TEMPORARY, and FindProfiles for it tells a profile of kind TEMP_PASS, which without an MVPD it does not. Reading starts no clock, the first play does.",
            source: "authentication.proto FindProfiles, SIGN_IN_REASON_TEMPORARY, SpendTempPassRequest.mvpd"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let plan = try await app.plan(device, mvpd: "Preview10")
            guard plan.step == .authorize, plan.reason == .temporary, plan.code == nil else {
                throw Unmet("step AUTHORIZE, reason TEMPORARY, no code", came: FrameText.text(plan))
            }
            func end() async throws -> UInt64 {
                let found = try await app.profiles(on: device, at: "Preview10")
                guard found.count == 1, let session = found[0].session, session.kind == .tempPass, session.userID.hasPrefix("temppass_"),
                    found[0].metadata?.data.contains(where: { $0.key == "expiration_date" }) ?? false
                else {
                    throw Unmet(
                        "a profile of kind TEMP_PASS, a user_id with `temppass_`, expiration_date", came: FrameText.text(Profiles(profiles: found)))
                }
                return session.expiresAtMilliseconds
            }
            let first = try await end()
            try await TestClock.pass(TestClock.now)
            let second = try await end()
            guard second > first else { throw Unmet("an end that moves on before the first play", came: "\(first) again") }
            try await app.requireNoProfile(on: device)
            try await TestClock.pass(TestClock.now)
            let spend = SpendTempPassRequest(deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS", mvpd: "Preview10")
            let balance = try await app.conversation.call(SessionsMethods.spendTempPass, spend)
            guard balance.expiresAtMilliseconds > second else {
                throw Unmet("an end after \(second): the clock starts now", came: "\(balance.expiresAtMilliseconds)")
            }
            for _ in 1...2 {
                guard try await end() == balance.expiresAtMilliseconds else { throw Unmet("the end that the play set", came: "another") }
            }
            try await TestClock.pass(TestClock.now)
            try await app.conversation.call(
                AuthenticationOperationsMethods.resetTempPass,
                ResetTempPassRequest(requestor: "ACME1", mvpd: "Preview10", scope: .deviceID(device)))
            guard try await end() > balance.expiresAtMilliseconds else { throw Unmet("a new trial after a reset", came: "the old one") }
        },
        Requirement(
            "AUTHN-77",
            "A trial that is over is `temporary_access_duration_limit_exceeded` for FindProfiles and SpendTempPass, and FindSession says so in `trial`; BeginSignIn still says TEMPORARY. One without a TTL is `invalid_temporary_access_configuration`.",
            source: "authentication.proto FindProfiles, SpendTempPass, TrialState"
        ) { examination in
            let app = try await TestApp(examination)
            let device = TestApp.device()
            let find = FindProfilesRequest(call: app.callV2(device), mvpd: "Preview10")
            let spend = SpendTempPassRequest(deviceID: device, requestor: "ACME1", resource: "ACME1-NEWS", mvpd: "Preview10")
            try await app.whileTrialsLast(examination, seconds: 1) {
                let end = try await app.conversation.call(SessionsMethods.spendTempPass, spend).expiresAtMilliseconds
                try await TestClock.pass(end)
                let over: Set = ["temporary_access_duration_limit_exceeded"]
                try await app.conversation.refusal(of: AuthenticationMethods.findProfiles, find, codes: over)
                try await app.conversation.refusal(of: SessionsMethods.spendTempPass, spend, codes: over)
                let request = SessionRequest(call: app.callV2(device), mvpd: "Preview10")
                let subject = try await app.conversation.call(SessionsMethods.findSession, request)
                guard subject.standsIn, subject.trial?.isOver ?? false else {
                    throw Unmet("stands_in, and a trial that is over", came: FrameText.text(subject))
                }
                guard try await app.plan(device, mvpd: "Preview10").reason == .temporary else { throw Unmet("reason TEMPORARY", came: "another") }
            }
            try await app.whileTrialsLast(examination, seconds: 0) {
                let unusable: Set = ["invalid_temporary_access_configuration"]
                var fresh = find
                fresh.call?.deviceID = TestApp.device()
                try await app.conversation.refusal(of: AuthenticationMethods.findProfiles, fresh, codes: unusable)
            }
        },
        Requirement(
            "AUTHN-78",
            "A promotional TempPass counts different resources of a person, on every device; FindProfiles needs the person (`invalid_temporary_access_identity`) and tells what is left. With nothing left both calls say `temporary_access_resources_limit_exceeded`.",
            source: "authentication.proto FindProfilesRequest.identity, SpendTempPass, TempPassBalance"
        ) { examination in
            let app = try await TestApp(examination)
            let (device, other) = (TestApp.device(), TestApp.device())
            let most = try app.promotedResources(examination)
            let identity = #"{"email":"\#(device)@conformance.example"}"#
            func find(_ device: String, _ identity: String) -> FindProfilesRequest {
                FindProfilesRequest(call: app.callV2(device), mvpd: "PromoVod", identity: identity)
            }
            func spend(_ resource: String, _ device: String) -> SpendTempPassRequest {
                SpendTempPassRequest(deviceID: device, requestor: "ACME1", resource: resource, genericData: identity, mvpd: "PromoVod")
            }
            for wrong in ["", "{}", "nonsense"] {
                try await app.conversation.refusal(
                    of: AuthenticationMethods.findProfiles, find(device, wrong), codes: ["invalid_temporary_access_identity"])
            }
            for number in 0..<most {
                let found = try await app.conversation.call(AuthenticationMethods.findProfiles, find(device, identity)).profiles
                let left = found.first?.metadata?.data.first { $0.key == "remaining_resources" }?.value
                guard left == .number(Int64(most - number)) else {
                    throw Unmet("remaining_resources \(most - number)", came: FrameText.text(Profiles(profiles: found)))
                }
                for resource in ["VOD-\(number)", "VOD-0"] {
                    let balance = try await app.conversation.call(SessionsMethods.spendTempPass, spend(resource, device))
                    guard balance.remainingResources == UInt32(most - number - 1) else {
                        throw Unmet("remaining_resources \(most - number - 1)", came: FrameText.text(balance))
                    }
                }
            }
            let spent: Set = ["temporary_access_resources_limit_exceeded"]
            for device in [device, other] {
                try await app.conversation.refusal(of: SessionsMethods.spendTempPass, spend("VOD-\(most)", device), codes: spent)
                try await app.conversation.refusal(of: AuthenticationMethods.findProfiles, find(device, identity), codes: spent)
            }
            try await app.conversation.call(SessionsMethods.spendTempPass, spend("VOD-0", device))
        },
        Requirement(
            "AUTHN-79",
            "While an AuthN-all rule holds nobody signs in at its MVPD: BeginSignIn says AUTHORIZE, DEGRADED; FindProfiles for the MVPD tells a profile of kind DEGRADED, without one it does not; FindSession says stands_in. A session comes first.",
            source: "authentication.proto SIGN_IN_REASON_DEGRADED, SessionSubject.stands_in, config.proto DegradationRule"
        ) { examination in
            try await TestMvpd.play(examination) { mvpd in
                let (app, device, other) = (mvpd.app, TestApp.device(), TestApp.device())
                try await mvpd.signInByV2(on: other, at: TestMvpd.neighbour)
                let waiting = try app.code(of: try await app.plan(device, mvpd: TestMvpd.neighbour))
                let request = SessionRequest(call: app.callV2(device), mvpd: TestMvpd.neighbour)
                try await app.whileBypassed(examination, at: TestMvpd.neighbour) {
                    let plans = [
                        try await app.plan(device, mvpd: TestMvpd.neighbour),
                        try await app.conversation.call(AuthenticationMethods.continueSignIn, app.proceed(waiting)),
                    ]
                    for plan in plans where plan.step != .authorize || plan.reason != .degraded {
                        throw Unmet("step AUTHORIZE, reason DEGRADED", came: FrameText.text(plan))
                    }
                    let found = try await app.profiles(on: device, at: TestMvpd.neighbour)
                    guard found.count == 1, let session = found[0].session, session.kind == .degraded,
                        session.expiresAtMilliseconds <= TestClock.now + 61_000
                    else { throw Unmet("a profile of kind DEGRADED for a minute at most", came: FrameText.text(Profiles(profiles: found))) }
                    try await app.requireNoProfile(on: device)
                    let subject = try await app.conversation.call(SessionsMethods.findSession, request)
                    guard subject.standsIn, subject.session?.mvpd == TestMvpd.neighbour else {
                        throw Unmet("stands_in at \(TestMvpd.neighbour)", came: FrameText.text(subject))
                    }
                    guard try await app.profiles(on: other, at: TestMvpd.neighbour).first?.session?.kind == .regular else {
                        throw Unmet("the session, of kind REGULAR", came: "what stands for one")
                    }
                }
                try await app.requireNoProfile(on: device, at: TestMvpd.neighbour)
                try await app.conversation.refusal(of: SessionsMethods.findSession, request, codes: ["authentication_session_missing"])
            }
        },
    ]
}

extension TestApp {
    /// The same client on another connection.
    init(_ app: TestApp, on conversation: Conversation) {
        self.conversation = conversation
        client = app.client
        token = app.token
    }

    /// Does the work while an AuthN-all rule holds for ACME1 at the MVPD.
    func whileBypassed(_ examination: Examination, at mvpd: String, _ work: () async throws -> Void) async throws {
        let rule = DegradationRule(
            id: "conformance-bypass", kind: .authnAll, requestorID: "ACME1", mvpdID: mvpd, startsAtMilliseconds: 1,
            endsAtMilliseconds: 32_503_680_000_000)
        let isBypassed = { () async throws -> Bool in try await plan(TestApp.device(), mvpd: mvpd).step == .authorize }
        try await examination.peers().withCatalogue({ $0.degradationRules.append(rule) }, until: isBypassed, work)
    }

    /// Does the work while trials at Preview10 last so long.
    func whileTrialsLast(_ examination: Examination, seconds: UInt32, _ work: () async throws -> Void) async throws {
        let change: (inout Configuration) -> Void = { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "Preview10" {
                configuration.mvpds[index].signIn = .tempPass(TempPass(ttlSeconds: seconds))
            }
        }
        let isSo = { () async throws -> Bool in
            let request = FindProfilesRequest(call: callV2(TestApp.device()), mvpd: "Preview10")
            switch try await conversation.outcome(of: AuthenticationMethods.findProfiles, request) {
            case .fault: return seconds == 0
            case .answer(let found):
                let session = found.profiles.first?.session ?? Session()
                return session.expiresAtMilliseconds &- session.createdAtMilliseconds == UInt64(seconds) * 1000
            }
        }
        try await examination.peers().withCatalogue(change, until: isSo, work)
    }

    /// The number of resources that PromoVod gives a person.
    func promotedResources(_ examination: Examination) throws -> Int {
        guard case .tempPass(let terms) = try examination.peers().configuration.mvpds.first(where: { $0.id == "PromoVod" })?.signIn,
            terms.kind == .promotional, terms.userInformationKey == "email"
        else { throw NotApplicable("PromoVod is no promotional TempPass") }
        return Int(terms.maxResources)
    }
}
