internal import Contracts
internal import Faults

/// Decide, the call of REST v2, at an MVPD that has no decision point.
extension AuthorizationRequirements {
    static let verdicts = [
        Requirement(
            "AUTHZ-21",
            "Decide permits a resource at an MVPD without a decision point, by nobody (DUMMY), until a time to come; one that is named twice counts once.",
            source: "authorization.proto Decide, ResourceDecision, DecisionSource"
        ) { examination in
            let viewer = try await TestViewer(examination)
            try await viewer.watch("ACME1-NEWS")
            let decisions = try await viewer.decide(["ACME1-SPORT", "ACME1-SPORT"])
            guard decisions[0].authorized else { throw Unmet("ACME1-SPORT authorized", came: FrameText.text(decisions[0])) }
        },
        Requirement(
            "AUTHZ-22",
            "The media token of a decision says requestor, resource, MVPD and the session's user, lasts as the requestor's does, and GetMediaTokenKeys verifies it; no two are the same.",
            source: "authorization.proto ResourceDecision.token, MediaToken"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let token = try await viewer.watch("ACME1-NEWS").token
            try await verify(token, viewer, "ACME1-NEWS")
            guard token.requestor == "ACME1", token.resource == "ACME1-NEWS", token.mvpd == "NorthCable", token.userID == viewer.session.userID else {
                throw Unmet("ACME1, ACME1-NEWS, NorthCable and the session's user_id", came: FrameText.text(token))
            }
            guard token.issuedAtMilliseconds > 0, token.issuedAtMilliseconds < token.expiresAtMilliseconds else {
                throw Unmet("issued_at_ms before expires_at_ms", came: FrameText.text(token))
            }
            guard try await viewer.watch("ACME1-NEWS").token.serializedToken != token.serializedToken else {
                throw Unmet("another token for another decision", came: "the same")
            }
        },
        Requirement(
            "AUTHZ-23",
            "A permit is one for both APIs: Decide keeps it and gives it again with its end, GetAuthorization and IssueMediaToken know it, and Decide knows that of Authorize.",
            source: "authorization.proto Decide, Authorize, GetAuthorization, IssueMediaToken"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let end = try await viewer.watch("ACME1-NEWS").decision.expiresAtMilliseconds
            let again = try await viewer.watch("ACME1-NEWS").decision.expiresAtMilliseconds
            guard again == end else { throw Unmet("the end of the permit that is kept, \(end)", came: "\(again)") }
            let other = try await examination.greet()
            let kept = try await other.call(AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"))
            guard kept.expiresAtMilliseconds == end, kept.mvpd == "NorthCable" else { throw Unmet("the same permit", came: FrameText.text(kept)) }
            try await other.call(AuthorizationMethods.issueMediaToken, viewer.resource("ACME1-NEWS"))
            let first = try await viewer.authorize("ACME1-SPORT").expiresAtMilliseconds
            let second = try await viewer.watch("ACME1-SPORT").decision.expiresAtMilliseconds
            guard second == first else { throw Unmet("the end of Authorize's permit, \(first)", came: "\(second)") }
            for stranger in [viewer.another(), try await TestViewer(examination, requestor: "ACME2")] {
                try await stranger.conversation.refusal(
                    of: AuthorizationMethods.getAuthorization, stranger.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
            }
        },
        Requirement(
            "AUTHZ-24", "A permit does not outlive the session that it was given for.", source: "authorization.proto ResourceDecision.expires_at_ms"
        ) { examination in
            let viewer = try await TestViewer(examination)
            viewer.signIn(at: "NorthCable", lifetime: 600)
            let end = try await viewer.watch().decision.expiresAtMilliseconds
            guard end <= TestClock.now + 600_000 else { throw Unmet("an end within 600 s, that of the session", came: "\(end)") }
        },
        Requirement(
            "AUTHZ-25",
            "A preliminary call says of each resource whether it may be watched, in the order of the request, each once; it gives no tokens and keeps no permits.",
            source: "authorization.proto DecideRequest.is_preliminary"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let decisions = try await viewer.decide(["ACME1-SPORT", "ACME1-NEWS", "ACME1-SPORT", "ACME1-KIDS"], isPreliminary: true)
            for decision in decisions where !decision.authorized || decision.token != nil || decision.expiresAtMilliseconds != 0 {
                throw Unmet("\(decision.resource) authorized, without a token and an end", came: FrameText.text(decision))
            }
            try await viewer.conversation.refusal(
                of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"), codes: ["authorization_not_found"])
        },
        Requirement(
            "AUTHZ-26",
            "That nobody is signed in at the MVPD is a part of the answer, for each resource: `authentication_session_missing`, `authentication_session_expired`; a logout bites at once.",
            source: "authorization.proto Decide"
        ) { examination in
            let missing = "authentication_session_missing"
            let viewer = try await TestViewer(examination, mvpd: "")
            try await viewer.mayNotWatch(because: missing)
            for decision in try await viewer.decide(["ACME1-SPORT", "ACME1-NEWS"], isPreliminary: true) {
                try TestViewer.refusal(of: decision, missing)
            }
            viewer.signIn(at: "NorthCable")
            try await viewer.watch()
            try await viewer.mayNotWatch(at: "LakeTel", because: missing)
            viewer.signOut()
            try await viewer.mayNotWatch(because: missing)
            viewer.signIn(at: "NorthCable", lifetime: 0)
            try await viewer.mayNotWatch(because: "authentication_session_expired")
        },
        Requirement(
            "AUTHZ-27",
            "What authentication says of bearer, device and partner status is the fault of Decide, before what is asked is looked at; while it cannot answer Decide is `unavailable` and may be made again.",
            source: "authorization.proto Decide, Authorization, WIRE.md §7"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let codes = [
                "access_denied", "invalid_client", "insufficient_scope", "invalid_requestor", "invalid_device_id", "invalid_device_info",
                "invalid_header_pfs_provider_info_expired",
            ]
            for code in codes {
                viewer.fail(code)
                for question in [viewer.question(["ACME1-NEWS"]), viewer.question([])] {
                    try await viewer.conversation.refusal(of: AuthorizationMethods.decide, question, codes: [code])
                }
            }
            viewer.fail("unavailable")
            let fault = try await viewer.conversation.refusal(
                of: AuthorizationMethods.decide, viewer.question(["ACME1-NEWS"]), codes: ["unavailable"])
            guard fault.retryable else { throw Unmet("a retryable fault", came: "\(fault)") }
        },
        Requirement(
            "AUTHZ-28",
            "Decide refuses a call for an MVPD that is not known (`invalid_mvpd`) or not integrated (`unknown_integration`), for no resource (`missing_resource`), or a malformed one (`malformed_authz_request`).",
            source: "authorization.proto Decide"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let cases = [
                (viewer.question(["ACME1-NEWS"], at: "Nowhere"), "invalid_mvpd"), (viewer.question(["ACME1-NEWS"], at: ""), "invalid_mvpd"),
                (viewer.question(["ACME1-NEWS"], at: "ParkedTV"), "unknown_integration"),
                (viewer.question([]), "missing_resource"), (viewer.question([""]), "missing_resource"),
                (viewer.question(["A\u{1}B"]), "malformed_authz_request"), (viewer.question(["<rss><channel>"]), "malformed_authz_request"),
            ]
            for (question, code) in cases {
                try await viewer.conversation.refusal(of: AuthorizationMethods.decide, question, codes: [code])
            }
        },
        Requirement(
            "AUTHZ-29",
            "More resources than may be asked for at once are each refused with `too_many_resources`: beforehand more than the pair's preflight_max_resources, to play more than 100.",
            source: "authorization.proto Decide, config.proto Integration.preflight_max_resources"
        ) { examination in
            for requestor in ["ACME1", "ACME2"] {
                let viewer = try await TestViewer(examination, requestor: requestor)
                let limit = preflightLimit(viewer)
                let channels = (0...limit).map { "CHANNEL-\($0)" }
                for decision in try await viewer.decide(channels, isPreliminary: true) {
                    try TestViewer.refusal(of: decision, "too_many_resources")
                }
                let few = try await viewer.decide(Array(channels.dropLast()), isPreliminary: true)
                guard few.allSatisfy(\.authorized) else { throw Unmet("\(limit) resources authorized", came: "\(few.count { $0.authorized })") }
            }
            let viewer = try await TestViewer(examination)
            for decision in try await viewer.decide((0...100).map { "CHANNEL-\($0)" }) {
                try TestViewer.refusal(of: decision, "too_many_resources")
            }
        },
    ]

    /// The number of resources that one preliminary call may ask about (config.proto).
    private static func preflightLimit(_ viewer: TestViewer) -> Int {
        let configuration = viewer.peers.configuration
        let integration = configuration.integrations.first { $0.requestorID == viewer.requestor && $0.mvpdID == "NorthCable" }
        let mvpd = configuration.mvpds.first { $0.id == "NorthCable" }
        let values = [integration?.preflightMaxResources ?? 0, mvpd?.authorization?.preflightMaxResources ?? 0]
        return Int(values.first { $0 != 0 } ?? 5)
    }
}
