/// The facts about one copy of a peer beside its connections.
struct CopyState: Sendable {
    /// The key of its address: by it all callers agree on the copy for an affinity.
    let key: UInt64
    var rank: CopyRank
    /// Where it runs, as its hello says; empty: it did not say.
    var zone = ""
    /// Calls with one answer that wait for it.
    var callsInFlight = 0
    /// Its last call, counted over all copies.
    var lastTurn: UInt64 = 0
    var record = CallRecord()

    init(_ address: RpcAddress, rank: CopyRank = CopyRank()) {
        key = Rendezvous.key(of: address.description)
        self.rank = rank
    }
}

/// Which copies a peer's own records prefer (RFC 2782).
struct CopyRank: Hashable, Sendable {
    /// Copies of a higher number get calls only when none of a lower one can work.
    var priority = 0
    /// The share among those of one priority, at least 1.
    var weight = 1
}
