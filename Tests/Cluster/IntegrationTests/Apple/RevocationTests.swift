@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

extension AppleTests {
    /// Revocation, and the calls to Apple that follow.
    @Suite("Revoking values")
    struct RevocationTests {
        @Test("apple #12: opting out on the page ends it for all devices, and Apple is told once")
        func webOptOut() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let other = try await app.another()
            try await other.signInBy(optIn.value)
            let control = try AppleControl.running()
            let before = try await control.calls("delete").count
            var browser = Browser(exchange: app.device.cluster.exchange)
            let link = try await app.webLink()
            let preview = try await browser.visit(link)
            let opened = try await browser.submit(try browser.form(preview, at: link))
            #expect(opened.status == 302 && opened.header("location") == "/devices")
            let page = "\(app.device.cluster.gateway)/devices"
            let shown = try await browser.visit(page)
            let list = try browser.form(shown, at: page)
            #expect(list.form.action == "/devices/opt-out" && list.value("family") == optIn.family)
            let done = try await browser.submit(list)
            #expect(done.header("location") == "/devices?done=opted-out")
            #expect(try await browser.visit("\(page)?done=opted-out").text.contains("Automatic sign-in is turned off for that app"))
            let refused = try await app.another().redeem(optIn.value)
            #expect(refused.status == 401 && refused.object["code"] as? String == "token_revoked")
            try await control.wait(for: "delete", beyond: before)
            try await Condition.wait("the device that it signed in is signed out") { try await other.device.checkAuthn() == 403 }
            #expect(try await app.device.checkAuthn() == 200)
            #expect(try await control.calls("delete").count == before + 1)
            #expect(try await app.apple.token().value == nil)
            let used = try await browser.submit(try browser.form(preview, at: link))
            #expect(used.status == 400 && used.text.contains("This link is used up"))
        }

        @Test("apple #13: opting out works while Apple is away; Apple is told when it is back")
        func appleAway() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let control = try AppleControl.running()
            try await control.fault("delete", [["kind": "answer", "status": 503, "times": 0]])
            let before = try await control.calls("delete").count
            #expect(try await app.optOut(optIn.family).status == 200)
            #expect(try await app.another().redeem(optIn.value).object["code"] as? String == "token_revoked")
            try await control.wait(for: "delete", beyond: before)
            #expect(try await app.apple.token().value == optIn.value)
            try await control.heal("delete")
            try await Condition.wait("Apple deletes the value", within: .seconds(60)) { try await app.apple.token().value == nil }
        }

        @Test("apple #14 #15: sign out everywhere ends all opt-ins and what they signed in, and nothing else does")
        func everywhere() async throws {
            let person = AppleTrait.person()
            let (app, first) = try await AppleApp.optedIn(as: person)
            let (second, third) = (try await AppleApp.make(), try await app.another())
            try await second.signIn(as: person)
            let other = try await second.optIn()
            try await third.signInBy(first.value)
            let fourth = try await second.another()
            let kept = try await fourth.signInBy(other.value)
            let answer = try await AppleBackend.make().revokeAll(first.account, keeping: kept)
            #expect(answer.status == 200 && answer.object["count"] as? Int == 2, "\(answer.text)")
            #expect(Set(answer.object["families"] as? [String] ?? []) == [first.family, other.family])
            for value in [first.value, other.value] { #expect(try await app.another().redeem(value).status == 401) }
            try await Condition.wait("the session ends") { try await third.device.checkAuthn() == 403 }
            #expect(try await fourth.device.checkAuthn() == 200)
            #expect(try await app.device.checkAuthn() == 200)
        }

        @Test("apple #16: a flagged sign-in ends its opt-in, and no other")
        func flagged() async throws {
            let person = AppleTrait.person()
            let (app, first) = try await AppleApp.optedIn(as: person)
            let second = try await AppleApp.make()
            try await second.signIn(as: person)
            let other = try await second.optIn()
            let session = try await app.another().signInBy(first.value)
            let answer = try await AppleBackend.make().flag(session)
            #expect(answer.status == 200 && answer.object["families"] as? [String] == [first.family], "\(answer.text)")
            #expect(try await app.another().redeem(first.value).status == 401)
            try await second.another().signInBy(other.value)
        }

        @Test("apple #17: a new value works, and the old one for a while longer")
        func rotation() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let answer = try await AppleBackend.make().rotate(optIn.family)
            #expect(answer.status == 200 && answer.object["newVersion"] as? Int == 2, "\(answer.text)")
            try await Condition.wait("the account holds the new value") { try await app.apple.token().value != optIn.value }
            let new = try #require(try await app.apple.token().value)
            try await app.another().signInBy(new)
            let old = try await app.another().redeem(optIn.value)
            #expect(old.status == 200 && old.object["rotateSoon"] as? Bool == false)
        }

        @Test("apple #20: when Apple has no such value, the opt-in is absent")
        func absent() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let issued = try await app.issue().object
            let family = try #require(issued["familyId"] as? String)
            try #require(try await app.confirm(family).status == 200)
            #expect(try await AppleBackend.make().rotate(family).status == 200)
            try await Condition.wait("the opt-in is absent", within: .seconds(30)) { try await app.state(of: family) == "absent" }
        }

        @Test("apple #21: when Apple's answer is lost, both values work", .timeLimit(.minutes(2)))
        func unclear() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let control = try AppleControl.running()
            try await control.fault("update", [["kind": "applyThenTimeout"]])
            let before = try await control.calls("update").count
            #expect(try await AppleBackend.make().rotate(optIn.family).status == 200)
            try await control.wait(for: "update", beyond: before + 1, within: .seconds(60))
            let new = try #require(try await app.apple.token().value)
            #expect(new != optIn.value)
            for value in [optIn.value, new] { try await app.another().signInBy(value) }
        }

        @Test("apple #22: a value that Apple does not know is deleted enough")
        func unknownAtApple() async throws {
            let app = try await AppleApp.make()
            try await app.signIn()
            let family = try #require(try await app.issue().object["familyId"] as? String)
            try #require(try await app.confirm(family).status == 200)
            let control = try AppleControl.running()
            let before = try await control.calls("delete").count
            #expect(try await app.optOut(family).status == 200)
            try await control.wait(for: "delete", beyond: before)
            #expect(try await control.calls("delete").last?.status == 404)
            #expect(try await AutoSignInOperator.deadLetters(of: family).isEmpty)
        }

        @Test("apple #23: one 401 of Apple is answered with a new JWT, two end as a dead letter")
        func credentialsRefused() async throws {
            let control = try AppleControl.running()
            let (app, optIn) = try await AppleApp.optedIn()
            try await control.fault("delete", [["kind": "answer", "status": 401]])
            #expect(try await app.optOut(optIn.family).status == 200)
            try await Condition.wait("Apple deletes the value", within: .seconds(30)) { try await app.apple.token().value == nil }
            let (second, other) = try await AppleApp.optedIn()
            try await control.fault("delete", [["kind": "answer", "status": 401, "times": 2]])
            #expect(try await second.optOut(other.family).status == 200)
            try await Condition.wait("the call is a dead letter", within: .seconds(30)) {
                try await AutoSignInOperator.deadLetters(of: other.family).count == 1
            }
            let letter = try #require(try await AutoSignInOperator.deadLetters(of: other.family).first)
            #expect(letter.call == "delete" && letter.lastStatus == 401)
            #expect(try await AutoSignInOperator.ask { try await $0.sendAgain(.init(id: letter.id), context: $1).wasKnown })
            try await Condition.wait("sent again, it is done", within: .seconds(30)) { try await second.apple.token().value == nil }
        }

        @Test("apple #24: no copy calls Apple before its Retry-After is over")
        func retryAfter() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let control = try AppleControl.running()
            let before = try await control.calls("delete").count
            try await control.fault("delete", [["kind": "answer", "status": 503, "headers": ["Retry-After": "3"]]])
            #expect(try await app.optOut(optIn.family).status == 200)
            try await Condition.wait("Apple deletes the value", within: .seconds(30)) { try await app.apple.token().value == nil }
            let calls = try await control.calls("delete").dropFirst(before)
            #expect(calls.map(\.status) == [503, 204])
            #expect((calls.last?.at ?? 0) - (calls.first?.at ?? 0) >= 3000)
        }

        @Test("apple #35: a crash between the revocation and the call to Apple loses neither")
        func crash() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            let control = try AppleControl.running()
            let before = try await control.calls("delete").count
            try await control.fault("delete", [["kind": "answer", "status": 503, "times": 0]])
            #expect(try await app.optOut(optIn.family).status == 200)
            try await control.wait(for: "delete", beyond: before)
            try await app.device.cluster.restart(.autosignin, signal: SIGKILL)
            try await control.heal("delete")
            try await Condition.wait("the value is refused") { try await app.another().redeem(optIn.value).status == 401 }
            // A call that was under way when the service died is made again two minutes later.
            try await Condition.wait("Apple deletes the value", within: .seconds(150)) { try await app.apple.token().value == nil }
        }

        @Test("apple #36: neither the store nor a log holds a value")
        func noValueInTheClear() async throws {
            let (app, optIn) = try await AppleApp.optedIn()
            try await app.another().signInBy(optIn.value)
            #expect(try await AppleBackend.make().rotate(optIn.family).status == 200)
            try await Condition.wait("the account holds the new value") { try await app.apple.token().value != optIn.value }
            let new = try #require(try await app.apple.token().value)
            _ = try await app.another().redeem(new + "x")
            #expect(try await app.post("tokens/revoke", ["value": new]).status == 200)
            let secrets = [optIn.value, new].compactMap { $0.split(separator: ".").last.map { Data($0.utf8) } }
            let home = app.device.cluster.home
            var searched = 0
            for folder in [home.data, home.logs] {
                let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
                for name in names {
                    guard let content = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path) else { continue }
                    searched += 1
                    for secret in secrets { #expect(content.range(of: secret) == nil, "a value lies in \(name)") }
                }
            }
            #expect(searched > 6)
        }
    }
}
