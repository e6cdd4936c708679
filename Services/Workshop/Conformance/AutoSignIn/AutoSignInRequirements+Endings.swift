internal import ContractRuntime
internal import Contracts

extension AutoSignInRequirements {
    static let endings = [
        Requirement(
            "AUTO-22", "FlagSignIn ends the family of the session that was flagged, and no other; a session that is not known is `session_unknown`.",
            source: "apple.md §1.2, autosignin.proto FlagSignIn"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let (flagged, other) = (try await person.optIn(), try await person.optIn())
            guard flagged.value != other.value else { throw Unmet("a value for each opt-in", came: "one for two") }
            let device = try await TestSubscriber(examination, mvpd: "")
            let session = try await device.redeemed(flagged.value).session?.id ?? ""
            let ended = try await person.conversation.call(AutomaticSignInMethods.flagSignIn, person.flag(session))
            guard ended.familyIDs == [flagged.familyID], ended.endedSessions == 1 else {
                throw Unmet("family_ids [\(flagged.familyID)] and 1 ended session", came: FrameText.text(ended))
            }
            try await device.requireRefused(flagged.value, as: "token_revoked")
            try await device.redeemed(other.value)
            try await person.conversation.refusal(of: AutomaticSignInMethods.flagSignIn, person.flag("nothing"), codes: ["session_unknown"])
        },
        Requirement(
            "AUTO-26", "ListSecurityEvents tells the latest first, and at most as many as it is asked for.",
            source: "autosignin.proto ListSecurityEventsRequest.limit, SecurityEvents"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            for isLocked in [true, false] {
                let lock = SetAccountLockRequest(accountID: issued.accountID, isLocked: isLocked)
                try await person.conversation.call(AutoSignInOperationsMethods.setAccountLock, lock)
                try await Task.sleep(for: .milliseconds(20))
            }
            let method = AutoSignInOperationsMethods.listSecurityEvents
            let events = try await person.conversation.call(method, ListSecurityEventsRequest(limit: 1000)).events
            let times = events.map(\.atMilliseconds)
            guard events.count(where: { $0.accountID == issued.accountID }) >= 2, times == times.sorted(by: >) else {
                throw Unmet("both events of the account, the latest first", came: "\(times.prefix(8))")
            }
            let newest = try await person.conversation.call(method, ListSecurityEventsRequest(limit: 1)).events
            guard newest.count == 1, newest[0] == events[0] else { throw Unmet("the latest event", came: "\(newest.count) events") }
        },
        Requirement(
            "AUTO-27", "RevokeAll ends the account's families and sessions, but the session that it is told to keep.",
            source: "autosignin.proto RevokeAllRequest.keep_session_id"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            var sessions: [String] = []
            for _ in 0..<3 {
                sessions.append(try await TestSubscriber(examination, mvpd: "").redeemed(issued.value).session?.id ?? "")
            }
            let ended = try await person.conversation.call(AutomaticSignInMethods.revokeAll, person.revokeAll(keeping: sessions[0]))
            guard ended.familyIDs == [issued.familyID], ended.endedSessions == 2 else {
                throw Unmet("family_ids [\(issued.familyID)] and 2 ended sessions", came: FrameText.text(ended))
            }
        },
        Requirement(
            "AUTO-28", "CloseAccount ends the account's families, and the person's next opt-in is another account's.",
            source: "autosignin.proto CloseAccount"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let close = CloseAccountRequest(accountID: issued.accountID)
            guard try await person.conversation.call(AutoSignInOperationsMethods.closeAccount, close).wasKnown else {
                throw Unmet("was_known", came: "an account that is not known")
            }
            try await TestSubscriber(examination, mvpd: "").requireRefused(issued.value, as: "token_revoked")
            let next = try await person.optIn()
            guard next.accountID != issued.accountID else { throw Unmet("another account", came: next.accountID) }
        },
    ]

    static let durable = [
        Requirement(
            "AUTO-23",
            "Opt-ins outlive the service's process, and so do revocations, locks, answers under an idempotency key, and browsers' sessions.",
            source: "Replacing.md §1", isDisruptive: true
        ) { examination in
            let (person, locked) = (try await TestSubscriber(examination), try await TestSubscriber(examination))
            let (kept, revoked, closed) = (try await person.optIn(), try await person.optIn(), try await locked.optIn())
            try await person.conversation.call(AutomaticSignInMethods.revokeToken, person.revoke(revoked.familyID))
            let lock = SetAccountLockRequest(accountID: closed.accountID, isLocked: true)
            try await locked.conversation.call(AutoSignInOperationsMethods.setAccountLock, lock)
            let request = person.request()
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, request)
            let link = try await person.conversation.call(AutomaticSignInMethods.createWebLink, CreateWebLinkRequest(call: person.call))
            let browser = try await person.conversation.call(AutomaticSignInMethods.openWebLink, OpenWebLinkRequest(handle: link.handle))
            try await examination.restart()
            let device = try await TestSubscriber(examination, mvpd: "")
            try await device.redeemed(kept.value)
            try await device.requireRefused(revoked.value, as: "token_revoked")
            try await device.requireRefused(closed.value, as: "account_locked")
            let again = try await device.conversation.call(AutomaticSignInMethods.issueToken, request)
            guard again == issued else { throw Unmet(FrameText.text(issued), came: FrameText.text(again)) }
            let status = GetOptInStatusRequest(caller: Caller(who: .webSession(browser.secret)))
            let account = try await device.conversation.call(AutomaticSignInMethods.getOptInStatus, status).accountID
            guard account == kept.accountID else { throw Unmet("the account \(kept.accountID)", came: account) }
        }
    ]
}

extension AutoSignInRequirements {
    static let accounts = [
        Requirement(
            "AUTO-16",
            "A device reaches its own account only: another's families are not listed, and cannot be confirmed or revoked (`family_unknown`), nor its sessions flagged (`session_unknown`).",
            source: "apple.md §4, autosignin.proto AutomaticSignIn"
        ) { examination in
            let (ada, bob) = (try await TestSubscriber(examination), try await TestSubscriber(examination))
            let (hers, his) = (try await ada.optIn(), try await bob.optIn())
            let device = try await TestSubscriber(examination, mvpd: "")
            let session = try await device.redeemed(hers.value).session?.id ?? ""
            for (person, own) in [(ada, hers), (bob, his)] {
                let status = try await person.status()
                guard status.accountID == own.accountID, status.families.map(\.id) == [own.familyID] else {
                    throw Unmet("the family \(own.familyID) alone", came: FrameText.text(status))
                }
            }
            let unknown: Set = ["family_unknown"]
            try await bob.conversation.refusal(of: AutomaticSignInMethods.confirmStored, bob.confirm(hers.familyID, .failed), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeToken, bob.revoke(hers.familyID), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeToken, bob.revoke(value: hers.value), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.revokeAll, bob.revokeAll(hers.accountID), codes: unknown)
            try await bob.conversation.refusal(of: AutomaticSignInMethods.flagSignIn, bob.flag(session), codes: ["session_unknown"])
            let ended = try await bob.conversation.call(AutomaticSignInMethods.revokeAll, bob.revokeAll())
            guard ended.familyIDs == [his.familyID] else { throw Unmet("family_ids [\(his.familyID)]", came: "\(ended.familyIDs)") }
            try await device.redeemed(hers.value)
        },
        Requirement(
            "AUTO-17",
            "GetOptInStatus tells what is so now: no family before the opt-in, PENDING until it is stored, then ACTIVE with its devices, the latest first, and REVOKED with time and reason.",
            source: "autosignin.proto GetOptInStatus, TokenFamily"
        ) { examination in
            let person = try await TestSubscriber(examination)
            guard try await person.status().families.isEmpty else { throw Unmet("no family before the opt-in", came: "one") }
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
            _ = try await family(issued, of: person, in: .pending)
            try await person.conversation.call(AutomaticSignInMethods.confirmStored, person.confirm(issued.familyID))
            _ = try await family(issued, of: person, in: .active)
            var sessions: [String] = []
            for _ in 0..<2 {
                let device = try await TestSubscriber(examination, mvpd: "")
                sessions.insert(try await device.redeemed(issued.value).session?.id ?? "", at: 0)
                try await Task.sleep(for: .milliseconds(20))
            }
            let used = try await family(issued, of: person, in: .active)
            guard used.devices.map(\.sessionID) == sessions, used.lastUsedAtMilliseconds > 0, used.revokedAtMilliseconds == 0 else {
                throw Unmet("devices with the sessions \(sessions), and when it was used last", came: FrameText.text(used))
            }
            try await person.conversation.call(AutomaticSignInMethods.revokeToken, person.revoke(issued.familyID))
            let over = try await family(issued, of: person, in: .revoked)
            guard over.revokedAtMilliseconds > 0, over.revocationReason == "conformance" else {
                throw Unmet("revoked_at_ms, and the reason `conformance`", came: FrameText.text(over))
            }
        },
    ]

    /// - Throws: `Unmet` unless the person's status lists the family once, in that state.
    private static func family(_ issued: IssuedToken, of person: TestSubscriber, in state: FamilyState) async throws -> TokenFamily {
        let families = try await person.status().families.filter { $0.id == issued.familyID }
        guard families.count == 1, families[0].state == state else {
            throw Unmet("the family \(issued.familyID), \(state)", came: families.map { FrameText.text($0) }.joined(separator: ", "))
        }
        return families[0]
    }
}

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
