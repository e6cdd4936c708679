internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Identifiers
internal import Logging
internal import Storage

/// Asks Apple once a day whether people's sessions go on (apple §2.5).
struct AppleSessionChecks: Sendable {
    let parts: AppleParts

    /// Links of one round.
    private static let batch = 100
    private static let pause: Duration = .seconds(60)

    /// Checks what is due, as one of the copies on several hosts, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            if await parts.store.store.lease("apple sessions") != nil { await checkDue() }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func checkDue() async {
        do throws(Fault) {
            while try await round() == Self.batch, !Task.isCancelled {}
        } catch {
            parts.base.parts.logger.warning("apple.checks_stalled", metadata: ["error": "\(error)"])
        }
    }

    /// - Returns: The number of links that were looked at.
    /// - Throws: Faults of the storage.
    @discardableResult
    func round() async throws(Fault) -> Int {
        let now = parts.now()
        let links = try await parts.store.store.read { try $0.linksToCheck(now: now, limit: Self.batch) }
        for link in links { _ = try await check(link) }
        return links.count
    }

    /// - Throws: `not_found`; faults of the storage.
    func check(_ id: AppleLinkID) async throws(Fault) -> AppleSessionState {
        let found = try await parts.store.store.read { database in try database.appleLink(id).map { ($0, try database.appleGrants(of: id)) } }
        guard let (link, grants) = found else { throw AppleLinks.unknown }
        var verdicts: [AppleSessionVerdict] = []
        var next = grants.map(\.nextCheckAt).min() ?? .distant
        for grant in grants {
            let (verdict, moment) = try await check(grant, link)
            verdicts.append(verdict)
            next = grants.count == 1 ? moment : min(next, moment)
        }
        if grants.isEmpty { verdicts = [link.isRevoked ? .ended : .recent] }
        return AppleSessionState(verdict: Self.together(verdicts), nextCheckAtMilliseconds: UInt64(clamping: next.milliseconds))
    }

    /// The verdict of several client ids' checks on the link.
    private static func together(_ verdicts: [AppleSessionVerdict]) -> AppleSessionVerdict {
        let order: [AppleSessionVerdict] = [.valid, .recent, .unclear, .ended]
        return order.first(where: verdicts.contains) ?? .unclear
    }

    private func check(_ grant: AppleGrantRecord, _ link: AppleLinkRecord) async throws(Fault) -> (AppleSessionVerdict, Timestamp) {
        let now = parts.now()
        // An unclear answer is asked about again earlier than in a day.
        guard !AppleSessionCheck.isRecent(grant, now: now), now >= grant.nextCheckAt || grant.unclearSince == nil else {
            return (grant.unclearSince == nil ? .recent : .unclear, grant.nextCheckAt)
        }
        guard try await parts.store.store.write({ try $0.claim(grant, until: now + AppleSessionCheck.lease) }) else {
            return (.recent, now + AppleSessionCheck.lease)
        }
        do throws(Fault) {
            try await ask(grant, link)
            return try await stands(grant)
        } catch {
            return error.code == .appleGrantInvalid ? try await ended(grant, link) : try await unclear(grant, link)
        }
    }

    private func ask(_ grant: AppleGrantRecord, _ link: AppleLinkRecord) async throws(Fault) {
        let owner = AppleGrantRecord.owner(link.id, grant.client)
        guard let token = parts.linking.seal.open(grant.sealed, AppleGrantRecord.sealedAs, of: owner, as: AppleRefreshToken.self),
            let app = try parts.base.parts.catalogue.current().app(grant.client, ofTeam: link.team)?.app
        else { throw Fault(.appleRequestInvalid, "The grant cannot be checked.") }
        try await parts.apple.validate(token, app: app)
    }

    private func stands(_ grant: AppleGrantRecord) async throws(Fault) -> (AppleSessionVerdict, Timestamp) {
        var checked = grant
        checked.validatedAt = parts.now()
        checked.unclearSince = nil
        checked.nextCheckAt = AppleSessionCheck.next(after: checked.validatedAt, fraction: parts.base.parts.random.fraction())
        try await note(checked)
        return (.valid, checked.nextCheckAt)
    }

    /// The person has to sign in at Apple anew; other ways in stay.
    private func ended(_ grant: AppleGrantRecord, _ link: AppleLinkRecord) async throws(Fault) -> (AppleSessionVerdict, Timestamp) {
        let now = parts.now()
        try await parts.store.change { database, touched in
            try database.remove(grant)
            try database.endSessions(of: link, client: grant.client, &touched, now: now)
        }
        parts.base.outbox.wake()
        return (.ended, .distant)
    }

    /// Says nothing of the person: sessions are kept for a while.
    private func unclear(_ grant: AppleGrantRecord, _ link: AppleLinkRecord) async throws(Fault) -> (AppleSessionVerdict, Timestamp) {
        let now = parts.now()
        var checked = grant
        checked.unclearSince = grant.unclearSince ?? now
        checked.nextCheckAt = now + AppleSessionCheck.unclearPause
        guard let since = checked.unclearSince, now >= since + AppleSessionCheck.patience else {
            try await note(checked)
            return (.unclear, checked.nextCheckAt)
        }
        try await parts.store.change { [checked] database, touched in
            try database.note(checked)
            try database.endSessions(of: link, client: grant.client, &touched, now: now)
        }
        parts.base.outbox.wake()
        return (.ended, checked.nextCheckAt)
    }

    private func note(_ grant: AppleGrantRecord) async throws(Fault) { try await parts.store.store.write { try $0.note(grant) } }
}

extension Timestamp {
    /// When there is no next time.
    fileprivate static let distant = Timestamp(milliseconds: 0)
}

extension Database {
    /// The sessions that were made from a link through one client id.
    func endSessions(of link: AppleLinkRecord, client: AppleClientID, _ touched: inout Touched, now: Timestamp) throws {
        let ended = try sessions(of: link.id, clients: [client])
        try end(ended, now: now)
        touched.sessions.formUnion(ended.map(\.id))
    }
}

/// When Apple is asked whether a person's session goes on, and what its answers mean (apple §2.5).
enum AppleSessionCheck {
    static let interval: Duration = .seconds(24 * 3600)
    /// So that not all checks fall on one moment.
    static let jitter: Duration = .seconds(2 * 3600)
    /// After an answer that says nothing of the person.
    static let unclearPause: Duration = .seconds(6 * 3600)
    /// For how long sessions are kept then.
    static let patience: Duration = .seconds(72 * 3600)
    /// A check whose process broke off is made again after this.
    static let lease: Duration = .seconds(600)

    /// - Parameter fraction: From 0 to 1, at random.
    static func next(after moment: Timestamp, fraction: Double) -> Timestamp {
        moment + interval + .milliseconds(Int64(Double(jitter.wholeMilliseconds) * min(max(fraction, 0), 1)))
    }

    /// At most once a day, whoever asks.
    static func isRecent(_ grant: AppleGrantRecord, now: Timestamp) -> Bool { now < grant.validatedAt + interval && now >= grant.validatedAt }
}

/// Gives a device its session after Sign in with Apple (apple §1.4). The session is of one of the account's TV logins where one serves, otherwise one
/// without TV.
struct AppleSessionStart: Sendable {
    /// Beyond streaming: the person has signed in.
    static let scopes = StreamingSessionRecord.streamingScopes + ["account:read", "account:write"]
    /// The lifetime of a session without a login behind it; unused it ends much earlier.
    static let lifetime: Duration = .seconds(365 * 86_400)

    let logins: any Logins
    let clock: any WallClock
    let random: any RandomSource

    /// - Returns: `nil` when no login serves, or the device has one of its own.
    /// - Throws: Faults of `authentication` other than `subscription_required`.
    func startTV(_ call: DeviceCall?, _ caller: DeviceCaller, of account: AccountRecord?, _ context: CallContext) async throws(Fault)
        -> AutomaticSession?
    {
        guard let call, let account, !account.logins.isEmpty, caller.personLogin == nil else { return nil }
        let request = StartAutomaticSessionRequest(call: call, logins: account.logins.map(\.reference))
        do {
            return try await logins.startAutomaticSession(request, context: context.child())
        } catch let fault as Fault where fault.code == .subscriptionRequired {
            return nil
        } catch {
            throw .unexpected(error)
        }
    }

    func record(_ tv: AutomaticSession?, _ caller: DeviceCaller, account: AccountID, link: AppleLinkID, client: AppleClientID)
        -> StreamingSessionRecord
    {
        let now = clock.now()
        let end = tv?.session.map { Timestamp(milliseconds: Int64(clamping: $0.expiresAtMilliseconds)) } ?? now + Self.lifetime
        let id = tv?.session.map { StreamingSessionID($0.id) } ?? StreamingSessionID(random.uuid(madeAt: now))
        return StreamingSessionRecord(
            id: id, account: account, programmer: caller.programmer, requestor: caller.requestor, device: caller.device,
            deviceLabel: caller.deviceLabel, client: caller.client, origin: .apple(link, client), scopes: Self.scopes, hasTVSession: tv != nil,
            createdAt: now, lastUsedAt: now, expiresAt: end)
    }
}
