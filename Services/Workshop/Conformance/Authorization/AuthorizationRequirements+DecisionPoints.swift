internal import Contracts

/// The answer is the MVPD's decision; the examiner plays the decision point of NorthCable.
extension AuthorizationRequirements {
    static let decisionPoints = [
        Requirement(
            "AUTHZ-36",
            "An MVPD with a decision point decides: it is asked about person and resource, its denial is `authorization_denied_by_mvpd` with its text. A permit is kept and not asked for again, of both APIs; a denial is.",
            source: "config.proto AuthorizationEndpoint, authorization.proto Decide, Authorize, DecisionSource"
        ) { examination in
            try await PlayedDecisionPoint.play(examination) { point, viewer in
                point.decide(.permit, on: "ACME1-NEWS")
                point.decide(.deny("Call us to subscribe."), on: "ACME1-SPORT")
                try await viewer.watch("ACME1-NEWS", by: .mvpd)
                try await viewer.watch("ACME1-NEWS", by: .mvpd)
                try await viewer.authorize("ACME1-NEWS")
                guard point.questions(about: "ACME1-NEWS") == 1 else {
                    throw Unmet("one question about ACME1-NEWS", came: "\(point.questions(about: "ACME1-NEWS"))")
                }
                let person = viewer.peers.doubles.authentication.subject(device: viewer.device, requestor: viewer.requestor).upstreamUserID
                guard point.knows(person) else { throw Unmet("a question about \(person)", came: "questions about others") }
                for count in 1...2 {
                    let refusal = try await viewer.mayNotWatch("ACME1-SPORT", because: "authorization_denied_by_mvpd", by: .mvpd)
                    guard refusal.details == "Call us to subscribe." else { throw Unmet("the MVPD's text as details", came: refusal.details) }
                    guard point.questions(about: "ACME1-SPORT") == count else {
                        throw Unmet("\(count) questions about ACME1-SPORT", came: "\(point.questions(about: "ACME1-SPORT"))")
                    }
                }
                let request = AuthorizeRequest(call: viewer.call, resource: "ACME1-SPORT")
                try await viewer.conversation.refusal(of: AuthorizationMethods.authorize, request, codes: ["authorization_denied_by_mvpd"])
                try await viewer.conversation.refusal(
                    of: AuthorizationMethods.getAuthorization, viewer.resource("ACME1-SPORT"), codes: ["authorization_not_found"])
            }
        },
        Requirement(
            "AUTHZ-37",
            "A preliminary call tells of each resource what the MVPD says, in the order of the request: `preauthorization_denied_by_mvpd` for a denial; no permit comes of it.",
            source: "authorization.proto DecideRequest.is_preliminary, ResourceRefusal"
        ) { examination in
            try await PlayedDecisionPoint.play(examination) { point, viewer in
                for name in ["ACME1-NEWS", "ACME1-KIDS"] { point.decide(.permit, on: name) }
                let decisions = try await viewer.decide(["ACME1-KIDS", "ACME1-SPORT", "ACME1-NEWS"], isPreliminary: true)
                try TestViewer.refusal(of: decisions[1], "preauthorization_denied_by_mvpd", .mvpd)
                for decision in [decisions[0], decisions[2]] where !decision.authorized || decision.source != .mvpd {
                    throw Unmet("\(decision.resource) authorized by MVPD", came: FrameText.text(decision))
                }
                point.decide(.deny(""), on: "ACME1-NEWS")
                try await viewer.mayNotWatch("ACME1-NEWS", because: "authorization_denied_by_mvpd")
            }
        },
        Requirement(
            "AUTHZ-38",
            "Obligations of an MVPD are kept: a permit for so many seconds ends then and is asked for anew, one with an obligation that is not known is a denial, and parental control is `authorization_denied_by_parental_controls`.",
            source: "config.proto DecisionNames, authorization.proto Authorize"
        ) { examination in
            try await PlayedDecisionPoint.play(examination) { point, viewer in
                point.decide(.permitFor(seconds: 1), on: "ACME1-NEWS")
                point.decide(.permitOnCondition, on: "ACME1-SPORT")
                point.decide(.restrict, on: "ACME1-KIDS")
                let end = try await viewer.watch("ACME1-NEWS", by: .mvpd).decision.expiresAtMilliseconds
                guard end <= TestClock.now + 1500 else { throw Unmet("an end in 1 s", came: "one in \(end - TestClock.now) ms") }
                try await viewer.mayNotWatch("ACME1-SPORT", because: "authorization_denied_by_mvpd")
                try await viewer.mayNotWatch("ACME1-KIDS", because: "authorization_denied_by_parental_controls")
                try await TestClock.pass(end)
                point.decide(.deny(""), on: "ACME1-NEWS")
                try await viewer.mayNotWatch("ACME1-NEWS", because: "authorization_denied_by_mvpd")
            }
        },
        Requirement(
            "AUTHZ-39", "An MVPD that does not answer properly permits nothing, `network_received_error`; its next proper answer counts.",
            source: "authorization.proto Authorize, Decide"
        ) { examination in
            try await PlayedDecisionPoint.play(examination) { point, viewer in
                point.decide(.broken, on: "ACME1-NEWS")
                try await viewer.mayNotWatch("ACME1-NEWS", because: "network_received_error", by: .mvpd)
                let list = try await viewer.decide(["ACME1-NEWS"], isPreliminary: true)
                try TestViewer.refusal(of: list[0], "network_received_error")
                point.decide(.permit, on: "ACME1-NEWS")
                try await viewer.watch("ACME1-NEWS", by: .mvpd)
            }
        },
        Requirement(
            "AUTHZ-40", "A permit is its session's: after another sign-in the MVPD is asked anew, and another person of the MVPD has none of it.",
            source: "authorization.proto Authorize, Decide"
        ) { examination in
            try await PlayedDecisionPoint.play(examination) { point, viewer in
                point.decide(.permit, on: "ACME1-NEWS")
                try await viewer.watch("ACME1-NEWS", by: .mvpd)
                point.decide(.deny(""), on: "ACME1-NEWS")
                try await viewer.watch("ACME1-NEWS", by: .mvpd)
                try await viewer.another().mayNotWatch("ACME1-NEWS", because: "authorization_denied_by_mvpd")
                viewer.signIn(at: "NorthCable", id: "another-\(viewer.device)")
                try await viewer.mayNotWatch("ACME1-NEWS", because: "authorization_denied_by_mvpd")
            }
        },
    ]

    static let durable = [
        Requirement(
            "AUTHZ-41", "A permit that was given outlives the service's process, and so do the keys of media tokens.", source: "Replacing.md §1",
            isDisruptive: true
        ) { examination in
            let viewer = try await TestViewer(examination)
            let (decision, token) = try await viewer.watch("ACME1-NEWS")
            try await examination.restart()
            let other = try await examination.greet()
            let kept = try await other.call(AuthorizationMethods.getAuthorization, viewer.resource("ACME1-NEWS"))
            guard kept.expiresAtMilliseconds == decision.expiresAtMilliseconds else {
                throw Unmet("the permit until \(decision.expiresAtMilliseconds)", came: FrameText.text(kept))
            }
            try await verify(token, try await TestViewer(examination), "ACME1-NEWS")
        }
    ]
}

/// Decide while a degradation rule holds (rest-v2 §5 K).
extension AuthorizationRequirements {
    static let rules = [
        Requirement(
            "AUTHZ-30",
            "An AuthZ-none rule for one resource denies that one, by DEGRADATION and with its message, also where a permit is kept; others are permitted, and afterwards all.",
            source: "config.proto DegradationRule.resources, authorization.proto ResourceRefusal.details"
        ) { examination in
            let viewer = try await TestViewer(examination)
            let code = "authorization_denied_by_degradation_rule"
            try await viewer.watch("ACME1-NEWS")
            let isDenied = { () async throws -> Bool in try await !viewer.decide(["ACME1-NEWS"])[0].authorized }
            let rule = rule(.authzNone, resources: ["ACME1-NEWS"])
            try await viewer.peers.withCatalogue({ $0.degradationRules.append(rule) }, until: isDenied) {
                let refusal = try await viewer.mayNotWatch("ACME1-NEWS", because: code, by: .degradation)
                guard refusal.details == rule.message else { throw Unmet("details '\(rule.message)'", came: "'\(refusal.details)'") }
                try await viewer.watch("ACME1-SPORT")
                let list = try await viewer.decide(["ACME1-SPORT", "ACME1-NEWS"], isPreliminary: true)
                try TestViewer.refusal(of: list[1], code, .degradation)
                guard list[0].authorized else { throw Unmet("ACME1-SPORT authorized", came: FrameText.text(list[0])) }
            }
            try await viewer.watch("ACME1-NEWS")
        },
        Requirement(
            "AUTHZ-31",
            "While an AuthN-all or AuthZ-all rule holds a device without a session may watch, by DEGRADATION and not longer than the rule; an AuthZ-none rule beside it wins; afterwards nobody is signed in.",
            source: "config.proto DegradationKind, authorization.proto DecisionSource, authentication.proto SessionSubject.stands_in"
        ) { examination in
            for kind in [DegradationKind.authnAll, .authzAll] {
                let viewer = try await TestViewer(examination, mvpd: "")
                let rule = rule(kind, seconds: 900)
                let isPermitted = { () async throws -> Bool in try await viewer.decide(["ACME1-NEWS"])[0].authorized }
                try await viewer.peers.withCatalogue({ $0.degradationRules.append(rule) }, until: isPermitted) {
                    let (decision, token) = try await viewer.watch("ACME1-SPORT", by: .degradation)
                    guard decision.expiresAtMilliseconds <= rule.endsAtMilliseconds else {
                        throw Unmet("an end not after the rule's, \(rule.endsAtMilliseconds)", came: "\(decision.expiresAtMilliseconds)")
                    }
                    try await verify(token, viewer, "ACME1-SPORT")
                    for decision in try await viewer.decide(["ACME1-KIDS", "ACME1-NEWS"], isPreliminary: true) {
                        guard decision.authorized, decision.source == .degradation else {
                            throw Unmet("\(decision.resource) authorized by DEGRADATION", came: FrameText.text(decision))
                        }
                    }
                }
                try await viewer.mayNotWatch("ACME1-SPORT", because: "authentication_session_missing")
            }
            let viewer = try await TestViewer(examination, mvpd: "")
            let both = [rule(.authnAll), rule(.authzNone)]
            let isDenied = { () async throws -> Bool in
                try await viewer.decide(["ACME1-NEWS"])[0].refusal?.code == "authorization_denied_by_degradation_rule"
            }
            try await viewer.peers.withCatalogue({ $0.degradationRules += both }, until: isDenied) {
                try await viewer.mayNotWatch("ACME1-SPORT", because: "authorization_denied_by_degradation_rule", by: .degradation)
            }
        },
    ]

    /// - Parameter seconds: From now.
    private static func rule(_ kind: DegradationKind, resources: [String] = [], seconds: UInt64 = 3600) -> DegradationRule {
        DegradationRule(
            id: "conformance-\(kind)", kind: kind, requestorID: "ACME1", mvpdID: "NorthCable", resources: resources, startsAtMilliseconds: 1,
            endsAtMilliseconds: TestClock.now + seconds * 1000, message: "Maintenance until noon.")
    }
}
