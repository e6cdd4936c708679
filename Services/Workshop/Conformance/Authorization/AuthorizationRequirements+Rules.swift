internal import Contracts

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
