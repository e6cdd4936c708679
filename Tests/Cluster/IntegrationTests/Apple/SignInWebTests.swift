@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// Sign in with Apple in a browser (apple §2.1).
    @Suite("Sign in with Apple on the web")
    struct SignInWebTests {
        /// From our page to Apple's, and the person's consent there.
        /// - Returns: The page that posts Apple's answer to us.
        private static func answerPage(_ browser: inout Browser, _ account: String, action: String = "continue") async throws -> Browser.Page {
            let cluster = try TestCluster.running()
            _ = try await SignInApp.make(account)
            let start = try await browser.visit("\(cluster.gateway)/apple/v1/ACME1/web")
            let address = try #require(start.header("location"), "\(start.status) \(start.text)")
            var consent = try browser.form(try await browser.visit(address), at: address)
            consent.form.fill("account", account)
            consent.form.fill("firstName", "Wanda")
            consent.form.fill("action", action)
            let answer = try await browser.submit(consent)
            return try browser.form(answer, at: address)
        }

        @Test("apple §2.1: a person signs in, says yes to a new account, and sees the page of the devices")
        func newcomer() async throws {
            let cluster = try TestCluster.running()
            var browser = Browser(exchange: cluster.exchange)
            let account = UUID().uuidString
            let answer = try await Self.answerPage(&browser, account)
            #expect(answer.form.action.hasSuffix("/apple/v1/callback") && answer.value("user") != nil)
            let question = try await browser.submit(answer)
            #expect(question.status == 200, "\(question.text)")
            let before = try await StandInApple.running().count("token")
            let done = try await browser.submit(try browser.form(question, at: "\(cluster.gateway)/apple/v1/callback"))
            #expect((300..<400).contains(done.status), "\(done.status) \(done.text)")
            #expect(try await browser.visit("\(cluster.gateway)/devices").text.contains("Wanda"))
            #expect(try await StandInApple.running().count("token") == before)
            // The web and the device are of one group: the same account.
            let native = try await SignInApp.make(account).signIn(create: false)
            #expect(native.status == 200, "\(native.text)")
        }

        @Test("apple §2.1: a person who cancels comes back without a sign-in")
        func cancelled() async throws {
            let cluster = try TestCluster.running()
            var browser = Browser(exchange: cluster.exchange)
            let answer = try await Self.answerPage(&browser, UUID().uuidString, action: "cancel")
            #expect(answer.value("error") == "user_cancelled_authorize" && answer.value("code") == nil)
            let back = try await browser.submit(answer)
            #expect((300..<400).contains(back.status), "\(back.status)")
        }

        @Test("apple #78: a missing, foreign or reused state is refused before any exchange")
        func states() async throws {
            let cluster = try TestCluster.running()
            let apple = try StandInApple.running()
            var browser = Browser(exchange: cluster.exchange)
            let account = UUID().uuidString
            let answer = try await Self.answerPage(&browser, account)
            let before = try await apple.count("token")
            var missing = answer
            missing.form.fields.removeAll { $0.name == "state" }
            #expect(try await browser.submit(missing).status == 400)
            var made = answer
            made.form.fill("state", "made-up")
            #expect(try await browser.submit(made).status == 400)
            var stranger = Browser(exchange: cluster.exchange)
            #expect(try await stranger.submit(answer).status == 400)
            var other = Browser(exchange: cluster.exchange)
            let others = try await Self.answerPage(&other, UUID().uuidString)
            #expect(try await browser.submit(others).status == 400)
            #expect(try await apple.count("token") == before)
            // The failed attempts did not consume the genuine answer.
            #expect(try await browser.submit(answer).status == 200)
            #expect(try await apple.count("token") == before + 1)
            #expect(try await browser.submit(answer).status == 400)
            #expect(try await apple.count("token") == before + 1)
        }
    }
}
