import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Sign in with Apple: proof and account", .everyEngine)
struct AppleSignInTests {
    private static let anna = FirstTimeUser(givenName: "Anna", familyName: "Berg", email: "client@example.org")

    @Test("apple #37: a valid token, nonce and code make an account, a link and a stored refresh token")
    func signsIn() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter(user: Self.anna)
        #expect(signedIn.isNew)
        #expect(signedIn.session?.context == .apple)
        #expect(signedIn.session?.scopes.contains("account:write") == true)
        let account = try #require(await rig.account(signedIn.accountID))
        #expect(account.profile.givenName == "Anna")
        #expect(account.profile.familyName == "Berg")
        // The client's own claim about the address does not count.
        #expect(account.profile.email == "ada@example.org")
        #expect(try await rig.links(of: signedIn.accountID).map(\.subject) == [TokenMaker.subject])
        #expect(try await rig.grants(of: signedIn.accountID).map(\.client.text) == [AppleRig.tv])
        #expect(rig.apple.refreshTokens.count == 1)
    }

    @Test("apple #36: no token of Apple's is found in the store or the log")
    func keepsSecrets() async throws {
        let rig = try AppleRig()
        let signed = try await rig.approve()
        _ = try await rig.signIn(signed, creates: true, key: "once").entered()
        let ticket = try await rig.signIn(rig.approve("other") { $0.with("email", nil) }).question().ticket
        let refresh = try #require(rig.apple.refreshTokens.keys.first)
        let secrets = [refresh, signed.token, signed.code, signed.nonce, ticket]
        let content = try rig.folder.contents()
        for secret in secrets {
            #expect(!content.contains { $0.range(of: .init(secret.utf8)) != nil })
            #expect(!rig.log.lines.contains { $0.contains(secret) })
        }
    }

    @Test("apple #39: an unknown kid causes one fetch in a minute")
    func fetchesKeyOnce() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        rig.apple.publish([TokenMaker.keyName, "SECONDKEY2"])
        let new = try await rig.approve { $0.signed(by: TokenMaker.keys[1]).withHeader("kid", "\"SECONDKEY2\"") }
        _ = try await rig.signIn(new).entered()
        #expect(rig.apple.calls("/auth/keys").count == 2)
        let third = try await rig.approve { $0.withHeader("kid", "\"THIRDKEY33\"") }
        #expect(await refusal { try await rig.signIn(third) } == .appleKeyUnknown)
        #expect(rig.apple.calls("/auth/keys").count == 2)
    }

    @Test("apple §2.2: a key that Apple replaced under the same name is found by one more fetch; bad signatures cause one in a minute at most")
    func followsKeyOfTheSameName() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        func newer() async throws -> AppleRig.Signed { try await rig.approve { $0.signed(by: TokenMaker.keys[1]) } }
        #expect(await refusal { try await rig.signIn(newer()) } == .appleTokenSignature)
        #expect(await refusal { try await rig.signIn(newer()) } == .appleTokenSignature)
        #expect(rig.apple.calls("/auth/keys").count == 2)
        rig.apple.publish([TokenMaker.keyName], replaced: true)
        rig.clock.advance(by: .seconds(60))
        _ = try await rig.signIn(newer()).entered()
        #expect(rig.apple.calls("/auth/keys").count == 3)
    }

    @Test("apple #40: a key that is dropped serves no more after the next fetch")
    func forgetsDroppedKey() async throws {
        let rig = try AppleRig()
        rig.apple.publish([TokenMaker.keyName], maxAge: 600)
        try await rig.enter()
        rig.apple.publish(["SECONDKEY2"], maxAge: 600)
        #expect(try await rig.signIn(rig.approve()).entered().isNew == false)
        rig.clock.advance(by: .seconds(601))
        let late = try await rig.approve()
        #expect(await refusal { try await rig.signIn(late) } == .appleKeyUnknown)
    }

    @Test("apple #41: wrong issuer, foreign audience and a late token have their codes")
    func refusesClaims() async throws {
        let rig = try AppleRig()
        let cases: [(String, String, Fault.Code)] = [
            ("iss", "\"https://example.org\"", .appleTokenIssuer), ("aud", "\"\(AppleRig.sports)\"", .appleTokenAudience),
            ("exp", "\(rig.clock.now().seconds)", .appleTokenExpired),
        ]
        for (name, text, code) in cases {
            let signed = try await rig.approve { $0.with(name, text) }
            #expect(await refusal { try await rig.signIn(signed) } == code)
        }
        #expect(rig.apple.calls("/auth/token").isEmpty)
    }

    @Test("apple #42 and #43: without a nonce only a device that supports none gets in, and only with a good code")
    func handlesMissingNonce() async throws {
        let rig = try AppleRig()
        let silent = try await rig.approve { $0.with("nonce", nil) }
        #expect(await refusal { try await rig.signIn(silent, creates: true) } == .appleNonceMismatch)
        var unsupported = try await rig.approve(supportsNonce: false)
        let good = unsupported.code
        unsupported.code = ""
        #expect(await refusal { try await rig.signIn(unsupported, creates: true) } == .appleNonceMismatch)
        unsupported = try await rig.approve(supportsNonce: false) { $0.with("c_hash", nil) }
        unsupported.code = "made-up"
        #expect(await refusal { try await rig.signIn(unsupported, creates: true) } == .appleGrantInvalid)
        _ = try await rig.signIn(rig.approve(supportsNonce: false), creates: true).entered()
        #expect(good != "made-up")
    }

    @Test("apple #44: a nonce is good for one use, by the device and app that asked for it")
    func spendsNonce() async throws {
        let rig = try AppleRig()
        let signed = try await rig.approve()
        #expect(await refusal { try await rig.signIn(signed, device: "tv-2", creates: true) } == .appleNonceMismatch)
        #expect(await refusal { try await rig.signIn(signed, client: AppleRig.sports, creates: true) } == .appleTokenAudience)
        _ = try await rig.signIn(signed, creates: true).entered()
        #expect(await refusal { try await rig.signIn(signed, creates: true) } == .appleNonceMismatch)
        let late = try await rig.approve()
        rig.clock.advance(by: .seconds(600))
        #expect(await refusal { try await rig.signIn(late) } == .appleNonceMismatch)
    }

    @Test("apple V10: a token that was used counts as replayed under another nonce")
    func refusesReplay() async throws {
        let rig = try AppleRig()
        let first = try await rig.approve(supportsNonce: false) { $0.with("c_hash", nil) }
        _ = try await rig.signIn(first, creates: true).entered()
        let again = AppleRig.Signed(token: first.token, code: try await rig.approve(supportsNonce: false).code, nonce: try await rig.nonce())
        #expect(await refusal { try await rig.signIn(again) } == .appleTokenReplayed)
        let elsewhere = AppleRig.Signed(token: first.token, code: again.code, nonce: try await rig.nonce("tv-2"))
        #expect(await refusal { try await rig.signIn(elsewhere, device: "tv-2") } == .appleTokenReplayed)
    }

    @Test("apple #45: sign-in works without an e-mail")
    func needsNoEmail() async throws {
        let rig = try AppleRig()
        let signedIn = try await rig.enter { $0.with("email", nil).with("email_verified", nil) }
        #expect(try await rig.account(signedIn.accountID)?.profile.email == nil)
    }

    @Test("apple #46: a code that was used, or is older than 300 s, is refused")
    func refusesOldCodes() async throws {
        let rig = try AppleRig()
        let first = try await rig.approve()
        _ = try await rig.signIn(first, creates: true).entered()
        var second = try await rig.approve { $0.with("c_hash", nil) }
        second.code = first.code
        #expect(await refusal { try await rig.signIn(second) } == .appleGrantInvalid)
        let late = try await rig.approve()
        rig.clock.advance(by: .seconds(300))
        #expect(await refusal { try await rig.signIn(late) } == .appleGrantInvalid)
    }

    @Test("apple #47: a code of the Services ID is no good with the bundle id")
    func refusesForeignCode() async throws {
        let rig = try AppleRig()
        var signed = try await rig.approve { $0.with("c_hash", nil) }
        signed.code = rig.apple.makeCode(client: AppleRig.web, subject: TokenMaker.subject, nonce: signed.nonce)
        #expect(await refusal { try await rig.signIn(signed, creates: true) } == .appleGrantInvalid)
        let swapped = try await rig.approve { $0.with("c_hash", "\"\(TokenMaker.hash("another"))\"") }
        #expect(await refusal { try await rig.signIn(swapped, creates: true) } == .appleGrantInvalid)
        #expect(try await rig.accountCount() == 0)
    }

    @Test("apple #48: an exchange that names another person ends without an account")
    func refusesForeignSubject() async throws {
        let rig = try AppleRig()
        rig.apple.exchangeNames("somebody else")
        let signed = try await rig.approve()
        #expect(await refusal { try await rig.signIn(signed, creates: true) } == .appleTokenSubject)
        #expect(try await rig.accountCount() == 0)
    }

    @Test("apple #49: a refused client secret is made anew once; every other mistake of ours is for an operator")
    func rebuildsSecretOnce() async throws {
        let rig = try AppleRig()
        rig.apple.then("/auth/token", 400, "{\"error\":\"invalid_client\"}")
        try await rig.enter()
        #expect(rig.apple.calls("/auth/token").map(\.status) == [400, 200])
        for error in ["invalid_request", "unauthorized_client", "unsupported_grant_type", "invalid_scope"] {
            rig.apple.then("/auth/token", 400, "{\"error\":\"\(error)\"}")
            let signed = try await rig.approve()
            #expect(await refusal { try await rig.signIn(signed) } == .appleRequestInvalid)
        }
        rig.apple.then("/auth/token", 400, "{\"error\":\"invalid_client\"}")
        rig.apple.then("/auth/token", 400, "{\"error\":\"invalid_client\"}")
        let signed = try await rig.approve()
        #expect(await refusal { try await rig.signIn(signed) } == .appleRequestInvalid)
        #expect(rig.log.lines.contains { $0.hasPrefix("error apple.refuses_client") })
    }

    @Test("an answer that means nothing says nothing of the person, and the sign-in may be sent again")
    func survivesBrokenAnswers() async throws {
        let rig = try AppleRig()
        for (status, body) in [
            (503, ""), (500, "{\"error\":\"invalid_grant\"}"), (200, "{\"access_token\""), (200, "{}"), (404, "<html>"), (400, "{}"),
        ] {
            rig.apple.then("/auth/token", status, body, retryAfter: 7)
            let signed = try await rig.approve()
            #expect(await refusal { try await rig.signIn(signed, creates: true) } == .appleUnavailable)
            _ = try await rig.signIn(signed, creates: true).entered()
        }
    }

    @Test("apple #50: the status decides how much is checked, and the first one stays")
    func keepsFirstStatus() async throws {
        let rig = try AppleRig()
        let likely = try await rig.enter("likely") { $0.with("real_user_status", "2").with("email", nil) }
        #expect(likely.realUserPolicy == .skipChecks)
        let later = try await rig.enter("likely") { $0.with("real_user_status", nil).with("email", nil) }
        #expect(later.realUserPolicy == .skipChecks)
        for (subject, status) in [("unknown", "1"), ("old", "0"), ("silent", nil)] {
            let signedIn = try await rig.enter(subject) { $0.with("real_user_status", status).with("email", nil) }
            #expect(signedIn.realUserPolicy == .extraChecks)
        }
    }

    @Test("apple #51: a failure before the commit leaves no account; a fresh sign-in with the kept name makes one with it")
    func commitsNameWithAccount() async throws {
        let rig = try AppleRig()
        try await rig.files.refuseInserts(into: "apple_link")
        let first = try await rig.approve()
        #expect(await refusal { try await rig.signIn(first, user: Self.anna, creates: true) } == .internal)
        #expect(try await rig.accountCount() == 0)
        try await rig.files.acceptInserts(into: "apple_link")
        let signedIn = try await rig.enter(user: Self.anna)
        #expect(try await rig.account(signedIn.accountID)?.profile.givenName == "Anna")
    }

    @Test("apple #52: a sign-in without a name changes nothing, a late name fills an empty one only")
    func keepsName() async throws {
        let rig = try AppleRig()
        let first = try await rig.enter()
        try await rig.enter(user: FirstTimeUser(givenName: "Late"))
        #expect(try await rig.account(first.accountID)?.profile.givenName == "Late")
        try await rig.enter(user: Self.anna)
        try await rig.enter()
        #expect(try await rig.account(first.accountID)?.profile.givenName == "Late")
        #expect(try await rig.account(first.accountID)?.profile.familyName == nil)
    }

    @Test("apple #53: markup in a name is stored harmless")
    func sanitisesName() throws {
        let name = try #require(PersonName(given: "<b onclick=\"x\">O'Neil</b>\u{0}\u{202e}", family: "  von\t\n der ${x} & Söhne "))
        #expect(name.given == "b onclickxO'Neil/b")
        #expect(name.family == "von der x Söhne")
        #expect(PersonName(given: "<>", family: " ") == nil)
        #expect(PersonName(given: String(repeating: "é", count: 65), family: "")?.given?.count == 64)
        #expect(PersonName(json: #"{"name":{"firstName":"Anna","lastName":"Berg"},"email":"x"}"#)?.family == "Berg")
        for text in ["", "{}", "[]", #"{"name":7}"#, #"{"name":{}}"#] { #expect(PersonName(json: text) == nil) }
        let short = #"{"name":{"firstName":"Anna"}}"#
        let longest = short + String(repeating: " ", count: 4096 - short.utf8.count)
        #expect(PersonName(json: longest)?.given == "Anna" && PersonName(json: longest + " ") == nil)
    }

    @Test("apple #55: two grouped apps lead to one account")
    func sharesAccountInGroup() async throws {
        let rig = try AppleRig()
        let first = try await rig.enter()
        let second = try await rig.enter(device: "tv-2", client: AppleRig.sports)
        #expect(second.accountID == first.accountID)
        #expect(!second.isNew)
        #expect(try await rig.grants(of: first.accountID).map(\.client.text) == [AppleRig.sports, AppleRig.tv])
    }

    @Test("apple #65: while Apple's keys cannot be had, those at hand serve for 72 hours")
    func survivesKeyOutage() async throws {
        let rig = try AppleRig()
        rig.apple.publish([TokenMaker.keyName], maxAge: 3_600)
        try await rig.enter()
        rig.clock.advance(by: .seconds(10 * 3_600))
        rig.apple.then("/auth/keys", 500)
        _ = try await rig.signIn(rig.approve()).entered()
        rig.clock.advance(by: .seconds(63 * 3_600))
        rig.apple.then("/auth/keys", 500)
        let late = try await rig.approve()
        #expect(await refusal { try await rig.signIn(late) } == .appleUnavailable)
    }

    @Test("apple §2.2: another copy, or the next process, takes Apple's keys from the store while they serve")
    func sharesKeys() async throws {
        let rig = try AppleRig()
        try await rig.enter()
        let next = try rig.copy()
        _ = try await next.signIn(next.approve(device: "tv-2"), device: "tv-2").entered()
        #expect(rig.apple.calls("/auth/keys").count == 1)
    }

    @Test("apple #10: a locked account lets nobody in with Apple, and authentication makes no session for it")
    func refusesLockedAccount() async throws {
        let rig = try AppleRig()
        rig.logins.signIn("tv-1")
        let account = try await rig.link(rig.approve()).accountID
        _ = try await rig.service.operations.setAccountLock(SetAccountLockRequest(accountID: account, isLocked: true), context: rig.context)
        let signed = try await rig.approve(device: "tv-2")
        #expect(await refusal { try await rig.signIn(signed, device: "tv-2") } == .accountLocked)
        #expect(!rig.logins.calls.contains("startAutomaticSession"))
    }

    @Test("apple #79: only sub says who the person is")
    func trustsSubjectAlone() async throws {
        let rig = try AppleRig()
        let first = try await rig.enter()
        // Another person with the first one's name and address at the client.
        let second = try await rig.enter("another", user: FirstTimeUser(givenName: TokenMaker.subject, email: "ada@example.org")) {
            $0.with("email", "\"relay@privaterelay.appleid.com\"").with("is_private_email", "true")
        }
        #expect(second.accountID != first.accountID)
    }

    @Test("apple #81: the same idempotency key gets the same answer without a second exchange")
    func repeatsAnswer() async throws {
        let rig = try AppleRig()
        let signed = try await rig.approve()
        let first = try await rig.signIn(signed, creates: true, key: "k1")
        let second = try await rig.signIn(signed, creates: true, key: "k1")
        #expect(first == second)
        #expect(rig.apple.calls("/auth/token").count == 1)
        let other = try await rig.approve()
        #expect(await refusal { try await rig.signIn(other, creates: true, key: "k1") } == .idempotencyKeyReused)
    }

    @Test("apple #84: a reinstalled app on a new device leads to the same account")
    func findsAccountAgain() async throws {
        let rig = try AppleRig()
        let first = try await rig.enter()
        let again = try await rig.enter(device: "new-tv")
        #expect(again.accountID == first.accountID)
        #expect(try await rig.accountCount() == 1)
    }

    @Test("a client that is not the programmer's, or not native, is unknown", arguments: ["", "example.other", AppleRig.web])
    func refusesUnknownClients(client: String) async throws {
        let rig = try AppleRig()
        #expect(await refusal { try await rig.nonce(client: client) } == .clientUnknown)
    }

    @Test("of many first sign-ins of a person at once, one makes the account")
    func makesOneAccount() async throws {
        let rig = try AppleRig()
        let accounts = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<8 {
                let signed = try await rig.approve(device: "tv-\(number)")
                group.addTask { try await rig.signIn(signed, device: "tv-\(number)", creates: true).entered().accountID }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(accounts.count == 1)
        #expect(try await rig.accountCount() == 1)
    }
}
