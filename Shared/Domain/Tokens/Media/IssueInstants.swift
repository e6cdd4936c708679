internal import Clocks

/// Chooses issue times so that no two reference tokens of one play are equal.
///
/// The reference form has nothing random, its time has whole seconds and its signature is deterministic. So two calls within a second would give the
/// same token, which a backend that keeps the one-use rule refuses. The second call gets the second before, and so on; that shortens its life by a
/// second and every verifier accepts it.
///
/// Only a digest of a play is kept, keyed anew in each process, because a resource may have 16 KiB. Two plays with the same digest share their
/// seconds, which costs them only a second.
struct IssueInstants: Sendable {
    /// An issue time may lie this far back, in seconds.
    static let reach: Int64 = 120
    /// Plays that are remembered at one time: some 64 octets each.
    static let capacity = 1 << 18

    /// The seconds that were used for a play.
    private struct Given {
        /// The latest one.
        var newest: Int64
        /// Bit n stands for the n-th second before it.
        var seconds: UInt128

        func has(_ second: Int64) -> Bool {
            let age = newest - second
            return age >= 0 && age < 128 && seconds >> UInt128(age) & 1 == 1
        }
    }

    struct Subject {
        let sessionGUID: String
        let requestor: String
        let resource: String
        let mvpd: String

        var digest: Int {
            var hasher = Hasher()
            for text in [sessionGUID, requestor, resource, mvpd] { hasher.combine(OctetText(text)) }
            return hasher.finalize()
        }
    }

    enum Claim: Equatable {
        case second(Timestamp)
        /// All within reach were given for this play.
        case exhausted
        /// More plays than can be remembered.
        case full
        /// The first second that this process may give has not come yet.
        case early
    }

    private let capacity: Int
    private var given: [Int: Given] = [:]
    /// The instants that were given before the clock was set back beyond reach, until it has passed them again.
    private var aside: [Int: Given] = [:]
    private var nextPruning: Int64 = 0

    init(capacity: Int = IssueInstants.capacity) { self.capacity = capacity }

    /// The latest second not after `now` that was not given for this play.
    /// - Parameter first: Earlier ones are another process's.
    mutating func claim(_ subject: Subject, now: Timestamp, first floor: Timestamp = Timestamp(milliseconds: 0)) -> Claim {
        let (now, floor) = (now.seconds, floor.seconds)
        guard now >= floor else { return .early }
        prune(now)
        let digest = subject.digest
        guard var known = given[digest] ?? (given.count < capacity ? Given(newest: now, seconds: 0) : nil) else { return .full }
        if now > known.newest {
            let passed = now - known.newest
            known = Given(newest: now, seconds: passed < Self.reach ? known.seconds << UInt128(passed) : 0)
        }
        // A clock that was set back a little counts from the latest second that was given; else nobody could play before it has come again.
        if known.newest - now >= Self.reach {
            if aside.count < capacity { aside[digest] = known }
            known = Given(newest: now, seconds: 0)
        }
        let (first, earlier) = (known.newest - now, aside[digest])
        let free = (first..<max(first, Self.reach)).first { age in
            known.seconds >> UInt128(age) & 1 == 0 && earlier?.has(known.newest - age) != true
        }
        guard let age = free, known.newest - age >= floor else { return .exhausted }
        known.seconds |= 1 << UInt128(age)
        given[digest] = known
        return .second(Timestamp(seconds: known.newest - age))
    }

    /// Forgets what lies out of reach: once per reach, and once a second while there is no room.
    private mutating func prune(_ now: Int64) {
        guard now >= nextPruning || nextPruning - now > Self.reach || (given.count >= capacity && now > nextPruning - Self.reach) else { return }
        nextPruning = now + Self.reach
        given = given.filter { $0.value.newest > now - Self.reach }
        aside = aside.filter { $0.value.newest > now - Self.reach }
    }
}
