internal import ContractRuntime
internal import Contracts

extension AutoSignInRequirements {
    static let repetitions = [
        Requirement(
            "AUTO-20",
            "What is sent again with its idempotency key has its effect once, and its first answer, with another request it is `idempotency_key_reused`: ConfirmStored, RedeemToken, RevokeToken, RevokeAll, FlagSignIn. A key is its client's and device's own.",
            source: "apple.md §4, autosignin.proto …Request.idempotency_key"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let (first, second) = (try await person.optIn(), try await person.optIn())
            let device = try await TestSubscriber(examination, mvpd: "")
            let redeem = device.redeem(first.value)
            let answers = [
                try await device.conversation.call(AutomaticSignInMethods.redeemToken, redeem),
                try await device.conversation.call(AutomaticSignInMethods.redeemToken, redeem),
            ]
            guard answers.allSatisfy({ $0.familyID == first.familyID && $0.session?.accountID == first.accountID }) else {
                throw Unmet("sessions out of the family \(first.familyID)", came: answers.map { FrameText.text($0) }.joined(separator: ", "))
            }
            try await isReused(AutomaticSignInMethods.redeemToken, redeem, device) { $0.value = second.value }
            let session = answers[1].session?.id ?? ""
            try await repeated(AutomaticSignInMethods.confirmStored, person.confirm(first.familyID), person) { $0.outcome = .failed }
            try await repeated(AutomaticSignInMethods.flagSignIn, person.flag(session), person) { $0.sessionID = "another" }
            try await repeated(AutomaticSignInMethods.revokeToken, person.revoke(second.familyID), person) { $0.familyID = first.familyID }
            let (third, all) = (try await person.optIn(), person.revokeAll())
            try await repeated(AutomaticSignInMethods.revokeAll, all, person) { $0.reason = "another" }
            let fourth = try await person.optIn()
            let again = try await person.conversation.call(AutomaticSignInMethods.revokeAll, all)
            guard again.familyIDs == [third.familyID] else { throw Unmet("family_ids [\(third.familyID)]", came: "\(again.familyIDs)") }
            try await device.redeemed(fourth.value)
            let (other, key) = (try await TestSubscriber(examination), TestApp.device())
            var issued: [IssuedToken] = []
            for person in [person, other] {
                let request = person.request { $0.idempotencyKey = key }
                issued.append(try await person.conversation.call(AutomaticSignInMethods.issueToken, request))
            }
            guard issued[0].familyID != issued[1].familyID, issued[0].value != issued[1].value, issued[0].accountID != issued[1].accountID else {
                throw Unmet("an answer of its own for another device with the same key", came: FrameText.text(issued[1]))
            }
        },
        Requirement(
            "AUTO-24", "Of browsers that open a web link at the same time one gets a session.", source: "autosignin.proto CreateWebLink, OpenWebLink"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let link = try await person.conversation.call(AutomaticSignInMethods.createWebLink, CreateWebLinkRequest(call: person.call))
            let requests = Array(repeating: OpenWebLinkRequest(handle: link.handle), count: 8)
            let opened = try await person.conversation.together(AutomaticSignInMethods.openWebLink, requests).count { outcome in
                if case .answer = outcome { true } else { false }
            }
            guard opened == 1 else { throw Unmet("1 session", came: "\(opened)") }
        },
    ]

    /// - Throws: `Unmet` unless the request gets the same answer twice, and `idempotency_key_reused` when it is another.
    private static func repeated<Req: Message, Res: Message & Equatable>(
        _ method: UnaryMethod<Req, Res>, _ request: Req, _ person: TestSubscriber, _ change: (inout Req) -> Void
    ) async throws {
        let first = try await person.conversation.call(method, request)
        let second = try await person.conversation.call(method, request)
        guard first == second else { throw Unmet(FrameText.text(first), came: FrameText.text(second)) }
        try await isReused(method, request, person, change)
    }

    private static func isReused<Req: Message, Res: Message>(
        _ method: UnaryMethod<Req, Res>, _ request: Req, _ person: TestSubscriber, _ change: (inout Req) -> Void
    ) async throws {
        var request = request
        change(&request)
        try await person.conversation.refusal(of: method, request, codes: ["idempotency_key_reused"])
    }
}
