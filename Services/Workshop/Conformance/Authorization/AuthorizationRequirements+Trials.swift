internal import Contracts

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

    /// How many resources PromoVod gives, and a person who has used none.
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
