internal import Contracts

extension AutoSignInRequirements {
    /// The scopes of a session by a value (apple.md §1.2).
    private static let scopes: Set = ["stream:play", "stream:progress", "watchlist:read", "watchlist:write"]

    static let values = [
        Requirement(
            "AUTO-18",
            "A value serves every device of the account, again and again, and before it was confirmed too: its family is ACTIVE then. The sessions have the four scopes of streaming and end with the login behind them.",
            source: "apple.md §1.2, autosignin.proto RedeemToken, StreamingSession"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
            let devices = [try await TestSubscriber(examination, mvpd: ""), try await TestSubscriber(examination, mvpd: "")]
            for device in [devices[0], devices[0], devices[1]] {
                let session = try await device.redeemed(issued.value).session ?? StreamingSession()
                guard Set(session.scopes) == Self.scopes else { throw Unmet("the scopes \(Self.scopes.sorted())", came: "\(session.scopes)") }
                let end = session.tv?.session?.expiresAtMilliseconds ?? 0
                guard (TestClock.now...max(TestClock.now, end)).contains(session.expiresAtMilliseconds) else {
                    throw Unmet("an end to come, at most \(end)", came: "\(session.expiresAtMilliseconds)")
                }
            }
            guard try await person.status().families.map(\.state) == [.active] else {
                throw Unmet("one family, FAMILY_STATE_ACTIVE", came: FrameText.text(try await person.status()))
            }
        },
        Requirement(
            "AUTO-19",
            "A session by a value is for streaming alone: it opts nobody in (`session_not_fresh`) and sees or ends nothing of the account (`step_up_required`), but its own family.",
            source: "apple.md §4, autosignin.proto AutomaticSignIn (step_up_required)"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let (own, other) = (try await person.optIn(), try await person.optIn())
            let device = try await TestSubscriber(examination, mvpd: "")
            try await device.redeemed(own.value)
            let conversation = device.conversation
            let stepUp: Set = ["step_up_required"]
            try await conversation.refusal(of: AutomaticSignInMethods.issueToken, device.request(), codes: ["session_not_fresh"])
            let status = GetOptInStatusRequest(caller: device.caller)
            try await conversation.refusal(of: AutomaticSignInMethods.getOptInStatus, status, codes: stepUp)
            try await conversation.refusal(of: AutomaticSignInMethods.revokeAll, device.revokeAll(), codes: stepUp)
            let link = CreateWebLinkRequest(call: device.call)
            try await conversation.refusal(of: AutomaticSignInMethods.createWebLink, link, codes: stepUp)
            try await conversation.refusal(of: AutomaticSignInMethods.revokeToken, device.revoke(other.familyID), codes: stepUp)
            try await conversation.call(AutomaticSignInMethods.revokeToken, device.revoke(own.familyID))
            try await device.requireRefused(own.value, as: "token_revoked")
        },
        Requirement(
            "AUTO-25", "Values last 180 days from their issue; nonces 10 minutes, and browsers' sessions half an hour, at most.",
            source: "apple.md §4, autosignin.proto IssuedToken, Nonce, WebSession"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let (days, minute) = (UInt64(180 * 86_400_000), UInt64(60_000))
            guard (TestClock.now + days - minute...TestClock.now + days + minute).contains(issued.expiresAtMilliseconds) else {
                throw Unmet("expires_at_ms in 180 days", came: FrameText.text(issued))
            }
            let ask = CreateNonceRequest(call: person.call, clientID: TestSubscriber.bundleID)
            let nonce = try await person.conversation.call(SignInWithAppleMethods.createNonce, ask)
            guard (TestClock.now...TestClock.now + 11 * minute).contains(nonce.expiresAtMilliseconds) else {
                throw Unmet("expires_at_ms within 10 minutes", came: FrameText.text(nonce))
            }
            let link = try await person.conversation.call(AutomaticSignInMethods.createWebLink, CreateWebLinkRequest(call: person.call))
            let browser = try await person.conversation.call(AutomaticSignInMethods.openWebLink, OpenWebLinkRequest(handle: link.handle))
            guard (1...1800).contains(browser.expiresInSeconds) else { throw Unmet("expires_in_s to 1800", came: "\(browser.expiresInSeconds)") }
        },
        Requirement(
            "AUTO-21",
            "RotateToken makes the next version, while the value of before goes on to serve; one that is on its way is not overtaken (`rotation_in_progress`), and a family that is not ACTIVE has none (`family_unknown`).",
            source: "apple.md §1.2, autosignin.proto RotateToken"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
            let backend = BackendCall(accessToken: person.call.accessToken, requestor: person.call.requestor)
            func rotate(_ family: String) -> RotateTokenRequest {
                RotateTokenRequest(call: backend, familyID: family, reason: "conformance", idempotencyKey: TestApp.device())
            }
            let method = AutomaticSignInMethods.rotateToken
            for family in ["nothing", issued.familyID] {
                try await person.conversation.refusal(of: method, rotate(family), codes: ["family_unknown"])
            }
            try await person.conversation.call(AutomaticSignInMethods.confirmStored, person.confirm(issued.familyID))
            let rotation = try await person.conversation.call(method, rotate(issued.familyID))
            guard rotation.newVersion == 2 else { throw Unmet("new_version 2", came: "\(rotation.newVersion)") }
            switch try await person.conversation.outcome(of: method, rotate(issued.familyID)) {
            case .fault(let fault) where fault.code == "rotation_in_progress": break
            // The first one is done already.
            case .answer(let next) where next.newVersion == 3: break
            case .fault(let fault): throw Unmet("`rotation_in_progress`, or new_version 3", came: "`\(fault.code)`")
            case .answer(let next): throw Unmet("`rotation_in_progress`, or new_version 3", came: FrameText.text(next))
            }
            try await TestSubscriber(examination, mvpd: "").redeemed(issued.value)
        },
    ]
}
