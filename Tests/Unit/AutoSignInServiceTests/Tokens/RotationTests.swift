import Clocks
import Contracts
import Faults
import Testing

@testable import AutoSignInService

@Suite("Rotating tokens", .everyEngine)
struct RotationTests {
    private static let hour: Duration = .seconds(3600)

    @Test("apple #17: after 204 the new value redeems, and the old one for 72 hours")
    func rotates() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let rotation = try await rig.rotate(token.familyID)
        #expect(rotation.newVersion == 2 && rotation.appleState == .queued)
        try await rig.deliver()
        let value = rig.newestValue()
        #expect(value != token.value && rig.apple.count("update", status: 204) == 1)
        rig.clock.advance(by: .seconds(71 * 3600))
        #expect(try await rig.redeem(value).rotateSoon == false)
        #expect(try await rig.redeem(token.value).rotateSoon == false)
        rig.clock.advance(by: Self.hour)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenReplayed)
    }

    @Test("apple #18: the old value after 72 hours from a known device is told, and the family stays")
    func replayByKnownDevice() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        try await rig.redeem(token.value)
        _ = try await rig.rotate(token.familyID)
        try await rig.deliver()
        rig.clock.advance(by: .seconds(73 * 3600))
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenReplayed)
        #expect(await refusal { try await rig.redeem(token.value, on: "tv-1") } == .tokenReplayed)
        #expect(try await rig.events() == ["token_replayed", "token_replayed"])
        #expect(try await rig.state(token.familyID) == .active)
    }

    @Test("apple #19: the old value after 72 hours from an unknown device revokes the family")
    func replayByStranger() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        try await rig.deliver()
        let value = rig.newestValue()
        rig.clock.advance(by: .seconds(73 * 3600))
        #expect(await refusal { try await rig.redeem(token.value, on: "stranger") } == .tokenReplayed)
        #expect(try await rig.state(token.familyID) == .revoked)
        #expect(try await rig.events() == ["family_revoked_by_replay"])
        #expect(await refusal { try await rig.redeem(value) } == .tokenRevoked)
        try await rig.deliver()
        #expect(rig.apple.values().isEmpty && rig.apple.count("delete") == 1)
        #expect(try await rig.events().first == "redeem_refused")
    }

    @Test("apple #20: 404 to a first Update makes the family absent")
    func absentAtApple() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        rig.apple.then(.answer(404))
        try await rig.deliver()
        #expect(try await rig.status().families.first?.state == .absent)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenRevoked)
        #expect(await refusal { try await rig.issue() } == nil)
    }

    @Test("apple #20: a family that Apple does not have is shown for 180 days from then, whenever it was used before")
    func absentFamilyEnds() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.clock.advance(by: .seconds(89 * 86_400))
        _ = try await rig.rotate(token.familyID)
        rig.apple.then(.answer(404))
        try await rig.deliver()
        rig.clock.advance(by: .seconds(180 * 86_400) - .milliseconds(1))
        try await rig.service.housekeeping.round()
        #expect(try await rig.state(token.familyID) == .absent)
        rig.clock.advance(by: .milliseconds(1))
        try await rig.service.housekeeping.round()
        #expect(try await rig.state(token.familyID) == .revoked)
    }

    @Test("apple #21: 404 after an Update that seemed lost leaves both values valid until a device shows the new one")
    func lostAnswer() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        rig.apple.then(.applyThenTimeOut)
        try await rig.deliver()
        let value = rig.newestValue()
        rig.clock.advance(by: .seconds(1))
        try await rig.deliver()
        #expect(rig.apple.count("update", status: 404) == 1)
        rig.clock.advance(by: .seconds(100 * 3600))
        try await rig.redeem(token.value)
        try await rig.redeem(value, on: "tv-3")
        rig.clock.advance(by: .seconds(71 * 3600))
        #expect(await refusal { try await rig.redeem(token.value) } == nil)
        rig.clock.advance(by: Self.hour)
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenReplayed)
        #expect(await refusal { try await rig.redeem(value) } == nil)
    }

    @Test("apple #69: an Update that fails for 24 hours leaves the old value, for devices old and new")
    func deadUpdate() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        rig.apple.always(.answer(503))
        for _ in 0..<110 {
            try await rig.deliver()
            rig.clock.advance(by: .seconds(15 * 60))
        }
        rig.apple.always(nil)
        let letters = try await rig.service.operations.listDeadLetters(ListDeadLettersRequest(), context: rig.context).letters
        #expect(letters.map(\.call) == ["update"] && letters.first?.lastStatus == 503 && letters.first?.familyID == token.familyID)
        let dropped = try #require(
            try await rig.files.read { try $0.versions(of: FamilyID(token.familyID)).last })
        #expect(dropped.state == .dropped)
        let value = try #require(rig.service.outboxValue(dropped))
        #expect(await refusal { try await rig.redeem(value) } == .tokenRevoked)
        #expect(await refusal { try await rig.redeem(token.value, on: "new-device") } == nil)
        #expect(try await rig.state(token.familyID) == .active)

        // An operator sends it again.
        _ = try await rig.service.operations.sendAgain(SendAgainRequest(id: letters[0].id), context: rig.context)
        try await rig.deliver()
        #expect(rig.apple.values() == [value])
        #expect(await refusal { try await rig.redeem(value) } == nil)
    }

    @Test("An Update given up after an unclear try leaves both values valid")
    func deadUnclearUpdate() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        rig.apple.then(.applyThenTimeOut, .answer(400))
        try await rig.deliver()
        rig.clock.advance(by: .seconds(2))
        try await rig.deliver()
        let letters = try await rig.service.operations.listDeadLetters(ListDeadLettersRequest(), context: rig.context).letters
        #expect(letters.map(\.lastStatus) == [400])
        #expect(await refusal { try await rig.redeem(token.value) } == nil)
        #expect(await refusal { try await rig.redeem(rig.newestValue()) } == nil)
    }

    @Test("A device that shows the new value before Apple's answer makes it the active one")
    func deviceIsFaster() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        _ = try await rig.rotate(token.familyID)
        rig.apple.then(.applyThenTimeOut)
        try await rig.deliver()
        try await rig.redeem(rig.newestValue())
        rig.clock.advance(by: .seconds(73 * 3600))
        #expect(await refusal { try await rig.redeem(token.value) } == .tokenReplayed)
        try await rig.deliver()
        #expect(await refusal { try await rig.redeem(rig.newestValue()) } == nil)
        #expect(try await rig.state(token.familyID) == .active)
    }

    @Test("Of 50 rotations at once one happens (I2)")
    func rotatesOnce() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        let outcomes = await withTaskGroup(of: Fault.Code?.self) { group in
            for _ in 0..<50 { group.addTask { await refusal { try await rig.rotate(token.familyID) } } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.count { $0 == .rotationInProgress } == 49)
        try await rig.deliver()
        #expect(rig.apple.count("update") == 1)
        let versions = try await rig.files.read { try $0.versions(of: FamilyID(token.familyID)) }
        #expect(versions.map(\.state) == [.superseded, .active])
    }

    @Test("A value older than 90 days is replaced by itself, and told to be until then")
    func rotatesByItself() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        rig.clock.advance(by: .seconds(90 * 86_400 + 1))
        #expect(try await rig.redeem(token.value).rotateSoon)
        try await rig.service.housekeeping.round()
        try await rig.service.housekeeping.round()
        try await rig.deliver()
        #expect(rig.apple.count("update", status: 204) == 1 && rig.newestValue() != token.value)
        #expect(try await rig.redeem(rig.newestValue()).rotateSoon == false)
    }

    @Test("Only the programmer's own active families rotate")
    func checksFamily() async throws {
        let rig = try TokenRig()
        let token = try await rig.optIn()
        #expect(await refusal { try await rig.rotate(token.familyID, by: "bravo") } == .familyUnknown)
        #expect(await refusal { try await rig.rotate("none") } == .familyUnknown)
        try await rig.revoke(token.familyID)
        #expect(await refusal { try await rig.rotate(token.familyID) } == .familyUnknown)
    }
}
