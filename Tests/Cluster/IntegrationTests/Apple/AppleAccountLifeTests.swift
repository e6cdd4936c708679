@testable import ClusterCommands
@testable import CommandKit
import Contracts
import Foundation
import Testing

extension AppleTests {
    /// Validation, closure and migration, which operators ask for (apple §2.5, §2.10).
    @Suite("Life of accounts with Apple links")
    struct AccountLifeTests {
        @Test("apple #56: a session that was checked within the day is not asked about again")
        func recentCheck() async throws {
            let app = try await SignInApp.make()
            try await app.signedIn()
            let link = try #require(try await app.links().first).id
            let before = try await app.apple.count("token")
            let state = try await AutoSignInOperator.ask { try await $0.validateAppleSession(ValidateAppleSessionRequest(linkID: link), context: $1) }
            #expect(state.verdict == .recent)
            #expect(try await app.apple.count("token") == before)
        }

        @Test("apple #58 #82: closing an account revokes each refresh token by its own client id, and forgets the person")
        func closure() async throws {
            let app = try await SignInApp.make()
            let account = try await app.signedIn()
            #expect(try await app.other("example.acme.sports").signIn().accountID == account)
            let before = try await app.apple.count("revoke")
            #expect(try await Self.close(account))
            #expect(try await app.status().status == 403)
            try await Condition.wait("both tokens are revoked", within: .seconds(30)) { try await app.apple.count("revoke") >= before + 2 }
            let calls = try await app.apple.entries("revoke").dropFirst(before)
            #expect(Set(calls.compactMap { $0.fields["client_id"] }) == ["example.acme.tv", "example.acme.sports"])
            #expect(calls.allSatisfy { $0.status == 200 })
            #expect(try await app.apple.refreshTokens(app.account).allSatisfy(\.isRevoked))
            let anew = try await app.signIn()
            #expect(anew.status == 200 && anew.accountID != account && anew.object["isNew"] as? Bool == true, "\(anew.text)")
        }

        @Test("apple #58: an account closes while Apple is away; Apple is told when it is back")
        func closureWithoutApple() async throws {
            let app = try await SignInApp.make()
            let account = try await app.signedIn()
            let fault: [String: any Sendable] = ["kind": "answer", "status": 503, "times": 0]
            try await app.apple.control("faults", ["endpoint": "revoke", "faults": [fault]])
            let before = try await app.apple.count("revoke")
            #expect(try await Self.close(account))
            #expect(try await app.status().status == 403)
            try await Condition.wait("Apple is asked", within: .seconds(30)) { try await app.apple.count("revoke") > before }
            _ = try await app.apple.send("DELETE", "/_control/faults")
            try await Condition.wait("Apple is told", within: .seconds(60)) { try await app.apple.refreshTokens(app.account).allSatisfy(\.isRevoked) }
        }

        @Test("apple #64: a person who was transferred finds the account again, for 60 days")
        func transfers() async throws {
            for (days, status) in [(0, 200), (61, 410)] {
                let app = try await SignInApp.make()
                try await app.device.signIn(as: AppleTrait.person())
                let link = try await app.send(try await app.credential(), to: "link")
                let account = try #require(link.accountID, "\(link.text)")
                #expect(try await app.unlink().status == 204)
                let name = "00t.\(UUID().uuidString.lowercased()).00"
                let accepted = UInt64(Date().timeIntervalSince1970 * 1000) - UInt64(days) * 86_400_000
                let request = ImportTransfersRequest(
                    programmerID: "acme", teamID: "ACMETEAM01", acceptedAtMilliseconds: accepted,
                    users: [TransferredUser(transferSub: name, accountID: account)])
                let imported = try await AutoSignInOperator.ask { try await $0.importTransfers(request, context: $1).imported }
                #expect(imported == 1)
                let moved = try await SignInApp.make()
                let answer = try await moved.send(try await moved.ordered(["claims": ["transfer_sub": name]]), create: false)
                #expect(answer.status == status && (status == 200) == (answer.accountID == account), "\(answer.text)")
                if status == 410 { #expect(answer.code == "transfer_window_closed") }
            }
        }

        private static func close(_ account: String) async throws -> Bool {
            try await AutoSignInOperator.ask { try await $0.closeAccount(CloseAccountRequest(accountID: account), context: $1).wasKnown }
        }
    }
}
