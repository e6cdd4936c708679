import Testing
import Tokens

@Suite struct SigningRoomTests {
    /// A reference, as an expectation changes no variable.
    private final class Gate {
        var room: SigningRoom

        init(leastRoom: Int) { room = SigningRoom(limit: 256, longestWait: .milliseconds(25), leastRoom: leastRoom, threads: 2) }

        func admits(waiting: Int, at now: UInt64) -> Bool { room.admits(waiting: waiting, at: now) }
    }

    /// Signatures of 5 ms by two threads: 10 begin within 25 ms.
    private static func slow() -> Gate {
        let gate = Gate(leastRoom: 64)
        gate.room.note(each: 5_000_000, count: 16)
        return gate
    }

    private static let start: UInt64 = 1_000_000_000_000

    @Test func fewCallersAreNeverRefusedHoweverSlowTheMachine() {
        let gate = Self.slow()
        for second in 0..<20 { #expect(gate.admits(waiting: 63, at: Self.start + UInt64(second) * 1_000_000_000)) }
    }

    @Test func aCrowdWaitsNoLongerThanTheLongestWait() {
        let gate = Self.slow()
        #expect(!gate.admits(waiting: 64, at: Self.start))
        #expect(!gate.admits(waiting: 10, at: Self.start + 1))
        #expect(gate.admits(waiting: 9, at: Self.start + 2))
    }

    @Test func evenOnTheSlowestMachineSomeOfACrowdAreTaken() {
        let gate = Self.slow()
        gate.room.note(each: 1e9, count: 16)
        #expect(!gate.admits(waiting: 64, at: Self.start))
        #expect(gate.admits(waiting: 7, at: Self.start + 1))
        #expect(!gate.admits(waiting: 8, at: Self.start + 2))
    }

    @Test func aSecondWithoutARefusalEndsTheCrowd() {
        let gate = Self.slow()
        #expect(!gate.admits(waiting: 64, at: Self.start))
        #expect(!gate.admits(waiting: 63, at: Self.start + SigningRoom.quiet - 1))
        #expect(!gate.admits(waiting: 63, at: Self.start + 2 * SigningRoom.quiet - 2))
        #expect(gate.admits(waiting: 63, at: Self.start + 3 * SigningRoom.quiet))
    }

    /// Refused callers ask again, whether they are few or many: only more room shows which.
    @Test func aCrowdIsLookedForAnewAfterAWhile() {
        let gate = Self.slow()
        var now = Self.start
        #expect(!gate.admits(waiting: 64, at: now))
        while now + 100_000_000 < Self.start + SigningRoom.longestCrowding {
            now += 100_000_000
            #expect(!gate.admits(waiting: 63, at: now))
        }
        now += 100_000_000
        #expect(gate.admits(waiting: 63, at: now), "64 callers are never refused for longer")
        #expect(!gate.admits(waiting: 64, at: now + 1))
        #expect(!gate.admits(waiting: 63, at: now + 2), "more are, at once")
    }

    @Test func nothingIsKnownBeforeTheFirstSignature() {
        let gate = Gate(leastRoom: 1)
        #expect(gate.admits(waiting: 255, at: Self.start))
        #expect(!gate.admits(waiting: 256, at: Self.start))
    }
}
