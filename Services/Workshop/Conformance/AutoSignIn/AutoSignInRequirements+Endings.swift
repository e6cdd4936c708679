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
            try await device.isRefused(flagged.value, as: "token_revoked")
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
            try await TestSubscriber(examination, mvpd: "").isRefused(issued.value, as: "token_revoked")
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
            try await device.isRefused(revoked.value, as: "token_revoked")
            try await device.isRefused(closed.value, as: "account_locked")
            let again = try await device.conversation.call(AutomaticSignInMethods.issueToken, request)
            guard again == issued else { throw Unmet(FrameText.text(issued), came: FrameText.text(again)) }
            let status = GetOptInStatusRequest(caller: Caller(who: .webSession(browser.secret)))
            let account = try await device.conversation.call(AutomaticSignInMethods.getOptInStatus, status).accountID
            guard account == kept.accountID else { throw Unmet("the account \(kept.accountID)", came: account) }
        }
    ]
}
