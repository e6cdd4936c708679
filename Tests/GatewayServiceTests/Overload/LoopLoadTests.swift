internal import Foundation
@testable import GatewayService
internal import Testing

/// When an event loop takes requests up, by its own lag. Times in milliseconds.
@Suite struct LoopLoadTests {
    private static let settings = OverloadSettings(delay: .milliseconds(3), burst: .milliseconds(25), leastRequests: 4)

    private var load = LoopLoad(settings)

    private func nanoseconds(_ milliseconds: Double) -> Int64 { Int64((milliseconds + 1000) * 1_000_000) }

    /// A round in which a request comes every so often; it ends when the last one was dealt with.
    /// - Returns: What became of each.
    private mutating func round(from start: Double, requests: Int, every step: Double) -> [LoopLoad.Verdict] {
        var verdicts: [LoopLoad.Verdict] = []
        for number in 0..<requests {
            let now = nanoseconds(start + Double(number) * step)
            let (verdict, begins) = load.take(at: now)
            #expect(begins == (number == 0))
            if verdict != .served { load.noteRefusal(at: now) }
            verdicts.append(verdict)
        }
        load.endRound(at: nanoseconds(start + Double(requests) * step))
        return verdicts
    }

    /// Rounds back to back, for so long.
    /// - Returns: How many requests were served and refused in the last 50 ms.
    private mutating func overload(from start: Double, until end: Double) -> (served: Int, refused: Int) {
        var (now, served, refused) = (start, 0, 0)
        while now < end {
            let verdicts = round(from: now, requests: 40, every: 0.25)
            if now > end - 50 {
                served += verdicts.count { $0 == .served }
                refused += verdicts.count { $0 != .served }
            }
            now += 12
        }
        return (served, refused)
    }

    @Test mutating func aBurstIsServedAsLongAsItsLastRequestNeedNotWaitLongerThanABurstMay() {
        let verdicts = round(from: 0, requests: 60, every: 0.5)
        #expect(verdicts.prefix(51).allSatisfy { $0 == .served })
        #expect(verdicts.dropFirst(51).allSatisfy { $0 == .refused })
    }

    @Test mutating func aLoopThatHasNotCaughtUpForAWhileKeepsItsRoundsShort() {
        let before = overload(from: 0, until: 90)
        #expect(before.refused == 0)
        let (served, refused) = overload(from: 96, until: 1000)
        // The rounds are 10 ms long; 7 of 40 begin within a sixth of that.
        #expect(served * 33 == refused * 7)
        #expect(load.isOverloaded(at: nanoseconds(1000)))
    }

    @Test mutating func shortRoundsTakeRequestsUpForASixthOfTheDelayAndLongOnesForASixthOfTheRoundBefore() {
        _ = overload(from: 0, until: 500)
        var now = 504.0
        func served(_ verdicts: [LoopLoad.Verdict]) -> Int { verdicts.count { $0 == .served } }
        // 10 requests, 1 ms: what is next has the sixth of 3 ms.
        _ = round(from: now, requests: 10, every: 0.1)
        now += 1
        #expect(served(round(from: now, requests: 40, every: 0.1)) == 6)
        now += 4
        // That one took 4 ms, this one takes 120.
        #expect(served(round(from: now, requests: 1200, every: 0.1)) == 7)
        now += 120
        #expect(served(round(from: now, requests: 6000, every: 0.1)) == 201)
        now += 600
        // Never longer than a burst.
        #expect(served(round(from: now, requests: 400, every: 0.1)) == 251)
    }

    @Test mutating func inAnOverloadedLoopUrgentRequestsMayWaitAsLongAsInABurst() {
        _ = overload(from: 0, until: 500)
        let verdicts = round(from: 504, requests: 60, every: 0.5)
        #expect(verdicts[..<4].allSatisfy { $0 == .served })
        #expect(verdicts[4..<51].allSatisfy { $0 == .servedIfUrgent })
        #expect(verdicts[51...].allSatisfy { $0 == .refused })
    }

    @Test mutating func theFirstRequestsOfARoundAreServedHoweverLongTheyTake() {
        _ = overload(from: 0, until: 500)
        #expect(round(from: 504, requests: 5, every: 40).map { $0 == .served } == [true, true, true, true, false])
    }

    @Test mutating func shortRoundsEndAnOverloadOnceNothingWasRefusedForAWhile() {
        _ = overload(from: 0, until: 500)
        for start in stride(from: 504.0, to: 580, by: 5) { #expect(round(from: start, requests: 2, every: 1) == [.served, .served]) }
        #expect(load.isOverloaded(at: nanoseconds(585)), "what was refused a moment ago may come again")
        for start in stride(from: 585.0, to: 700, by: 5) { _ = round(from: start, requests: 2, every: 1) }
        #expect(!load.isOverloaded(at: nanoseconds(700)))
        #expect(round(from: 705, requests: 40, every: 0.5).allSatisfy { $0 == .served })
    }

    @Test mutating func longRoundsWithPausesBetweenAreBursts() {
        for start in stride(from: 0.0, to: 2000, by: 60) { #expect(round(from: start, requests: 40, every: 0.5).allSatisfy { $0 == .served }) }
    }

    @Test mutating func aPauseSoonAfterARefusalIsNoSignOfRest() {
        _ = overload(from: 0, until: 500)
        _ = round(from: 540, requests: 1, every: 1)
        #expect(load.isOverloaded(at: nanoseconds(541)))
        _ = round(from: 700, requests: 1, every: 1)
        #expect(!load.isOverloaded(at: nanoseconds(701)))
    }

    @Test(
        "settings out of range are named",
        arguments: [
            (OverloadSettings(delay: .microseconds(900)), "delayMilliseconds"), (OverloadSettings(delay: .seconds(11)), "delayMilliseconds"),
            (OverloadSettings(delay: .milliseconds(30), burst: .milliseconds(29)), "burstMilliseconds"),
            (OverloadSettings(burst: .seconds(11)), "burstMilliseconds"), (OverloadSettings(leastRequests: 0), "leastRequests"),
            (OverloadSettings(leastRequests: 100_001), "leastRequests"),
        ])
    func ranges(settings: OverloadSettings, key: String) { #expect(settings.problem?.key == key) }

    @Test func settingsAreRead() throws {
        let read = try JSONDecoder().decode(
            OverloadSettings.self, from: Data(#"{"delayMilliseconds": 50, "leastRequests": 7}"#.utf8))
        #expect(read.delay == .milliseconds(50) && read.leastRequests == 7)
        #expect(read.burst == .milliseconds(50) && read.problem == nil, "a burst may never wait less")
        #expect(OverloadSettings().problem == nil)
    }
}
