/// Which connection a call gets.
extension PoolState {
    /// Calls in flight to a copy that never keep an affinity from it: below, a share means little.
    static var callsThatFit: Int { 16 }

    /// The connection for the next call.
    ///
    /// Calls with an affinity go to the best copy for it that has no more than its share in flight. Two others are drawn at random, and the one with
    /// fewer calls in flight gets the call. Between equals it is the one to which a connection is near, then the one whose last call is longer ago.
    /// - Parameters:
    ///   - failed: The connection that just failed the call: another copy of the peer is better, then another connection.
    ///   - isNear: True when a call costs less over the connection.
    mutating func pick(
        affinity: UInt64? = nil, otherThan failed: Choice? = nil, now: Instant, isNear: (Connection) -> Bool = { _ in true }
    ) -> Choice? {
        if let nextReturn, nextReturn <= now { endBans(now) }
        guard let failed else { return choose(among: candidates, affinity, isNear) }
        for list in [candidates, reserves] {
            if let choice = choose(among: list.filter { $0 != failed.copy }, affinity, isNear) { return choice }
        }
        if let link = link(of: failed.copy, otherThan: failed.connection, isNear) { return give(failed.copy, link.connection) }
        return choose(among: candidates, affinity, isNear)
    }

    private mutating func choose(among list: [Int], _ affinity: UInt64?, _ isNear: (Connection) -> Bool) -> Choice? {
        guard list.count > 1 else { return list.isEmpty ? nil : give(list[0], isNear) }
        if let affinity { return give(settled(affinity, list), isNear) }
        return isWeighted ? byWeight(list, isNear) : lessBusy(list, isNear)
    }

    private mutating func give(_ copy: Int, _ isNear: (Connection) -> Bool) -> Choice? {
        guard let link = link(of: copy, isNear) else { return nil }
        return give(copy, link.connection)
    }

    private mutating func give(_ copy: Int, _ connection: Connection) -> Choice {
        turn += 1
        copies[copy].lastTurn = turn
        return Choice(connection: connection, copy: copy)
    }

    /// A connection to the copy, a near one if there is one.
    private func link(of copy: Int, otherThan other: Connection? = nil, _ isNear: (Connection) -> Bool) -> (connection: Connection, isNear: Bool)? {
        var far: Connection?
        let (first, start) = (copy * perCopy, Int(truncatingIfNeeded: turn) & .max)
        for offset in 0..<perCopy {
            guard case .ready(let connection) = links[first + (start + offset) % perCopy], connection !== other else { continue }
            if isNear(connection) { return (connection, true) }
            if far == nil { far = connection }
        }
        return far.map { ($0, false) }
    }
}

// MARK: - Load

extension PoolState {
    private mutating func lessBusy(_ list: [Int], _ isNear: (Connection) -> Bool) -> Choice? {
        let (one, other) = list.count == 2 ? (list[0], list[1]) : drawTwo(list)
        let (load, otherLoad) = (copies[one].callsInFlight, copies[other].callsInFlight)
        if load != otherLoad { return give(load < otherLoad ? one : other, isNear) }
        let isOlder = copies[one].lastTurn <= copies[other].lastTurn
        let (first, second) = isOlder ? (one, other) : (other, one)
        guard let better = link(of: first, isNear) else { return nil }
        if !better.isNear, let near = link(of: second, isNear), near.isNear { return give(second, near.connection) }
        return give(first, better.connection)
    }

    private mutating func drawTwo(_ list: [Int]) -> (Int, Int) {
        let number = random.next()
        let first = Self.index(number >> 32, below: list.count)
        let second = Self.index(number & 0xffff_ffff, below: list.count - 1)
        return (list[first], list[second < first ? second : second + 1])
    }

    /// - Parameter number: Random, of 32 bits.
    private static func index(_ number: UInt64, below bound: Int) -> Int { Int((number &* UInt64(bound)) >> 32) }

    /// Two are drawn by their weights, and the one with fewer calls in flight for its weight is taken, or the first of equals. Without load each gets
    /// its share.
    private mutating func byWeight(_ list: [Int], _ isNear: (Connection) -> Bool) -> Choice? {
        let (one, other) = (drawByWeight(list), drawByWeight(list))
        let load = copies[one].callsInFlight * copies[other].rank.weight
        let otherLoad = copies[other].callsInFlight * copies[one].rank.weight
        return give(otherLoad < load ? other : one, isNear)
    }

    private mutating func drawByWeight(_ list: [Int]) -> Int {
        let total = list.reduce(0) { $0 + copies[$1].rank.weight }
        var place = Self.index(random.next() >> 32, below: total)
        for copy in list {
            place -= copies[copy].rank.weight
            if place < 0 { return copy }
        }
        return list[0]
    }
}

// MARK: - Affinity

extension PoolState {
    /// The best copy for the number that does not have more than 1.25 times the mean in flight.
    private func settled(_ affinity: UInt64, _ list: [Int]) -> Int {
        let total = list.reduce(0) { $0 + copies[$1].callsInFlight }
        let share = max(Self.callsThatFit, total * 5 / (4 * list.count))
        var best: (copy: Int, score: UInt64)?
        var bestOfAll: (copy: Int, score: UInt64) = (list[0], 0)
        for copy in list {
            let score = Rendezvous.score(affinity, copies[copy].key)
            if score >= bestOfAll.score { bestOfAll = (copy, score) }
            if copies[copy].callsInFlight <= share, score >= best?.score ?? 0 { best = (copy, score) }
        }
        return best?.copy ?? bestOfAll.copy
    }
}
