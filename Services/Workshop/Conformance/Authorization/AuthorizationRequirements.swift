internal import Clocks
internal import Contracts
internal import Faults

/// The requirements of authorization.proto in addition to the wire protocol. The MVPDs of the catalogue have no decision point: every user who is
/// signed in may watch. Where an MVPD's answer matters, the examiner plays its decision point.
enum AuthorizationRequirements {
    static let all: [Requirement] = decisions + mediaTokens + lists + verdicts + rules + trials + decisionPoints + durable
}

extension AuthorizationRequirements {
    static let decisions = [
        Requirement(
            "AUTHZ-1", "Authorize permits a resource at an MVPD that has no decision point, for a time to come.",
            source: "authorization.proto Authorize, Decision"
        ) {
            examination in
            let viewer = try await TestViewer(examination)
            let decision = try await viewer.authorize("ACME1-NEWS")
            guard decision.requestor == "ACME1", decision.mvpd == "NorthCable", decision.resource == "ACME1-NEWS",
                decision.expiresAtMilliseconds > UInt64(clamping: SystemClock().now().milliseconds)
            else { throw Unmet("a permit for ACME1-NEWS that lasts", came: FrameText.text(decision)) }
        },
        Requirement(
            "AUTHZ-2", "Each call asks authentication for the session: one that ended is missing at once.",
            source: "authorization.proto Authorization"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let authentication = viewer.peers.doubles.authentication
            let before = authentication.sessionQuestions
            try await viewer.authorize("ACME1-NEWS")
            try await viewer.authorize("ACME1-NEWS")
            guard authentication.sessionQuestions >= before + 2 else {
                throw Unmet("a question to FindSession for each call", came: "\(authentication.sessionQuestions - before) for two calls")
            }
            viewer.signOut()
            let missing: Set = ["authentication_session_missing"]
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS"), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS"), codes: missing)
        },
        Requirement("AUTHZ-3", "Faults of authentication are passed on.", source: "authorization.proto Authorization") { examination in
            let viewer = try await TestViewer(examination)
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            for code in ["authentication_session_expired", "access_denied", "invalid_client", "insufficient_scope", "invalid_device_info"] {
                viewer.fail(code)
                try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: [code])
            }
        },
        Requirement(
            "AUTHZ-4", "While authentication cannot answer, calls are `unavailable` and may be made again; they are no denials.",
            source: "authorization.proto Authorization, WIRE.md §7"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            viewer.fail("unavailable")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            let fault = try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["unavailable"])
            guard fault.retryable else { throw Unmet("a retryable fault", came: "\(fault)") }
        },
        Requirement("AUTHZ-5", "A resource is required.", source: "authorization.proto Authorize, GetAuthorization, IssueMediaToken") { examination in
            let viewer = try await TestViewer(examination)
            let missing: Set = ["missing_resource"]
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.getAuthorization, viewer.resource(""), codes: missing)
            try await viewer.conversation.refusal(of: AuthorizationMethods.issueMediaToken, viewer.resource(""), codes: missing)
        },
        Requirement("AUTHZ-6", "A malformed resource is `malformed_authz_request`.", source: "authorization.proto Authorize") { examination in
            let viewer = try await TestViewer(examination)
            for resource in ["<rss><channel>", "A\u{1}B"] {
                let request = AuthorizeRequest(call: viewer.call, resource: resource)
                try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["malformed_authz_request"])
            }
        },
        Requirement(
            "AUTHZ-7", "An MVPD that is not the session's is `authentication_session_issuer_mismatch`.",
            source: "authorization.proto AuthorizeRequest.mvpd"
        ) {
            examination in
            let viewer = try await TestViewer(examination)
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS", mvpd: "LakeTel")
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["authentication_session_issuer_mismatch"])
            try await viewer.conversation.call(
                AuthorizationMethods.authorize, AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS", mvpd: "NorthCable"))
        },
        Requirement("AUTHZ-8", "A session at an MVPD that is switched off is `unknown_integration`.", source: "authorization.proto Authorize") {
            examination in
            let viewer = try await TestViewer(examination, mvpd: "ParkedTV")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["unknown_integration"])
        },
        Requirement(
            "AUTHZ-9", "GetAuthorization tells the permit that Authorize made, on every connection; without one `authorization_not_found`.",
            source: "authorization.proto GetAuthorization"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let method = AuthorizationMethods.getAuthorization
            try await viewer.conversation.refusal(of: method, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
            let decision = try await viewer.authorize("ACME1-NEWS")
            let seen = try await examination.greet().call(method, viewer.resource("ACME1-NEWS"))
            guard seen == decision else { throw Unmet(FrameText.text(decision), came: FrameText.text(seen)) }
            try await viewer.conversation.refusal(of: method, viewer.resource("ACME1-SPORT"), codes: ["authorization_not_found"])
            let other = try await TestViewer(examination)
            try await other.conversation.refusal(of: method, other.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
        },
        Requirement("AUTHZ-10", "A permit is given again, with its end, until it ends.", source: "authorization.proto Authorize") { examination in
            let viewer = try await TestViewer(examination)
            let first = try await viewer.authorize("ACME1-SPORT")
            let second = try await viewer.authorize("ACME1-SPORT")
            guard first == second else { throw Unmet(FrameText.text(first), came: FrameText.text(second)) }
        },
        Requirement(
            "AUTHZ-11", "While an AuthZ-none rule holds it denies, with its message, and permits are hidden; afterwards they are there again.",
            source: "config.proto DegradationKind"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.authorize("ACME1-NEWS")
            let rule = DegradationRule(
                id: "conformance-11", kind: .authzNone, requestorID: "ACME1", mvpdID: "NorthCable", startsAtMilliseconds: 1,
                endsAtMilliseconds: 32_503_680_000_000, message: "Maintenance.")
            let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-NEWS")
            let isDenied = { () async throws -> Bool in
                guard case .fault = try await viewer.conversation.outcome(of: AuthorizationMethods.authorize, request) else { return false }
                return true
            }
            try await viewer.peers.withCatalogue({ $0.degradationRules.append(rule) }, until: isDenied) {
                let fault = try await viewer.conversation.refusal(
                    of: AuthorizationMethods.authorize, request, codes: ["authorization_denied_by_degradation_rule"])
                guard fault.details == "Maintenance." else { throw Unmet("details 'Maintenance.'", came: "'\(fault.details)'") }
                try await viewer.conversation.refusal(
                    of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
            }
            try await viewer.conversation.call(AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"))
        },
    ]
}

/// Decisions at a TempPass (rest-v2 §5 L).
extension AuthorizationRequirements {
    static let trials = [
        Requirement(
            "AUTHZ-32",
            "Decide at a TempPass counts the play and permits by TEMP_PASS until the trial's end, which stays where it is; afterwards `temporary_access_duration_limit_exceeded`, whatever permit was kept. A preliminary call starts no clock.",
            source: "authorization.proto Decide, authentication.proto SpendTempPass, SessionSubject.trial"
        ) { examination in
            let viewer = try await TestViewer(examination, mvpd: "")
            let authentication = viewer.peers.doubles.authentication
            try await withTrial(viewer, seconds: 2) {
                let before = authentication.tempPassPlays
                let list = try await viewer.decide(["ACME1-NEWS", "ACME1-SPORT"], at: "Preview10", isPreliminary: true)
                guard list.allSatisfy({ $0.authorized && $0.source == .tempPass }), authentication.tempPassPlays == before else {
                    throw Unmet("both authorized by TEMP_PASS, and no play counted", came: FrameText.text(list[0]))
                }
                let (first, token) = try await viewer.watch("ACME1-NEWS", at: "Preview10", by: .tempPass)
                guard authentication.tempPassPlays > before else { throw Unmet("a call of SpendTempPass", came: "none") }
                try await verify(token, viewer, "ACME1-NEWS")
                let second = try await viewer.watch("ACME1-SPORT", at: "Preview10", by: .tempPass).decision
                guard second.expiresAtMilliseconds == first.expiresAtMilliseconds else {
                    throw Unmet("one end for both, \(first.expiresAtMilliseconds)", came: "\(second.expiresAtMilliseconds)")
                }
                try await TestClock.pass(first.expiresAtMilliseconds)
                let code = "temporary_access_duration_limit_exceeded"
                try await viewer.mayNotWatch("ACME1-NEWS", at: "Preview10", because: code, by: .tempPass)
                for decision in try await viewer.decide(["ACME1-NEWS"], at: "Preview10", isPreliminary: true) {
                    try TestViewer.refusal(of: decision, code, .tempPass)
                }
            }
        },
        Requirement(
            "AUTHZ-33",
            "At a promotional TempPass a person plays so many different resources, each as often as they like; then `temporary_access_resources_limit_exceeded`. Without the person it is `invalid_temporary_access_identity`.",
            source: "authorization.proto DecideRequest.identity, config.proto TempPass.max_resources"
        ) { examination in
            let viewer = try await TestViewer(examination, mvpd: "")
            let (most, identity) = try promotion(viewer)
            try await viewer.mayNotWatch("VOD-0", at: "PromoVod", because: "invalid_temporary_access_identity", by: .tempPass)
            for number in 0..<most {
                try await viewer.watch("VOD-\(number)", at: "PromoVod", identity: identity, by: .tempPass)
                try await viewer.watch("VOD-0", at: "PromoVod", identity: identity, by: .tempPass)
            }
            let code = "temporary_access_resources_limit_exceeded"
            try await viewer.mayNotWatch("VOD-\(most)", at: "PromoVod", identity: identity, because: code, by: .tempPass)
            for decision in try await viewer.decide(["VOD-\(most)"], at: "PromoVod", identity: identity, isPreliminary: true) {
                try TestViewer.refusal(of: decision, code, .tempPass)
            }
            let elsewhere = viewer.another(mvpd: "")
            try await elsewhere.mayNotWatch("VOD-\(most)", at: "PromoVod", identity: identity, because: code, by: .tempPass)
        },
        Requirement(
            "AUTHZ-34", "A TempPass that is not configured is a fault of the call: `invalid_temporary_access_configuration`.",
            source: "authorization.proto Decide"
        ) { examination in
            let viewer = try await TestViewer(examination, mvpd: "")
            try await withTrial(viewer, seconds: 0) {
                for isPreliminary in [false, true] {
                    let question = viewer.question(["ACME1-NEWS"], at: "Preview10", isPreliminary: isPreliminary)
                    try await viewer.conversation.refusal(
                        of: AuthorizationMethods.decide, question, codes: ["invalid_temporary_access_configuration"])
                }
            }
        },
        Requirement(
            "AUTHZ-35", "Authorize for a session of a TempPass counts the play, and refuses what the trial refuses.",
            source: "authorization.proto Authorize, AuthorizeRequest.generic_data, authentication.proto SpendTempPass"
        ) { examination in
            let viewer = try await TestViewer(examination, mvpd: "")
            let (most, identity) = try promotion(viewer)
            viewer.signIn(at: "PromoVod", kind: .tempPass)
            func request(_ resource: String) -> AuthorizeRequest {
                AuthorizeRequest(call: viewer.call, resource: resource, genericData: identity)
            }
            let authentication = viewer.peers.doubles.authentication
            for number in 0..<most {
                let before = authentication.tempPassPlays
                try await viewer.conversation.call(AuthorizationMethods.authorize, request("VOD-\(number)"))
                guard authentication.tempPassPlays > before else { throw Unmet("a call of SpendTempPass", came: "none") }
            }
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.authorize, request("VOD-\(most)"), codes: ["authorization_denied_by_mvpd"])
            try await viewer.conversation.call(AuthorizationMethods.authorize, request("VOD-0"))
        },
    ]

    /// The number of resources that PromoVod gives, and a person who has used none.
    private static func promotion(_ viewer: TestViewer) throws -> (most: Int, identity: String) {
        guard case .tempPass(let terms) = viewer.peers.configuration.mvpds.first(where: { $0.id == "PromoVod" })?.signIn, terms.kind == .promotional
        else { throw NotApplicable("PromoVod is no promotional TempPass") }
        return (Int(terms.maxResources), #"{"\#(terms.userInformationKey)":"\#(viewer.device)@conformance.example"}"#)
    }

    /// Does the work while trials at Preview10 last so long. The examiner itself plays who reads that.
    private static func withTrial(_ viewer: TestViewer, seconds: UInt32, _ work: () async throws -> Void) async throws {
        func isIts(_ mvpd: Mvpd) -> Bool {
            if case .tempPass(let terms) = mvpd.signIn { mvpd.id == "Preview10" && terms.ttlSeconds == seconds } else { false }
        }
        let change: (inout Configuration) -> Void = { configuration in
            for index in configuration.mvpds.indices where configuration.mvpds[index].id == "Preview10" {
                configuration.mvpds[index].signIn = .tempPass(TempPass(ttlSeconds: seconds))
            }
        }
        try await viewer.peers.withCatalogue(change, until: { viewer.peers.configuration.mvpds.contains(where: isIts) }, work)
    }
}
