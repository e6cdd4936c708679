internal import Catalogue
package import Clocks
package import Contracts
package import Faults
package import Storage
internal import Synchronization

// The operations that the service needs from its storage. A method that changes something returns when the change is durable. All of them throw a
// fault of the storage (`unavailable`, `overloaded`, `storage_full`, `internal`), which is never a statement about a credential.

/// Everything that the service keeps.
package typealias AuthenticationStore =
    ClientStore & RegistrationCodeStore & SignInStore & SessionStore & ProviderTokenStore & LogoutStore & TrialStore & ProfileRequestStore
    & LoginStore & SecretStore & NonceStore & ServiceTokenStore & SignInReportStore & TestSignInStore & ScheduledSignInStore & AnnouncementStore
    & LivingStore

package protocol ClientStore: Sendable {
    /// Says when what memory knows of clients may be out of date; `nil`: never.
    var changes: (any StoreChanges)? { get }

    func add(_ client: Client) async throws(Fault)
    func client(_ id: ClientID) async throws(Fault) -> Client?

    /// Notes that a client asked for a token: it is remembered by the day.
    func noteUse(of client: ClientID, at moment: Timestamp) async throws(Fault)

    /// Forgets a batch of clients that were last used before a moment and have no session and no code that has not ended. It also forgets those that
    /// never made one.
    /// - Parameters:
    ///   - used: For clients that made something once.
    ///   - idle: For clients that never did.
    /// - Returns: The number of forgotten clients.
    func forgetClients(usedBefore used: Timestamp, idleBefore idle: Timestamp, now: Timestamp) async throws(Fault) -> Int

    /// Forgets a client for good.
    /// - Returns: False when there is none.
    func revoke(_ client: ClientID) async throws(Fault) -> Bool
}

/// The announcements of OAuth providers about their answers, by their issuer.
package protocol AnnouncementStore: Sendable {
    /// True when the provider announced that its answers name it when its document was read last.
    func announcesIssuer(_ issuer: String) async throws(Fault) -> Bool

    func note(_ issuer: String, announcesIssuer: Bool, at moment: Timestamp) async throws(Fault)
}

package protocol NonceStore: Sendable {
    /// Remembers the digest of a nonce until a moment.
    /// - Returns: False when it is remembered already.
    func takeNonce(_ digest: [UInt8], until end: Timestamp) async throws(Fault) -> Bool
}

package protocol RegistrationCodeStore: Sendable {
    /// Stores the record unless one that is kept has the same code. A plan ends the unused one that the client's device had at the requestor.
    /// - Returns: False when the code is taken; nothing changed.
    func claim(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool

    /// The record of a code that has not expired.
    func liveRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord?

    /// The record of a code that has not expired, or whose session has not (clients §4.3).
    func keptRecord(_ code: RegistrationCodeText, now: Timestamp) async throws(Fault) -> RegistrationRecord?

    /// Stores MVPD, domain and address of a record that is live and unused.
    /// - Returns: False when it is not; nothing changed.
    func plan(_ record: RegistrationRecord, now: Timestamp) async throws(Fault) -> Bool

    /// Removes a live code of a requestor and the sign-in that is under way through it (rest-v1 §3.6).
    /// - Returns: False when there is none.
    func remove(_ code: RegistrationCodeText, requestor: RequestorID, now: Timestamp) async throws(Fault) -> Bool
}

package protocol SignInStore: Sendable {
    /// Stores a pending sign-in in place of an earlier one of the same code (rest-v1 §3.7).
    /// - Returns: False when the code is no longer live or has been used; nothing changed.
    func begin(_ pending: PendingSignIn, now: Timestamp) async throws(Fault) -> Bool

    /// The pending sign-in with that RelayState, unless it is over.
    func pending(_ relayState: SecretDigest, now: Timestamp) async throws(Fault) -> PendingSignIn?

    /// Consumes a pending sign-in without a session.
    /// - Returns: False when it was consumed before.
    func abandon(_ request: SamlRequestID) async throws(Fault) -> Bool

    /// Consumes the pending sign-in, remembers the assertion and marks the code used. The session replaces that client's at the MVPD. All of it is
    /// one change. When several calls name one request or one assertion, at most one completes.
    func complete(_ completion: SignInCompletion, now: Timestamp) async throws(Fault) -> SignInCompletionResult
}

package protocol SessionStore: Sendable {
    /// The sessions of a device at a requestor, at most one for each client and MVPD, the newest first. Those that have expired and are still
    /// remembered are included.
    func sessions(_ key: SessionKey) async throws(Fault) -> [SessionRecord]

    /// Stores a session that nobody signed in for, in place of the one that the client's device has at the MVPD. The registration code that it came
    /// through is marked used, and a sign-in under way through it ends.
    /// - Returns: False when that code is no longer live or has been used; nothing changed.
    func start(_ session: SessionRecord, now: Timestamp) async throws(Fault) -> Bool

    /// Gives a session the attributes that it has after the update, all of them or none.
    /// - Returns: False when the update does not apply to the session that the device has now; nothing changed.
    func update(_ update: AttributeUpdate, now: Timestamp) async throws(Fault) -> Bool

    /// The sessions of a platform identity that have not expired (rest-v1 §4.9).
    func sessions(of identity: PlatformIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord]

    /// The sessions of whom service tokens name, that have not expired (rest-v2 §5 J).
    func sessions(of identity: ServiceIdentity, now: Timestamp) async throws(Fault) -> [SessionRecord]

    /// A viewer's sessions at a requestor and an MVPD, the newest first, also those that are over and still remembered. They have this NameID, or
    /// came from the logins of one of these scrambled ids.
    func sessions(
        named name: String, userIDs: [String], at requestor: RequestorID, mvpd: MvpdID, most: Int
    ) async throws(Fault) -> [SessionRecord]

    /// When the device was last logged out at the requestor, as long as a session from before could still be taken over.
    func lastLogout(_ key: SessionKey, now: Timestamp) async throws(Fault) -> Timestamp?

    /// Removes the device's sessions at these requestors that its claims may see, and remembers the logout at each.
    /// - Returns: Those that had not expired.
    func end(device: DeviceID, requestors: [RequestorID], claims: DeviceClaims, now: Timestamp) async throws(Fault) -> [SessionRecord]

    /// Removes the session that a client's device has at an MVPD, and remembers the logout.
    /// - Returns: `nil` when there was none, or it had expired.
    func end(_ key: SessionKey, client: ClientID, mvpd: MvpdID, now: Timestamp) async throws(Fault) -> SessionRecord?
}

/// Logouts at the MVPDs (mvpd §2.7).
package protocol LogoutStore: Sendable {
    func add(_ logouts: [PendingLogout]) async throws(Fault)

    /// Notes the request that is sent now.
    /// - Returns: `nil` when there is no such logout, or it is over.
    func visit(_ handle: SecretDigest, as request: SamlRequestID, now: Timestamp) async throws(Fault) -> PendingLogout?

    func pendingLogout(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> PendingLogout?

    /// Consumes the logout.
    /// - Returns: False when it was consumed before, or another request was sent since.
    func finish(_ handle: SecretDigest, request: SamlRequestID) async throws(Fault) -> Bool

    /// Removes the sessions that an MVPD ended, and remembers the request and the logouts, as one change.
    func end(_ logout: MvpdLogout, now: Timestamp) async throws(Fault) -> MvpdLogoutResult
}

package protocol ProviderTokenStore: Sendable {
    /// As `start`, with the tokens that the MVPD gave; they go when the session goes.
    func start(_ session: SessionRecord, keeping tokens: ProviderTokenRecord, now: Timestamp) async throws(Fault) -> Bool

    func providerTokens(of session: SessionID) async throws(Fault) -> ProviderTokenRecord?

    /// The sealed id_tokens of the sessions that a device has at a requestor.
    func identityTokens(at key: SessionKey) async throws(Fault) -> [SessionID: [UInt8]]

    /// Takes the turn of asking the MVPD for fresh tokens. The turn lasts until the lease ends or one of the calls below gives it back.
    /// - Returns: False while somebody else has it, or when the session is gone.
    func claimRefresh(of session: SessionID, until lease: Timestamp, now: Timestamp) async throws(Fault) -> Bool

    /// Stores the MVPD's tokens in place of the earlier ones and gives the turn back.
    /// - Returns: False when the session has another refresh token by now, or is gone; nothing changed.
    func put(_ tokens: ProviderTokenRecord, replacing before: [UInt8]?) async throws(Fault) -> Bool

    /// Gives the turn back; nothing else changes.
    func endRefresh(of session: SessionID) async throws(Fault)
}

package protocol ProfileRequestStore: Sendable {
    func add(_ request: ProfileRequestRecord) async throws(Fault)

    /// The request with that id, unless it was answered or is over.
    func profileRequest(_ id: SamlRequestID, now: Timestamp) async throws(Fault) -> ProfileRequestRecord?

    /// The latest of a client's requests that was not answered and is not over.
    func newestProfileRequest(
        client: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, now: Timestamp
    ) async throws(Fault) -> ProfileRequestRecord?

    /// Consumes the request, remembers the assertion and stores the session in place of the one before, as one change. When several calls name one
    /// request or one assertion, at most one completes.
    func complete(_ completion: PlatformCompletion, now: Timestamp) async throws(Fault) -> PlatformCompletionResult
}

/// Trials of TempPasses; they never end by themselves (rest-v1 §5).
package protocol TrialStore: Sendable {
    /// Stores the session of a preview in place of the one before, shortened to the trial that its holder has. The registration code that it
    /// came through is marked used, and a sign-in under way through it ends.
    func start(_ preview: FreePreview, now: Timestamp) async throws(Fault) -> FreePreviewResult

    /// Counts a play as one change: it begins the trial and takes one of its resources. The play's session, if there is one, gets the trial's end.
    /// From then on the trial knows the holder's device and user, unless another trial does.
    func spend(_ play: TrialPlay, now: Timestamp) async throws(Fault) -> TrialPlay.Outcome

    /// The trial of that id; `nil` once it was reset.
    func trial(_ id: TrialID) async throws(Fault) -> Trial?

    /// The trial of which the holder's device or user is known; `nil`: its clock was not started.
    func trial(of holder: TrialHolder) async throws(Fault) -> Trial?

    /// Forgets trials with everything that they know.
    /// - Returns: The number of trials that were there.
    func reset(_ scope: TrialScope, requestor: RequestorID, mvpd: MvpdID) async throws(Fault) -> Int
}

/// People whom programmers name by service tokens, their devices, and the codes by which further ones join (rest-v2 §2.14).
package protocol ServiceTokenStore: Sendable {
    /// Ties a device to the person of a name, or renews its tie; a person who is not known yet is now.
    func tie(_ tie: ServiceTokenTie, to name: ServicePersonName) async throws(Fault) -> ServiceTokenDevice

    /// The same to the person whose code it is, which it uses up.
    /// - Returns: `nil` when the programmer has no such code, or it is over; nothing changed.
    func tie(_ tie: ServiceTokenTie, by code: String) async throws(Fault) -> ServiceTokenDevice?

    /// - Returns: `nil` when the device was taken out, or is remembered no more.
    func serviceDevice(_ tie: ServiceTieID) async throws(Fault) -> ServiceTokenDevice?

    /// Notes that a device got a token now.
    /// - Parameters:
    ///   - end: The end of the tie.
    ///   - personEnd: Until when its person is remembered.
    /// - Returns: False when the tie is there no more.
    func renew(_ tie: ServiceTieID, at now: Timestamp, until end: Timestamp, personUntil personEnd: Timestamp) async throws(Fault) -> Bool

    /// The devices of a person, the one that was seen last first.
    func serviceDevices(of person: ServicePersonID, now: Timestamp) async throws(Fault) -> [ServiceTokenDevice]

    /// Takes devices of a person out; what was signed in on them is the devices' own from then on.
    /// - Parameter identity: The person's.
    func untie(_ devices: [ServiceTokenDevice], of identity: ServiceIdentity) async throws(Fault)

    /// Stores a code in place of the person's code before.
    /// - Returns: False when another person of the programmer has it; the code before is gone all the same.
    func add(_ link: ServiceLinkCode, now: Timestamp) async throws(Fault) -> Bool
}

/// Where copies of the service keep reports of sign-ins that failed and of tests, so that each shows those of all.
package protocol SignInReportStore: Sendable {
    /// False: each copy knows its own alone, and the calls below do nothing.
    var sharesReports: Bool { get }

    func keep(_ reports: [SignInReport]) async throws(Fault)

    /// The newest of a trace id.
    func failedReport(trace: String) async throws(Fault) -> SignInReport?

    /// The newest ones.
    /// - Parameter mvpd: Empty: of any, and strays.
    func failedReports(mvpd: String, limit: Int) async throws(Fault) -> [SignInReport]

    /// Removes all but the newest answers that led to no pending sign-in, which anybody can send.
    func trimStrays(to most: Int) async throws(Fault)
}

extension SignInReportStore {
    package var sharesReports: Bool { false }
    package func keep(_ reports: [SignInReport]) async throws(Fault) {}
    package func failedReport(trace: String) async throws(Fault) -> SignInReport? { nil }
    package func failedReports(mvpd: String, limit: Int) async throws(Fault) -> [SignInReport] { [] }
    package func trimStrays(to most: Int) async throws(Fault) {}
}

/// The time since which the programmers of requestors, and the owners of MVPDs, have their ids. Stored data from before belonged to another owner and
/// is told to nobody (config.proto, Requestor.since_ms).
package final class EntryLives: Sendable {
    private let catalogue = Mutex<(any CatalogueSource)?>(nil)

    /// To be called before the store is used.
    func follow(_ source: any CatalogueSource) { catalogue.withLock { $0 = source } }

    /// - Parameter mvpd: Empty: of the requestor alone.
    /// - Returns: 0 since ever, also before there is a catalogue: then no call is answered.
    package func since(_ requestor: RequestorID, mvpd: String = "") -> Timestamp {
        guard let catalogue = try? catalogue.withLock({ $0 })?.current() else { return Timestamp(milliseconds: 0) }
        let ofMvpd = mvpd.isEmpty ? 0 : catalogue.mvpd(mvpd)?.sinceMilliseconds ?? 0
        return Timestamp(milliseconds: Int64(clamping: max(catalogue.requestor(requestor.text)?.sinceMilliseconds ?? 0, ofMvpd)))
    }

    func cover(_ session: SessionRecord) -> Bool { session.createdAt >= since(session.key.requestor, mvpd: session.mvpd.text) }

    /// Without those of former owners.
    func covered(_ sessions: [SessionRecord]) -> [SessionRecord] { sessions.allSatisfy(cover) ? sessions : sessions.filter(cover) }
}

/// A store that tells nothing of former owners.
package protocol LivingStore: Sendable {
    /// `nil`: it tells everything.
    var lives: EntryLives? { get }
}
