/// Everything that the cluster acknowledged and must know from then on, whatever happens to it.
///
/// It holds only acknowledged entries. An entry whose change failed half way is taken out when the change begins and does not come back.
actor Ledger {
    private(set) var clients: [AppClient] = []
    private(set) var codes = Pool<CodeEntry>()
    private(set) var deletedCodes: [CodeEntry] = []
    private(set) var sessions = Pool<SessionEntry>()
    private(set) var endedSessions: [SessionEntry] = []
    private(set) var optIns = Pool<OptInEntry>()
    private(set) var optOuts: [OptInEntry] = []
    private(set) var pushes: [PushEntry] = []

    // MARK: Acknowledged

    func registered(_ client: AppClient) { clients.append(client) }

    func put(_ code: CodeEntry) { codes.put(code) }

    func deleted(_ code: CodeEntry) { deletedCodes.append(code) }

    func put(_ session: SessionEntry) { sessions.put(session) }

    func ended(_ session: SessionEntry) { endedSessions.append(session) }

    func put(_ optIn: OptInEntry) { optIns.put(optIn) }

    func optedOut(_ optIn: OptInEntry) { optOuts.append(optIn) }

    func pushed(_ push: PushEntry) { pushes.append(push) }

    // MARK: Taken out for a while, or for good

    func anyClient() -> AppClient? { clients.randomElement() }

    func borrowCode() -> CodeEntry? { codes.borrow() }

    func borrowSession(where isFit: @Sendable (SessionEntry) -> Bool = { _ in true }) -> SessionEntry? { sessions.borrow(where: isFit) }

    func borrowOptIn() -> OptInEntry? { optIns.borrow() }

    func anyEndedSession() -> SessionEntry? { endedSessions.randomElement() }

    func anyOptOut() -> OptInEntry? { optOuts.randomElement() }

    var counts: [(String, Int)] {
        [
            ("clients registered", clients.count), ("codes given out", codes.count), ("codes deleted", deletedCodes.count),
            ("sessions", sessions.count), ("logouts", endedSessions.count), ("opt-ins", optIns.count), ("opt-outs", optOuts.count),
            ("pushes", pushes.count),
        ]
    }

    /// The entries that an audit checks.
    var everything: LedgerContents {
        LedgerContents(
            clients: clients, codes: codes.entries, deletedCodes: deletedCodes, sessions: sessions.entries, endedSessions: endedSessions,
            optIns: optIns.entries, optOuts: optOuts, pushes: pushes)
    }
}

struct LedgerContents: Sendable {
    var clients: [AppClient]
    var codes: [CodeEntry]
    var deletedCodes: [CodeEntry]
    var sessions: [SessionEntry]
    var endedSessions: [SessionEntry]
    var optIns: [OptInEntry]
    var optOuts: [OptInEntry]
    var pushes: [PushEntry]

    var count: Int {
        clients.count + codes.count + deletedCodes.count + sessions.count + endedSessions.count + optIns.count + optOuts.count + pushes.count
    }
}
