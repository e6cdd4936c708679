package import AuthenticationCore
internal import BridgeClient
package import Clocks
internal import Contracts
package import Faults

/// A client of ours at an upstream, as it is kept: secret and bearer are sealed.
package struct UpstreamSlotRecord: Hashable, Sendable {
    /// One that nobody uses for so long is forgotten.
    static let unusedLife: Duration = .seconds(400 * 86_400)

    let name: UpstreamSlotName
    let clientID: String
    package let secret: [UInt8]
    let scopes: [String]
    /// Empty: none.
    var bearer: [UInt8] = []
    var bearerEnd = Timestamp(milliseconds: 0)
    var bearerLifeSeconds: Int64 = 0
}

/// Names a client of ours at an upstream: that of one device, one of a few for many, or the one that serves lists.
package struct UpstreamSlotName: Hashable, Sendable {
    package let text: String
    let upstream: String
    /// The name of the entry in the upstream's `clients`.
    let entry: String
    /// True when it is one device's alone.
    let isDevices: Bool

    /// The digest of the one device that it serves; empty: it serves many.
    var device: String { isDevices ? text.split(separator: "/").last.map(String.init) ?? "" : "" }
}

/// A browser's login under way at an upstream (bridge §7).
package struct UpstreamPending: Hashable, Sendable {
    /// The state at which the next one may begin.
    package enum State: Int64, Sendable {
        case open = 0
        /// Its session was made, or its code is dead: nothing more comes of it.
        case done = 1
        /// The browser is back, and upstream could not be asked.
        case undecided = 2
        /// The browser is back, and nobody was signed in.
        case declined = 3
        /// Another browser than the one that confirmed it came back, and upstream knew of nobody yet.
        case refused = 4
        /// A later login of the device took its place.
        case superseded = 5
        /// As `refused`, and upstream could not be asked.
        case refusedUnseen = 6
    }

    /// The digest of the secret of our own return page; nobody knows the secret of a login that ends at the app's page.
    let handle: SecretDigest
    let record: RegistrationRecordID
    let code: RegistrationCodeText
    package let key: SessionKey
    let claims: DeviceClaims
    let clientID: ClientID
    let device: DeviceInformation
    let userAgent: String
    let mvpd: MvpdID
    let upstream: String
    let serviceProvider: String
    let theirMvpd: String
    let slot: String
    /// Upstream's code, sealed.
    let upstreamCode: [UInt8]
    let redirectURL: String
    /// True when the browser comes back to us.
    let isOwn: Bool
    let startedAt: Timestamp
    let expiresAt: Timestamp
    var state = State.open
    /// The digest of the cookie of the browser in which a person confirmed it. That browser alone may return; `nil`: any browser may (bridge §7.3).
    var browserSecret: SecretDigest?

    /// True when its browser's return may still sign the device in. A login of a single browser is looked at when that browser returns, and again
    /// only where upstream was away then. Somebody who has its address, and not the browser, must not have a second try.
    var awaitsReturn: Bool {
        switch state {
        case .open, .undecided: true
        case .declined: browserSecret == nil
        case .done, .refused, .superseded, .refusedUnseen: false
        }
    }
}

/// The stored records of an upstream, in numbers.
package struct UpstreamHoldings: Hashable, Sendable {
    package var clients = 0
    /// The number of these that serve one device each.
    var deviceClients = 0
    package var openLogouts = 0
    /// `nil`: there is no list.
    var oldestList: Timestamp?
}

/// What of all upstreams is stored, by upstream.
package struct UpstreamCounts: Hashable, Sendable {
    /// Our clients that have a bearer which holds.
    package var readyClients = 0
    /// Those whose bearer is over, or that have none.
    package var idleClients = 0
    /// Clients that a call needed, and that upstream has not registered.
    package var unregisteredClients = 0
    /// Logouts that upstream should have heard of a while ago.
    package var waitingLogouts = 0
}

/// A logout that upstream has not heard of.
package struct UpstreamLogout: Hashable, Sendable {
    let part: UpstreamPart
    let tries: Int
}

/// The bridge's storage.
package protocol UpstreamStore: Sendable {
    func bridgeSlot(_ name: UpstreamSlotName) async throws(Fault) -> UpstreamSlotRecord?

    /// Takes the turn of registering a client, until the lease ends or the client is kept.
    /// - Returns: False while somebody else has it.
    func claimBridgeSlot(_ name: UpstreamSlotName, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool

    /// The end of the claim on a client that is not registered yet, by which its holder is known; `nil`: there is no claim.
    func bridgeClaim(_ name: UpstreamSlotName) async throws(Fault) -> Timestamp?

    /// Prolongs a claim, or takes it over from a holder that says nothing any more.
    /// - Parameter former: The claim's end so far.
    /// - Returns: False when the claim is another one by now, or the client is kept.
    func takeBridgeClaim(_ name: UpstreamSlotName, from former: Timestamp, until lease: Timestamp) async throws(Fault) -> Bool

    /// Gives a claim back, so that the next attempt need not wait for its end.
    /// - Parameter lease: The claim's end; another's claim stays.
    func releaseBridgeSlot(_ name: UpstreamSlotName, until lease: Timestamp) async throws(Fault)
    func keep(_ slot: UpstreamSlotRecord, now: Timestamp) async throws(Fault)

    /// Keeps a client that was registered under a claim.
    /// - Parameter lease: The claim's end.
    /// - Returns: False when somebody else has taken the claim over: nothing changed.
    func keep(_ slot: UpstreamSlotRecord, claimedUntil lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool

    /// Forgets a client that upstream does not know any more, and ends what it signed in. For a day these ends stay known, and nothing that upstream
    /// told.
    /// - Parameter end: Until then its credentials stay aside, in place of earlier ones; `nil`: nothing stays of it.
    /// - Returns: The number of sessions that ended.
    func dropBridgeSlot(_ name: UpstreamSlotName, asideUntil end: Timestamp?, now: Timestamp) async throws(Fault) -> Int
    /// The credentials that stay aside of a client, without a bearer, and when it was dropped.
    func lostBridgeSlot(_ name: UpstreamSlotName, now: Timestamp) async throws(Fault) -> (slot: UpstreamSlotRecord, at: Timestamp)?

    /// Stores a login under way in place of the code's earlier one. Earlier ones of the device that are one browser's alone are superseded, and stay
    /// till they are over.
    func begin(_ pending: UpstreamPending) async throws(Fault)
    func bridgePending(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> UpstreamPending?
    func bridgePending(of record: RegistrationRecordID, now: Timestamp) async throws(Fault) -> UpstreamPending?
    /// Those of a device that are not done, the newest first; at most 8.
    func bridgePendings(_ key: SessionKey, now: Timestamp) async throws(Fault) -> [UpstreamPending]
    func settle(_ handle: SecretDigest, as state: UpstreamPending.State) async throws(Fault)
    /// Logins of a device at an MVPD that are one browser's alone, and are not done. A profile that began since may be of somebody who confirmed
    /// nothing.
    func boundPendings(_ key: SessionKey, upstream: String, mvpd: String) async throws(Fault) -> [UpstreamPending]
    /// The same of all devices, of those whose time is over, or of which upstream could not be told.
    func unresolvedPendings(now: Timestamp, most: Int) async throws(Fault) -> [UpstreamPending]

    /// Stores a session with its part, uses its code, and ends the login that it came of, as one change. A logout of the same profile that upstream
    /// has not heard of is forgotten.
    /// - Returns: False when the code is no longer live or has been used; nothing changed.
    func start(_ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, now: Timestamp) async throws(Fault) -> Bool
    /// The same, and in the same change the client's sessions of other logins upstream end at the device; upstream has to hear of their logouts.
    /// - Returns: The parts of these sessions; `nil`: as of `start`, nothing changed.
    func startAlone(_ session: SessionRecord, _ part: UpstreamPart, of pending: SecretDigest?, now: Timestamp) async throws(Fault) -> [UpstreamPart]?
    func bridgedPart(_ session: SessionID) async throws(Fault) -> UpstreamPart?
    /// Stores what upstream said of a session now; with another end the session ends then.
    func confirm(_ part: UpstreamPart, updatedAt: Timestamp?) async throws(Fault)
    func suspect(_ session: SessionID) async throws(Fault)
    /// A decision was made: what upstream tells of the person may be another thing now.
    func decided(_ part: UpstreamPart) async throws(Fault)
    /// The id of a person in media tokens becomes the session's user id. All sessions that start for the person get it too (bridge §8.2).
    /// - Parameter person: `nil`: nobody knows who it is, and it is this session's alone.
    func learn(_ id: String, of part: UpstreamPart, person: String?, now: Timestamp) async throws(Fault)
    /// Ends a session that upstream does not know any more. For a day its owner stays known, and nothing that upstream told.
    func drop(_ part: UpstreamPart, now: Timestamp) async throws(Fault)
    /// The logins of a device that ended so, by a client's end too, the newest first; at most 8, some of them older than a day.
    func gone(_ key: SessionKey) async throws(Fault) -> [GoneLogin]
    /// The parts that were dropped at a device since, and whose client is there; the newest first; at most 8.
    func forgotten(_ key: SessionKey, since moment: Timestamp) async throws(Fault) -> [UpstreamPart]

    /// Remembers that upstream has to hear of the logouts of these sessions, which are gone already.
    /// - Parameter firstTry: When the logouts are due. Until then they are the caller's: nobody else tells upstream of them.
    func remember(logoutsOf sessions: [SessionID], now: Timestamp, firstTry: Timestamp) async throws(Fault)
    /// The same for a profile that no session was made of. In the same change the logins that it may have come of are done: if all of them were, somebody
    /// else has remembered it, and nothing changes.
    func remember(logoutOf part: UpstreamPart, of pendings: [SecretDigest], now: Timestamp) async throws(Fault)
    /// The same for all parts whose session is gone.
    func rememberOrphans(now: Timestamp) async throws(Fault) -> Int
    func dueLogouts(now: Timestamp, most: Int) async throws(Fault) -> [UpstreamLogout]
    /// The logouts of these sessions that upstream has not heard of, due or not.
    func openLogouts(of sessions: [SessionID], now: Timestamp) async throws(Fault) -> [UpstreamLogout]
    func openLogouts(of key: SessionKey, upstream: String, mvpd: String, now: Timestamp) async throws(Fault) -> [UpstreamLogout]
    func postpone(_ logout: UpstreamLogout, until moment: Timestamp) async throws(Fault)
    /// Makes the open logouts at an upstream due now.
    func hastenLogouts(at upstream: String, now: Timestamp) async throws(Fault)
    func finish(_ logout: UpstreamLogout) async throws(Fault)

    /// The stored records of an upstream, in numbers.
    /// - Parameter oldest: Lists from before do not count.
    func bridgeHoldings(_ upstream: String, listsSince oldest: Timestamp, now: Timestamp) async throws(Fault) -> UpstreamHoldings
    /// The same of all upstreams, for metrics: it reads every client, so it is not to be called often.
    /// - Parameter patience: A logout that is younger does not count: it may be told just now.
    func bridgeCounts(patience: Duration, now: Timestamp) async throws(Fault) -> [OctetText: UpstreamCounts]

    /// Ends the trials that sessions of an MVPD are.
    /// - Parameter device: The device; `nil`: all devices.
    /// - Returns: The number that ended.
    func endTrials(requestor: RequestorID, mvpd: MvpdID, device: DeviceID?) async throws(Fault) -> Int

    /// Takes a platform's request, once.
    /// - Returns: False when it was taken before, or is over.
    func take(_ request: SamlRequestID, now: Timestamp) async throws(Fault) -> Bool

    /// A list, or the note of a client's device (bridge §11), by its place.
    func keep(list: [UInt8], _ key: String, at moment: Timestamp) async throws(Fault)
    func list(_ key: String) async throws(Fault) -> (content: [UInt8], at: Timestamp)?
}
