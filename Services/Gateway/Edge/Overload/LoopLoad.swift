internal import NIOCore
internal import Synchronization

/// Judges whether one event loop keeps up with its requests, as a pure state machine over its own lag.
///
/// A loop works in rounds: it reads from all connections that have something, then does what that led to. A request that waits in a round waits
/// behind those that the round has taken up already. Requests that come meanwhile wait for the next one. So the length of a round is the queue, and a
/// bound on it bounds how long anybody waits. A round that is long once is a burst. A loop that has had no short round for `interval` is overloaded.
/// Then its rounds are kept short, as in CoDel (Nichols, Jacobson, ACM Queue 10/5, 2012): it refuses what they cannot take up.
///
/// Taking requests up is a small part of such a round: their answers, the services behind that share the processor, and refusals fill the rest. So an
/// overloaded loop takes requests up for a fifth of the longest delay only. Where refusals alone make rounds too long (thousands of clients that ask
/// again at once) it is a fifth of the round before. Refusals must not crowd out served requests. The overload is over when rounds would be short
/// without refusals, by what the rounds with them cost.
///
/// A connection has one turn in a round. Its requests sent ahead are taken up in the same round only while that is short, and otherwise wait for a
/// later one. So they take none of the places that are kept for others.
struct LoopLoad {
    /// The verdict on a request.
    enum Verdict: Equatable {
        case served
        /// Only what is urgent is still served.
        case servedIfUrgent
        case refused
    }

    /// A loop that has not kept up for so long is overloaded; one that has refused for the last time so long ago is not. In nanoseconds.
    static let interval: Int64 = 100_000_000
    /// After a pause of this length, in nanoseconds, nothing can have been waiting.
    static let rest: Int64 = 20_000_000

    /// Requests are taken up for one part in so many of an overloaded loop's round, or of the longest delay.
    static let parts: Int64 = 5

    /// Connections of the loop.
    var connections = 0

    private let delay: Int64
    private let burst: Int64
    private let leastRequests: Int

    /// The first request of the round was taken up at this time; `nil` between rounds.
    private var began: Int64?
    /// The number of the round, from 1.
    private(set) var round: UInt64 = 0
    private var taken = 0
    /// Requests of the round that were not the first of their connection in it.
    private var takenBesides = 0
    /// Requests of the round that were refused.
    private var turnedAway = 0
    /// The length of the round before, in nanoseconds.
    private var length: Int64 = 0
    /// The length that rounds would have if nothing were refused, in nanoseconds: the mean of the latest `interval`.
    private var strain = 0.0
    /// The round before ended at this time.
    private var ended = Int64.min / 2
    private var refused = Int64.min / 2
    /// The last time at which the loop had caught up.
    private var keptUp = Int64.min / 2

    init(_ settings: OverloadSettings) {
        delay = settings.delay.nanoseconds
        burst = settings.burst.nanoseconds
        leastRequests = settings.leastRequests
    }

    /// A request has arrived.
    /// - Parameters:
    ///   - last: The round in which a request of the same connection was taken up last; 0 if none was.
    ///   - now: Steady time in nanoseconds, above 0.
    /// - Returns: The verdict, and whether it is the first of a round, the end of which must be told by `endRound`.
    mutating func take(after last: UInt64 = 0, at now: Int64) -> (verdict: Verdict, beginsRound: Bool) {
        if began == nil {
            if now - ended >= Self.rest { noteCaughtUp(at: now) }
            began = now
            round += 1
            (taken, takenBesides, turnedAway) = (1, 0, 0)
            return (.served, true)
        }
        let verdict = verdict(at: now)
        if verdict == .served {
            taken += 1
            if last == round { takenBesides += 1 }
        }
        return (verdict, false)
    }

    /// True when a request that waits behind another one of its connection may be taken up now.
    /// - Parameters:
    ///   - last: The round in which a request of the connection was taken up last; 0 if none was.
    ///   - now: As for `take`.
    func hasTurn(after last: UInt64, at now: Int64) -> Bool {
        guard let began, last == round else { return true }
        return now - began <= delay / Self.parts
    }

    /// The verdict on a request that arrived now. The first one of a round is served.
    func verdict(at now: Int64) -> Verdict {
        guard let began else { return .served }
        let waited = now - began
        if taken - takenBesides < least || waited <= (isOverloaded(at: now) ? share : burst) { return .served }
        return waited <= burst ? .servedIfUrgent : .refused
    }

    /// Requests that a round takes up however long it takes. Few connections are never refused, be the machine ever so slow; among many it only keeps
    /// each round from being for nothing.
    private var least: Int { connections <= leastRequests ? leastRequests : max(1, leastRequests / 4) }

    /// For how long a round takes up requests while the loop is overloaded.
    private var share: Int64 { min(burst, max(delay, length) / Self.parts) }

    /// All that a round costs grows with what it takes up.
    private mutating func noteStrain(_ unrefused: Double, at now: Int64) {
        let weight = min(1, Double(now - ended) / Double(Self.interval))
        strain += (min(unrefused, 4 * Double(delay)) - strain) * weight
    }

    mutating func noteRefusal(at now: Int64) {
        refused = now
        turnedAway += 1
    }

    /// The loop has read all that was there when the round began.
    mutating func endRound(at now: Int64) {
        guard let began else { return }
        length = now - began
        noteStrain(Double(length) * Double(taken + turnedAway) / Double(taken), at: now)
        if isOverloaded(at: now), strain <= Double(delay) { keptUp = now }
        if length <= delay { noteCaughtUp(at: now) }
        self.began = nil
        ended = now
    }

    /// A loop does not keep up just because it has refused its requests.
    private mutating func noteCaughtUp(at now: Int64) {
        if now - refused >= Self.interval { keptUp = now }
    }

    func isOverloaded(at now: Int64) -> Bool { now - keptUp >= Self.interval }
}

/// Admits the requests of one event loop, or does not.
///
/// `@unchecked Sendable`: used on its event loop only.
final class LoopAdmission: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var load: LoopLoad

    init(_ eventLoop: any EventLoop, _ settings: OverloadSettings) {
        self.eventLoop = eventLoop
        load = LoopLoad(settings)
    }

    func connectionOpened() { load.connections += 1 }
    func connectionClosed() { load.connections -= 1 }

    /// The verdict on a request that arrived now.
    var verdict: LoopLoad.Verdict { load.verdict(at: Self.now()) }

    /// The number of the loop's round, or of the one before.
    var round: UInt64 { load.round }

    /// True when a request that waits behind another one of its connection may be taken up now.
    /// - Parameter last: The round in which a request of the connection was taken up last; 0 if none was.
    func hasTurn(after last: UInt64) -> Bool { last != load.round || load.hasTurn(after: last, at: Self.now()) }

    /// A request has arrived.
    /// - Parameter last: As for `hasTurn`.
    func take(after last: UInt64 = 0) -> LoopLoad.Verdict {
        let (verdict, beginsRound) = load.take(after: last, at: Self.now())
        // A loop does its tasks after all that it reads in a round.
        if beginsRound { eventLoop.assumeIsolated().execute { self.load.endRound(at: Self.now()) } }
        return verdict
    }

    /// A request was refused.
    func noteRefusal() { load.noteRefusal(at: Self.now()) }

    private static func now() -> Int64 { Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds) }
}

/// Admission on all event loops of the gateway; each measures itself.
final class Admission: Sendable {
    private let settings: OverloadSettings
    private let loops = Mutex<[ObjectIdentifier: LoopAdmission]>([:])

    init(_ settings: OverloadSettings) { self.settings = settings }

    /// The part of it that belongs to an event loop, the same for all connections there.
    func on(_ eventLoop: any EventLoop) -> LoopAdmission {
        loops.withLock { loops in
            if let known = loops[ObjectIdentifier(eventLoop)] { return known }
            let new = LoopAdmission(eventLoop, settings)
            loops[ObjectIdentifier(eventLoop)] = new
            return new
        }
    }
}

/// The object `gateway.overload`: from when on requests are refused instead of served late (Shared/Documents/Decisions/0039-refuse-late-requests.md).
public struct OverloadSettings: Sendable {
    /// A loop whose rounds are longer for a while is overloaded. Then requests are taken up for a fifth of it, 1 ms to 10 s.
    public var delay: Duration
    /// How long requests may wait otherwise, and urgent ones always, `delay` to 10 s: a burst is no overload.
    public var burst: Duration
    /// Requests that an event loop with at most so many connections takes up in each of its rounds, however long that takes, 1 to 100000. One with
    /// more takes up a quarter of it.
    public var leastRequests: Int

    public init(delay: Duration = .milliseconds(3), burst: Duration = .milliseconds(25), leastRequests: Int = 32) {
        self.delay = delay
        self.burst = burst
        self.leastRequests = leastRequests
    }

    /// The first problem: key below `overload` and text.
    var problem: (key: String, text: String)? {
        guard (Duration.milliseconds(1)...Duration.seconds(10)).contains(delay) else { return ("delayMilliseconds", "must be from 1 to 10000") }
        guard (delay...Duration.seconds(10)).contains(burst) else { return ("burstMilliseconds", "must be from delayMilliseconds to 10000") }
        guard (1...100_000).contains(leastRequests) else { return ("leastRequests", "must be from 1 to 100000") }
        return nil
    }
}

extension OverloadSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case delayMilliseconds, burstMilliseconds, leastRequests
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        delay = try container.decodeIfPresent(Int.self, forKey: .delayMilliseconds).map { .milliseconds($0) } ?? delay
        burst = try container.decodeIfPresent(Int.self, forKey: .burstMilliseconds).map { .milliseconds($0) } ?? max(burst, delay)
        leastRequests = try container.decodeIfPresent(Int.self, forKey: .leastRequests) ?? leastRequests
    }
}
