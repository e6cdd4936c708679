internal import Foundation
@testable import GatewayEdge
internal import Testing

/// When an event loop takes requests up, by its own lag. Times in milliseconds.
@Suite struct LoopLoadTests {
    private static let settings = OverloadSettings(delay: .milliseconds(3), burst: .milliseconds(25), leastRequests: 4)

    private var load: LoopLoad

    init() {
        load = LoopLoad(Self.settings)
        load.connections = 200
    }

    private func nanoseconds(_ milliseconds: Double) -> Int64 { Int64((milliseconds + 1000) * 1_000_000) }

    /// A round in which a request comes every so often; it ends when the last one was dealt with.
    /// - Returns: The result of each.
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
        // The rounds are 10 ms long; 9 of 40 begin within a fifth of that.
        #expect(served * 31 == refused * 9)
        #expect(load.isOverloaded(at: nanoseconds(1000)))
    }

    /// The test plays a loop that takes requests up in 35 µs and refuses one in 12 µs. It has 60 µs of other work with each accepted one afterwards.
    /// - Parameters:
    ///   - rate: Requests per second that come, from `clients` at most at a time.
    ///   - seconds: Length of the run; only its second half is evaluated.
    /// - Returns: The share of requests that were served, and the longest round in milliseconds.
    private mutating func play(rate: Double, clients: Int, from start: Double, seconds: Double) -> (served: Double, longest: Double) {
        var (now, seen, debt) = (start, 0, 0.0)
        var (served, refused, longest) = (0, 0, 0.0)
        while now < start + seconds * 1000 {
            let due = Int((now - start) * rate / 1000)
            let arrived = min(clients, due - seen)
            guard arrived > 0 else {
                now += 0.02
                continue
            }
            seen = due
            let (began, before) = (now, debt)
            debt = 0
            for _ in 0..<arrived {
                if load.take(at: nanoseconds(now)).verdict == .served {
                    now += 0.035
                    debt += 0.06
                    served += now > start + seconds * 500 ? 1 : 0
                } else {
                    load.noteRefusal(at: nanoseconds(now))
                    now += 0.012
                    refused += now > start + seconds * 500 ? 1 : 0
                }
            }
            now += before
            load.endRound(at: nanoseconds(now))
            if now > start + seconds * 500 { longest = max(longest, now - began) }
        }
        return (Double(served) / Double(max(1, served + refused)), longest)
    }

    // 95 µs of work with each request: 10 500 a second are the most.
    @Test mutating func atTwiceOfWhatItCanDoTheRoundsOfALoopStayShortAndMuchIsServed() {
        let (served, longest) = play(rate: 21_000, clients: 512, from: 0, seconds: 4)
        #expect(longest < 4)
        #expect(served > 0.4, "of half, which is all that could be")
    }

    @Test mutating func whenTheLoadFallsBelowWhatItCanDoNothingIsRefusedAnyMore() {
        _ = play(rate: 21_000, clients: 512, from: 0, seconds: 2)
        for rate in [9000.0, 7000, 3000] {
            let (served, _) = play(rate: rate, clients: 512, from: 2000 + 4 * (9000 - rate), seconds: 2)
            #expect(served == 1, "\(rate)")
            _ = play(rate: 21_000, clients: 512, from: 4500 + 4 * (9000 - rate), seconds: 1)
        }
    }

    @Test mutating func refusalsOfThousandsDoNotCrowdOutWhatIsServed() {
        // 3000 refusals alone take 36 ms.
        let (served, longest) = play(rate: 200_000, clients: 3000, from: 0, seconds: 4)
        #expect(longest < 70)
        #expect(served > 0.03)
    }

    @Test mutating func inAnOverloadedLoopUrgentRequestsMayWaitAsLongAsInABurst() {
        _ = overload(from: 0, until: 500)
        let verdicts = round(from: 504, requests: 60, every: 0.5)
        #expect(verdicts[..<5].allSatisfy { $0 == .served })
        #expect(verdicts[5..<51].allSatisfy { $0 == .servedIfUrgent })
        #expect(verdicts[51...].allSatisfy { $0 == .refused })
    }

    @Test mutating func theFirstRequestsOfARoundAreServedHoweverLongTheyTake() {
        _ = overload(from: 0, until: 500)
        #expect(
            round(from: 504, requests: 5, every: 40).map { $0 == .served } == [true, false, false, false, false],
            "a quarter of them, of many connections")
        load.connections = 4
        #expect(round(from: 804, requests: 5, every: 40).map { $0 == .served } == [true, true, true, true, false])
    }

    @Test mutating func whatWasSentAheadWaitsForALaterRoundWhenThisOneIsNotShort() {
        #expect(load.hasTurn(after: load.round, at: nanoseconds(0)), "no round has begun")
        _ = load.take(at: nanoseconds(0))
        let mine = load.round
        #expect(load.hasTurn(after: mine, at: nanoseconds(0.6)) && !load.hasTurn(after: mine, at: nanoseconds(0.7)))
        #expect(load.hasTurn(after: mine - 1, at: nanoseconds(20)), "another connection's first one")
        load.endRound(at: nanoseconds(21))
        #expect(load.hasTurn(after: mine, at: nanoseconds(21)), "between rounds")
        _ = load.take(at: nanoseconds(22))
        #expect(load.round == mine + 1 && load.hasTurn(after: mine, at: nanoseconds(40)))
    }

    @Test mutating func whatWasSentAheadTakesNobodysPlace() {
        load.connections = 4
        _ = load.take(at: nanoseconds(0))
        for _ in 0..<40 { #expect(load.take(after: load.round, at: nanoseconds(0.1)).verdict == .served) }
        let verdicts = (0..<4).map { _ in load.take(at: nanoseconds(30)).verdict }
        #expect(verdicts == [.served, .served, .served, .refused], "the first one of the round and three more are the least")
    }

    @Test mutating func shortRoundsEndAnOverloadOnceNothingWasRefusedForAWhile() {
        load.connections = 4
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
