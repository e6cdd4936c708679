import Clocks
import Contracts
import Faults
import Foundation
import Testing

@testable import AutoSignInService

@Suite("Calls to Apple", .everyEngine)
struct OutboxTests {
    private static let day: Duration = .seconds(86_400)

    @Test("apple #22: 404 to a Delete is the goal")
    func deleteOfNothing() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.apple.then(.answer(404))
        try await rig.revoke(token.familyID)
        try await rig.deliver()
        rig.clock.advance(by: Self.day)
        try await rig.deliver()
        #expect(rig.apple.count("delete") == 1)
        #expect(try await deadLetters(rig).isEmpty)
    }

    @Test("apple #23: after one 401 the bearer is made anew; a second one is a dead letter")
    func refusedCredentials() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        rig.apple.then(.answer(401))
        try await rig.revoke(first.familyID)
        try await rig.deliver()
        #expect(rig.apple.calls.map(\.status) == [401, 204])
        #expect(rig.apple.bearers.count == 2 && rig.apple.bearers[0].text != rig.apple.bearers[1].text)
        rig.apple.then(.answer(401), .answer(401))
        try await rig.revoke(second.familyID)
        try await rig.deliver()
        let letters = try await deadLetters(rig)
        #expect(letters.map(\.lastStatus) == [401] && letters.first?.attempts == 2)
        #expect(rig.log.lines.contains { $0.hasPrefix("error outbox_gave_up") })
        #expect(try await rig.service.operations.sendAgain(SendAgainRequest(id: letters[0].id), context: rig.context).wasKnown)
        #expect(try await !rig.service.operations.sendAgain(SendAgainRequest(id: 999), context: rig.context).wasKnown)
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty)
        #expect(try await deadLetters(rig).isEmpty)
    }

    @Test("apple #12: what is due goes out by itself, until the service stops")
    func deliversByItself() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let delivery = Task { await rig.service.deliverOutbox() }
        try await rig.revoke(token.familyID)
        for _ in 0..<3000 where !rig.apple.values().isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(rig.apple.values().isEmpty)
        delivery.cancel()
        await delivery.value
    }

    @Test("apple #24: after 503 with Retry-After: 30 nothing is sent for 30 seconds")
    func retryAfter() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.apple.then(.answer(503, retryAfter: 30))
        try await rig.revoke(token.familyID)
        try await rig.deliver()
        rig.clock.advance(by: .milliseconds(29_999))
        try await rig.deliver()
        #expect(rig.apple.calls.count == 1)
        rig.clock.advance(by: .milliseconds(1))
        try await rig.deliver()
        #expect(rig.apple.calls.map(\.status) == [503, 204])
    }

    @Test("apple #25, #26, #27: the bearer is what Apple accepts, and is used for 15 of its 20 minutes")
    func bearer() async throws {
        let rig = try TokenRig()
        for (index, wait) in [0, 899, 1].enumerated() {
            let token = try await rig.optIn("tv-\(index)")
            rig.clock.advance(by: .seconds(wait))
            try await rig.revoke(token.familyID, from: "tv-\(index)")
            try await rig.deliver()
        }
        let bearers = rig.apple.bearers
        #expect(bearers.count == 3 && bearers[0].text == bearers[1].text && bearers[1].text != bearers[2].text)
        let bearer = try #require(bearers.last)
        #expect(bearer.header == ["alg": "ES256", "kid": "ACMEPURCH1", "typ": "JWT"])
        #expect(bearer.issuer == "issuer-1" && bearer.audience == "appstoreconnect-v1" && bearer.bundleID == "tv.acme")
        #expect(bearer.lifetime == 1200 && bearer.signatureLength == 64 && bearer.isSigned)
    }

    @Test("apple #35: what a crash left between the local change and the call is sent after the restart")
    func survivesCrash() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.revoke(token.familyID)
        let next = try rig.restarted()
        #expect(await refusal { try await next.redeem(token.value) } == .tokenRevoked)
        try await next.deliver()
        #expect(rig.apple.values().isEmpty)
    }

    @Test("apple #70: a Delete that fails for 26 hours is sent when Apple returns")
    func patientDelete() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.revoke(token.familyID)
        rig.apple.always(.unreachable)
        for _ in 0..<104 {
            try await rig.deliver()
            rig.clock.advance(by: .seconds(15 * 60))
        }
        rig.apple.always(nil)
        #expect(try await deadLetters(rig).isEmpty)
        rig.clock.advance(by: Self.day)
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty)
    }

    @Test("Calls of one family go out in order: a Delete waits for the Update before it")
    func keepsOrder() async throws {
        let rig = try TokenRig()
        let (first, second) = (try await rig.optIn("tv-1"), try await rig.optIn("phone"))
        _ = try await rig.rotate(first.familyID)
        rig.apple.then(.applyThenTimeOut)
        try await rig.deliver()
        try await rig.revoke(first.familyID)
        try await rig.revoke(second.familyID, from: "phone")
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty, "both values that Apple may hold are deleted")
        #expect(rig.apple.count("update") == 1)
    }

    @Test("An hour without Apple costs no redeem (I10), and afterwards each family's calls go out in their order")
    func anHourWithoutApple() async throws {
        let rig = try TokenRig()
        let devices = ["tv-1", "phone", "tablet"]
        var tokens: [IssuedToken] = []
        for device in devices { tokens.append(try await rig.optIn(device)) }
        rig.apple.always(.unreachable)
        _ = try await rig.rotate(tokens[0].familyID)
        try await rig.revoke(tokens[1].familyID, from: "phone")
        for minute in 0..<60 {
            try await rig.deliver()
            _ = try await rig.redeem(tokens[0].value, on: "new-tv-\(minute)")
            _ = try await rig.redeem(tokens[2].value, on: "new-tablet-\(minute)")
            #expect(await refusal { try await rig.redeem(tokens[1].value, on: "late-\(minute)") } == .tokenRevoked)
            rig.clock.advance(by: .seconds(60))
        }
        _ = try await rig.rotate(tokens[2].familyID)
        rig.apple.always(nil)
        rig.apple.then(.applyThenTimeOut)
        for _ in 0..<8 {
            rig.clock.advance(by: .seconds(15 * 60))
            try await rig.deliver()
        }
        try await rig.revoke(tokens[0].familyID)
        try await rig.deliver()
        #expect(rig.apple.count("update", status: 204) + rig.apple.count("update", status: 404) >= 2)
        #expect(!rig.apple.values().contains(tokens[1].value), "the Delete of the revoked family was sent")
        #expect(rig.apple.values().count == 1, "the rotated value of the one family that is left")
        #expect(try await deadLetters(rig).isEmpty)
    }

    @Test("An Update that was never sent is not sent after a revocation; one Delete is")
    func forgetsUnsentUpdate() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        try await rig.revoke(token.familyID)
        try await rig.deliver()
        #expect(rig.apple.count("update") == 0 && rig.apple.count("delete") == 1 && rig.apple.values().isEmpty)
    }

    @Test("Each environment has its server")
    func environments() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn(environment: .sandbox)
        try await rig.revoke(token.familyID)
        try await rig.deliver()
        #expect(rig.apple.calls.map(\.path) == ["\(StoreKitDouble.sandbox)/account/v1/autoSignIn/delete"])
        #expect(rig.apple.values(in: StoreKitDouble.sandbox).isEmpty)
    }

    @Test("A key that is missing is waited for; a changed file is read again")
    func keyFiles() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let file = rig.folder.path + "/purchase.key"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try FileManager.default.removeItem(atPath: file)
        try await rig.revoke(token.familyID)
        try await rig.deliver()
        #expect(rig.apple.calls.isEmpty)
        try rig.folder.write(text, to: "purchase.key")
        rig.clock.advance(by: .seconds(1))
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty)
        // Beside its keys and above them there are others, which nobody gets by a reference.
        try rig.folder.write(text, to: ".hidden")
        try FileManager.default.createDirectory(atPath: "\(rig.folder.path)/keys", withIntermediateDirectories: false)
        #expect(AppleKeyFolder(path: "\(rig.folder.path)/keys").key("../purchase.key") == nil)
        let folder = AppleKeyFolder(path: rig.folder.path)
        #expect(folder.key("purchase.key") != nil && folder.key("keys/../purchase.key") == nil && folder.key(".hidden") == nil)
    }

    @Test("authentication being away delays the end of sessions, and loses none")
    func sessionsEndLater() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        try await rig.revoke(token.familyID)
        rig.logins.fail(with: Fault(.unavailable, "Away."))
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") != nil)
        rig.logins.fail(with: nil)
        #expect(await refusal { try await rig.status("tv-2") } == .stepUpRequired, "its account is out of reach at once")
        rig.clock.advance(by: .seconds(1))
        try await rig.deliver()
        #expect(rig.logins.session("tv-2") == nil)
    }

    private func deadLetters(_ rig: TokenRig) async throws -> [DeadLetter] {
        try await rig.service.operations.listDeadLetters(ListDeadLettersRequest(), context: rig.context).letters
    }
}
