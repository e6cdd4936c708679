internal import Clocks
internal import Contracts

extension AutoSignInRequirements {
    static let tokens = [
        Requirement(
            "AUTO-1", "IssueToken gives a person who signed in just now a value for their Apple Account.",
            source: "autosignin.proto IssueToken, IssuedToken"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
            guard !issued.familyID.isEmpty, !issued.accountID.isEmpty, !issued.value.isEmpty,
                issued.expiresAtMilliseconds > UInt64(clamping: SystemClock().now().milliseconds)
            else { throw Unmet("family_id, account_id, value and an end to come", came: FrameText.text(issued)) }
        },
        Requirement(
            "AUTO-2",
            "IssueToken refuses: no session or an old sign-in (`session_not_fresh`), no consent (`opt_in_required`), an MVPD that takes no part (`subscription_required`), an unknown app (`client_unknown`).",
            source: "autosignin.proto AutomaticSignIn"
        ) { examination in
            let method = AutomaticSignInMethods.issueToken
            let nobody = try await TestSubscriber(examination, mvpd: "")
            try await nobody.conversation.refusal(of: method, nobody.request(), codes: ["session_not_fresh"])
            let old = try await TestSubscriber(examination, age: .seconds(3600))
            try await old.conversation.refusal(of: method, old.request(), codes: ["session_not_fresh"])
            let person = try await TestSubscriber(examination)
            let unwilling = person.request { $0.contextAuthorization = .denied }
            try await person.conversation.refusal(of: method, unwilling, codes: ["opt_in_required"])
            let elsewhere = try await TestSubscriber(examination, mvpd: "LakeTel")
            try await elsewhere.conversation.refusal(of: method, elsewhere.request(), codes: ["subscription_required"])
            let unknown = person.request { $0.bundleID = "example.nobody" }
            try await person.conversation.refusal(of: method, unknown, codes: ["client_unknown"])
        },
        Requirement(
            "AUTO-3", "The same idempotency key gives the same answer; with another request it is `idempotency_key_reused`.",
            source: "autosignin.proto IssueTokenRequest.idempotency_key"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let request = person.request()
            let first = try await person.conversation.call(AutomaticSignInMethods.issueToken, request)
            let second = try await examination.greet().call(AutomaticSignInMethods.issueToken, request)
            guard first == second else { throw Unmet(FrameText.text(first), came: FrameText.text(second)) }
            var other = request
            other.bundleID = "example.acme.sports"
            try await person.conversation.refusal(of: AutomaticSignInMethods.issueToken, other, codes: ["idempotency_key_reused"])
        },
        Requirement(
            "AUTO-4", "ConfirmStored makes a family ACTIVE, or REVOKED when the value was not stored.",
            source: "autosignin.proto ConfirmStored, StorageOutcome"
        ) {
            examination in
            let person = try await TestSubscriber(examination)
            for (outcome, state) in [(StorageOutcome.stored, FamilyState.active), (.failed, .revoked)] {
                let issued = try await person.conversation.call(AutomaticSignInMethods.issueToken, person.request())
                let family = try await person.conversation.call(
                    AutomaticSignInMethods.confirmStored,
                    ConfirmStoredRequest(call: person.call, familyID: issued.familyID, outcome: outcome, idempotencyKey: TestApp.device()))
                guard family.id == issued.familyID, family.state == state else {
                    throw Unmet("the family in state \(state)", came: FrameText.text(family))
                }
            }
            let unknown = ConfirmStoredRequest(call: person.call, familyID: "nothing", outcome: .stored, idempotencyKey: TestApp.device())
            try await person.conversation.refusal(of: AutomaticSignInMethods.confirmStored, unknown, codes: ["family_unknown"])
        },
        Requirement(
            "AUTO-5", "RedeemToken signs another device of the account in, for streaming.", source: "autosignin.proto RedeemToken, StreamingSession"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let device = try await TestSubscriber(examination, mvpd: "")
            let redeemed = try await device.conversation.call(AutomaticSignInMethods.redeemToken, device.redeem(issued.value))
            guard redeemed.familyID == issued.familyID, redeemed.session?.accountID == issued.accountID, redeemed.session?.context == .auto,
                redeemed.session?.tv?.session?.kind == .automatic
            else { throw Unmet("a session of the account, in the context AUTO", came: FrameText.text(redeemed)) }
        },
        Requirement(
            "AUTO-6",
            "RedeemToken refuses a value that is not known (`token_invalid`), revoked (`token_revoked`), or of another environment (`environment_mismatch`).",
            source: "autosignin.proto AutomaticSignIn"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let device = try await TestSubscriber(examination, mvpd: "")
            let method = AutomaticSignInMethods.redeemToken
            let altered = String(issued.value.dropLast(4)) + (issued.value.hasSuffix("AAAA") ? "BBBB" : "AAAA")
            for value in ["nothing", altered] {
                try await device.conversation.refusal(of: method, device.redeem(value), codes: ["token_invalid"])
            }
            try await device.conversation.refusal(
                of: method, device.redeem(issued.value) { $0.environment = .sandbox }, codes: ["environment_mismatch"])
            try await person.conversation.call(
                AutomaticSignInMethods.revokeToken,
                RevokeTokenRequest(caller: person.caller, familyID: issued.familyID, reason: "conformance", idempotencyKey: TestApp.device()))
            try await device.conversation.refusal(of: method, device.redeem(issued.value), codes: ["token_revoked"])
        },
        Requirement("AUTO-7", "Faults of authentication are passed on.", source: "autosignin.proto AutomaticSignIn") { examination in
            let person = try await TestSubscriber(examination)
            var request = person.request()
            request.call?.accessToken = ""
            try await person.conversation.refusal(of: AutomaticSignInMethods.issueToken, request, codes: ["access_denied"])
            request.call?.accessToken = "conformance-bearer"
            request.call?.deviceID = ""
            try await person.conversation.refusal(of: AutomaticSignInMethods.issueToken, request, codes: ["invalid_device_id"])
        },
    ]

    static let families = [
        Requirement(
            "AUTO-8", "GetOptInStatus lists the families of the caller's account, on every connection.", source: "autosignin.proto GetOptInStatus"
        ) {
            examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let status = try await examination.greet().call(AutomaticSignInMethods.getOptInStatus, GetOptInStatusRequest(caller: person.caller))
            guard status.accountID == issued.accountID, status.families.contains(where: { $0.id == issued.familyID && $0.state == .active }) else {
                throw Unmet("the active family \(issued.familyID)", came: FrameText.text(status))
            }
        },
        Requirement(
            "AUTO-9", "RevokeToken revokes a family by its id or its value, once; RevokeAll the others of the account.",
            source: "autosignin.proto RevokeToken, RevokeAll"
        ) {
            examination in
            let person = try await TestSubscriber(examination)
            let tokens = [try await person.optIn(), try await person.optIn(), try await person.optIn()]
            let byValue = RevokeTokenRequest(caller: person.caller, value: tokens[0].value, reason: "conformance", idempotencyKey: TestApp.device())
            try await person.conversation.call(AutomaticSignInMethods.revokeToken, byValue)
            let byID = RevokeTokenRequest(
                caller: person.caller, familyID: tokens[1].familyID, reason: "conformance", idempotencyKey: TestApp.device())
            try await person.conversation.call(AutomaticSignInMethods.revokeToken, byID)
            let rest = try await person.conversation.call(
                AutomaticSignInMethods.revokeAll, RevokeAllRequest(caller: person.caller, reason: "conformance", idempotencyKey: TestApp.device()))
            guard rest.familyIDs == [tokens[2].familyID] else { throw Unmet("family_ids [\(tokens[2].familyID)]", came: "\(rest.familyIDs)") }
            let unknown = RevokeTokenRequest(caller: person.caller, familyID: "nothing", idempotencyKey: TestApp.device())
            try await person.conversation.refusal(of: AutomaticSignInMethods.revokeToken, unknown, codes: ["family_unknown"])
        },
    ]

    static let pages = [
        Requirement(
            "AUTO-10", "A web link opens a browser's session once (`state_invalid` afterwards), which ends when it is told to.",
            source: "autosignin.proto CreateWebLink, OpenWebLink, EndWebSession"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let link = try await person.conversation.call(AutomaticSignInMethods.createWebLink, CreateWebLinkRequest(call: person.call))
            guard !link.handle.isEmpty, (1...300).contains(link.expiresInSeconds) else {
                throw Unmet("a handle for 5 minutes", came: FrameText.text(link))
            }
            let session = try await person.conversation.call(AutomaticSignInMethods.openWebLink, OpenWebLinkRequest(handle: link.handle))
            try await person.conversation.refusal(
                of: AutomaticSignInMethods.openWebLink, OpenWebLinkRequest(handle: link.handle), codes: ["state_invalid"])
            let browser = GetOptInStatusRequest(caller: Caller(who: .webSession(session.secret)))
            let status = try await person.conversation.call(AutomaticSignInMethods.getOptInStatus, browser)
            guard status.accountID == issued.accountID else { throw Unmet("the account \(issued.accountID)", came: FrameText.text(status)) }
            try await person.conversation.call(AutomaticSignInMethods.endWebSession, EndWebSessionRequest(webSession: session.secret))
            try await person.conversation.refusal(of: AutomaticSignInMethods.getOptInStatus, browser, codes: ["authentication_session_missing"])
        }
    ]

    static let apple = [
        Requirement(
            "AUTO-11", "CreateNonce gives a nonce for an app of the programmer's; another is `client_unknown`.",
            source: "autosignin.proto CreateNonce"
        ) {
            examination in
            let person = try await TestSubscriber(examination, mvpd: "")
            let method = SignInWithAppleMethods.createNonce
            let request = CreateNonceRequest(call: person.call, clientID: TestSubscriber.bundleID)
            let nonces = [try await person.conversation.call(method, request).nonce, try await person.conversation.call(method, request).nonce]
            guard nonces.allSatisfy({ !$0.isEmpty }), nonces[0] != nonces[1] else { throw Unmet("two nonces", came: "\(nonces)") }
            let unknown = CreateNonceRequest(call: person.call, clientID: "example.nobody")
            try await person.conversation.refusal(of: method, unknown, codes: ["client_unknown"])
        },
        Requirement(
            "AUTO-12", "A notification that Apple did not sign is `apple_notification_invalid`.", source: "autosignin.proto ReceiveNotification"
        ) {
            examination in
            let conversation = try await examination.greet()
            for payload in ["", "nonsense", "e30.e30.AAAA"] {
                try await conversation.refusal(
                    of: SignInWithAppleMethods.receiveNotification, AppleNotification(payload: payload), codes: ["apple_notification_invalid"])
            }
        },
        Requirement("AUTO-13", "An answer that belongs to no web sign-in is `state_invalid`.", source: "autosignin.proto CompleteWebSignIn") {
            examination in
            let request = CompleteWebSignInRequest(state: "nothing", code: "code", identityToken: "token", browserSecret: "none")
            try await examination.greet().refusal(of: SignInWithAppleMethods.completeWebSignIn, request, codes: ["state_invalid"])
        },
    ]

    static let operations = [
        Requirement(
            "AUTO-14", "Operators are told what is not known: letters, accounts, links.", source: "autosignin.proto AutoSignInOperations (was_known)"
        ) { examination in
            let conversation = try await examination.greet()
            try await conversation.call(AutoSignInOperationsMethods.listDeadLetters, ListDeadLettersRequest())
            let known = [
                try await conversation.call(AutoSignInOperationsMethods.sendAgain, SendAgainRequest(id: 4_000_000_000)).wasKnown,
                try await conversation.call(AutoSignInOperationsMethods.setAccountLock, SetAccountLockRequest(accountID: "nothing", isLocked: true))
                    .wasKnown,
                try await conversation.call(AutoSignInOperationsMethods.closeAccount, CloseAccountRequest(accountID: "nothing")).wasKnown,
                try await conversation.call(AutoSignInOperationsMethods.revokeApple, RevokeAppleRequest(linkID: "nothing")).wasKnown,
            ]
            guard !known.contains(true) else { throw Unmet("was_known false four times", came: "\(known)") }
        },
        Requirement(
            "AUTO-15", "A locked account's values are refused (`account_locked`), until it is unlocked; ListSecurityEvents tells of refusals.",
            source: "autosignin.proto SetAccountLock, ListSecurityEvents"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let issued = try await person.optIn()
            let device = try await TestSubscriber(examination, mvpd: "")
            let lock = AutoSignInOperationsMethods.setAccountLock
            guard try await person.conversation.call(lock, SetAccountLockRequest(accountID: issued.accountID, isLocked: true)).wasKnown else {
                throw Unmet("was_known", came: "an account that is not known")
            }
            try await device.conversation.refusal(of: AutomaticSignInMethods.redeemToken, device.redeem(issued.value), codes: ["account_locked"])
            try await person.conversation.call(lock, SetAccountLockRequest(accountID: issued.accountID, isLocked: false))
            try await device.conversation.call(AutomaticSignInMethods.redeemToken, device.redeem(issued.value))
            let events = try await person.conversation.call(
                AutoSignInOperationsMethods.listSecurityEvents, ListSecurityEventsRequest(limit: 1000)
            ).events
            guard events.contains(where: { $0.familyID == issued.familyID || $0.accountID == issued.accountID }) else {
                throw Unmet("an event of the account", came: "\(events.count) events of others")
            }
        },
        Requirement(
            "AUTO-29", "ExportPerson tells a person's rows, ErasePerson removes them. A service that looks for nobody answers `unimplemented`.",
            source: "autosignin.proto ExportPerson, ErasePerson"
        ) { examination in
            let person = try await TestSubscriber(examination)
            let (authentication, viewer) = (person.viewer.peers.doubles.authentication, person.viewer)
            // Nobody else's, as an erased person opens no account for a while.
            let user = TestApp.device()
            var subject = authentication.subject(device: viewer.device, requestor: viewer.requestor)
            subject.session?.userID = user
            authentication.put(subject, device: viewer.device, requestor: viewer.requestor)
            let issued = try await person.optIn()
            let device = try await TestSubscriber(examination, mvpd: "")
            let holder = AccountHolder(logins: [PersonLogin(mvpd: "NorthCable", userID: user)])
            switch try await person.conversation.outcome(of: AutoSignInOperationsMethods.exportPerson, holder) {
            case .fault(let fault) where fault.code == "unimplemented": return
            case .fault(let fault): throw Unmet("the person's rows", came: FrameText.text(fault))
            case .answer(let told):
                guard told.records?.tables.isEmpty == false else { throw Unmet("rows of the person", came: FrameText.text(told)) }
            }
            try await person.conversation.call(AutoSignInOperationsMethods.erasePerson, holder)
            try await device.conversation.refusal(
                of: AutomaticSignInMethods.redeemToken, device.redeem(issued.value), codes: ["token_revoked", "token_invalid"])
            let left = try await person.conversation.call(AutoSignInOperationsMethods.exportPerson, holder)
            guard left.records?.tables.isEmpty ?? true else { throw Unmet("no row", came: FrameText.text(left)) }
        },
    ]
}
