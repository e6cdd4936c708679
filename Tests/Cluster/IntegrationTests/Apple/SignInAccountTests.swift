@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// From a proven person to an account (apple §2.6 to §2.8).
    @Suite("Accounts of Sign in with Apple")
    struct SignInAccountTests {
        @Test("apple #45: flags as strings are read alike, and a missing e-mail is no obstacle")
        func mail() async throws {
            let first = try await SignInApp.make()
            let address = "\(first.account.lowercased())@example.com"
            try await first.apple.setUser(first.account, ["email": address, "flags": "boolean"])
            _ = try await first.signedIn()
            for (flags, verified, code) in [
                ("boolean", true, "account_exists"), ("text", true, "account_exists"), ("text", false, "confirmation_required"),
                ("boolean", false, "confirmation_required"),
            ] {
                let other = try await SignInApp.make()
                try await other.apple.setUser(other.account, ["email": address, "flags": flags, "verified": verified])
                let answer = try await other.signIn(create: false)
                #expect(answer.isRefused(409, code), "\(flags) \(verified): \(answer.text)")
            }
            for mail in ["missing", "empty"] {
                let other = try await SignInApp.make()
                try await other.apple.setUser(other.account, ["mail": mail])
                #expect(try await other.signIn().status == 200)
            }
        }

        @Test(
            "apple #50: the first real user status counts, and nobody is kept out by it",
            arguments: [(2, "skip_checks"), (1, "extra_checks"), (0, "extra_checks")])
        func realUserStatus(_ status: Int, _ policy: String) async throws {
            let app = try await SignInApp.make()
            try await app.apple.setUser(app.account, ["realUserStatus": status])
            for _ in 0..<2 {
                let answer = try await app.signIn()
                #expect(answer.status == 200 && answer.object["realUserPolicy"] as? String == policy, "\(answer.text)")
            }
        }

        @Test("apple #52: a later sign-in without a name leaves the stored one")
        func name() async throws {
            let app = try await SignInApp.make()
            _ = try await app.send(try await app.credential(["scopes": ["name"], "firstName": "Amaryllis", "lastName": "Onym"]))
            #expect(try await app.devicesPage().contains("Amaryllis"))
            let later = try await app.credential()
            #expect(later.user == nil)
            #expect(try await app.send(later).status == 200)
            #expect(try await app.devicesPage().contains("Amaryllis"))
        }

        @Test("apple #53: markup in a name is harmless text")
        func markup() async throws {
            let app = try await SignInApp.make()
            let name: [String: any Sendable] = ["scopes": ["name"], "firstName": "<script>alert(1)</script>Zoe", "lastName": "<b>"]
            #expect(try await app.send(try await app.credential(name)).status == 200)
            let page = try await app.devicesPage()
            #expect(page.contains("Zoe") && !page.contains("<script>alert") && !page.contains("<b>"))
        }

        @Test("apple #54: an account with the same e-mail is linked after proof, and stays one account")
        func sameEmail() async throws {
            let person = AppleTrait.person()
            let first = try await SignInApp.make()
            let address = "\(first.account.lowercased())@example.com"
            try await first.apple.setUser(first.account, ["email": address])
            try await first.device.signIn(as: person)
            let link = try await first.send(try await first.credential(), to: "link")
            #expect(link.status == 200, "\(link.text)")
            let account = try #require(link.accountID)
            #expect(try await first.unlink().status == 204)
            let second = try await SignInApp.make()
            try await second.apple.setUser(second.account, ["email": address])
            let exists = try await second.signIn()
            #expect(exists.isRefused(409, "account_exists"), "\(exists.text)")
            let ticket = try #require(exists.ticket)
            #expect(try await second.send(ticket: ticket, to: "link").status == 403, "without a sign-in there is no proof")
            try await second.device.signIn(as: person)
            let linked = try await second.send(ticket: ticket, to: "link")
            #expect(linked.status == 200 && linked.accountID == account, "\(linked.text)")
            #expect(try await second.another().signIn(create: false).accountID == account)
        }

        @Test("apple #55: two apps of a group lead to one account, another programmer's to none")
        func groupedApps() async throws {
            let app = try await SignInApp.make()
            let account = try await app.signedIn()
            let other = try await app.other("example.acme.sports").signIn(create: false)
            #expect(other.status == 200 && other.accountID == account && other.object["isNew"] as? Bool == false, "\(other.text)")
            #expect(try await app.post("nonce", ["clientId": "example.bravo.tv"]).isRefused(400, "client_unknown"))
        }

        @Test("apple #79: what a client says of the person does not count")
        func foreignUserID() async throws {
            let ann = try await SignInApp.make()
            let bob = try await SignInApp.make()
            let accounts = (try await ann.signedIn(), try await bob.signedIn())
            let claimed = try await bob.apple.subject(ann.account)
            let answer = try await bob.send(try await bob.credential(), ["userID": claimed, "sub": claimed, "accountId": accounts.0])
            #expect(answer.status == 200 && answer.accountID == accounts.1, "\(answer.text)")
        }

        @Test("apple #80: a ticket spares the second exchange, and serves once, on its own device")
        func tickets() async throws {
            let app = try await SignInApp.make()
            let before = try await app.apple.count("token")
            let question = try await app.signIn(create: false)
            #expect(question.isRefused(409, "confirmation_required"), "\(question.text)")
            let ticket = try #require(question.ticket)
            let elsewhere = try await app.another().send(ticket: ticket)
            #expect(elsewhere.isRefused(401, "ticket_invalid"), "\(elsewhere.text)")
            let made = try await app.send(ticket: ticket)
            #expect(made.status == 200 && made.object["isNew"] as? Bool == true, "\(made.text)")
            #expect(try await app.apple.count("token") == before + 1)
            let again = try await app.send(ticket: ticket)
            #expect(again.isRefused(401, "ticket_invalid"), "\(again.text)")
        }

        @Test("apple #81: the same key brings the same answer, and no second exchange")
        func idempotency() async throws {
            let app = try await SignInApp.make()
            let credential = try await app.credential()
            let key = UUID().uuidString
            let before = try await app.apple.count("token")
            let first = try await app.send(credential, key: key)
            let second = try await app.send(credential, key: key)
            #expect(first.status == 200 && second.status == 200, "\(first.text) \(second.text)")
            #expect(first.accountID == second.accountID && first.object["sessionId"] as? String == second.object["sessionId"] as? String)
            #expect(try await app.apple.count("token") == before + 1)
            let other = try await app.send(try await app.credential(), key: key)
            #expect(other.isRefused(409, "idempotency_key_reused"), "\(other.text)")
        }

        @Test("apple #84: a reinstalled app and a new device lead to the same account")
        func reinstalled() async throws {
            let app = try await SignInApp.make()
            let account = try await app.signedIn()
            let answer = try await app.another().signIn(create: false)
            #expect(answer.status == 200 && answer.accountID == account && answer.object["isNew"] as? Bool == false, "\(answer.text)")
        }
    }
}
