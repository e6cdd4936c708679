internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Cryptography
internal import Faults
internal import Identifiers
internal import Logging
internal import Memos

/// Our clients at upstreams and their bearers: each is registered and renewed by one caller at a time, whoever else waits for it (bridge §4.2).
actor UpstreamSlots {
    private struct Held {
        var slot: BridgeSlot
        var work: Task<Result<BridgeBearer, UpstreamError>, Never>?
    }

    /// A claim lasts so long, and its holder prolongs it as long as it is at work.
    private static let lease: Duration = .seconds(10)
    private static let prolonged: Duration = .milliseconds(125)
    /// A holder that has not prolonged its claim for so long is dead: another copy takes the claim over. It is measured by the waiter's own clock, so that
    /// clocks need not agree.
    private static let silence: Duration = .milliseconds(500)
    private static let look: Duration = .milliseconds(50)
    /// A service provider at which a fresh bearer was refused is not asked about for so long.
    private static let refusedAccess: Duration = .seconds(60)
    /// For so long the credentials of a lost client stay aside: an upstream that finds its records again knows them.
    private static let aside: Duration = .seconds(30 * 86_400)
    /// A lost client is asked about again after so long, before another one is registered in its place.
    private static let secondThought: Duration = .seconds(10)

    private let line: UpstreamConnection
    private let store: any UpstreamStore
    private let statements: any ClientSecrets
    private let seal: TokenSeal
    private let clock: any WallClock
    private let logger: Logger
    private var held = BoundedCache<UpstreamSlotName, Held>(capacity: 65_536)
    /// Until when nothing is asked about a service provider, by upstream and entry, and the service provider.
    private var closed: [OctetText: [OctetText: Timestamp]] = [:]
    /// Statements that are refused, by the clients that share them.
    private var refusals: [OctetText: UpstreamRefusal] = [:]
    /// By upstream.
    private var losses: [OctetText: UpstreamLosses] = [:]

    init(line: UpstreamConnection, store: any UpstreamStore, statements: any ClientSecrets, seal: TokenSeal, clock: any WallClock, logger: Logger) {
        self.line = line
        self.store = store
        self.statements = statements
        self.seal = seal
        self.clock = clock
        self.logger = logger
    }

    /// A bearer that holds; one that is nearly over serves where no newer one is to be had.
    /// - Parameter device: The device that owns the client.
    func bearer(_ client: UpstreamClientAt, for device: BridgeDevice?, _ deadline: UpstreamDeadline) async throws(UpstreamError) -> BridgeBearer {
        let device = client.isService ? nil : device
        let mine = try await slot(client.name)
        switch mine.step(clock.now()) {
        case .call(let bearer) where !mine.isWorn(clock.now()): return bearer
        case .call(let bearer):
            if case .success(let fresh) = await work(client, device, deadline) { return fresh }
            line.metrics.answeredStale(.bearer, client.upstream.id)
            return bearer
        case .register, .token: return try await work(client, device, deadline).get()
        case .wait(let wait): throw .wait(wait)
        }
    }

    /// An operator asks for another attempt with a statement that was refused.
    func forgive(_ client: UpstreamClientAt) {
        refusals[client.place] = nil
        refusals[client.refusalPlace] = nil
        closed[client.place] = nil
    }

    /// Why the client cannot ask now; `nil`: it can.
    /// - Parameter serviceProvider: Whom it would ask about.
    func wait(_ client: UpstreamClientAt, for serviceProvider: String) -> BridgeSlot.Wait? {
        let now = clock.now()
        if let end = closed[client.place]?[OctetText(serviceProvider)], now < end, end - now <= Self.refusedAccess {
            return .accessRefused(until: end)
        }
        if case .wait(let wait)? = held[client.name]?.slot.step(now) { return wait }
        return nil
    }

    /// The credentials at hand, and their bearer, whatever they are worth upstream.
    func known(_ client: UpstreamClientAt) async throws(UpstreamError) -> (credentials: BridgeCredentials?, bearer: BridgeBearer?) {
        let mine = try await slot(client.name)
        guard case .registered(let credentials) = mine.state else { return (nil, nil) }
        return (credentials, mine.bearer)
    }

    /// Forgets a client.
    /// - Returns: True when there was one, and how many sessions ended with it.
    func reset(_ client: UpstreamClientAt) async throws(Fault) -> (wasKnown: Bool, sessions: Int) {
        let wasKnown: Bool
        if case .registered? = held[client.name]?.slot.state { wasKnown = true } else { wasKnown = try await store.bridgeSlot(client.name) != nil }
        held[client.name] = nil
        return (wasKnown, try await store.dropBridgeSlot(client.name, asideUntil: nil, now: clock.now()))
    }

    /// A call with that bearer got 401. After a second one no client of the entry asks about the service provider for a minute (bridge §4.2).
    func unauthorized(_ client: UpstreamClientAt, _ serviceProvider: String, _ bearer: BridgeBearer, isRepetition: Bool) {
        guard var mine = held[client.name]?.slot else { return }
        let alarm = mine.unauthorized(with: bearer, isRepetition: isRepetition)
        held[client.name]?.slot = mine
        guard let alarm else { return }
        let now = clock.now()
        closed[client.place] = (closed[client.place] ?? [:]).filter { now < $0.value }
        closed[client.place]?[OctetText(serviceProvider)] = now + Self.refusedAccess
        tell(alarm, client, serviceProvider)
    }

    /// Upstream does not know the client.
    /// - Returns: What that is for the call: nobody whom the client had signed in is signed in any more, or upstream is asked again first.
    func clientRefused(_ client: UpstreamClientAt) async throws(UpstreamError) -> UpstreamError {
        guard var mine = held[client.name]?.slot else { return .clientLost }
        let alarm = mine.clientRefused(clock.now())
        held[client.name]?.slot = mine
        if alarm != nil { try await lose(client) }
        if case .wait(let wait) = mine.step(clock.now()) { return .wait(wait) }
        return .clientLost
    }

    private func slot(_ name: UpstreamSlotName) async throws(UpstreamError) -> BridgeSlot {
        if let known = held[name] { return known.slot }
        let stored = try await stored(name)
        // Somebody else may have been faster.
        if let known = held[name] { return known.slot }
        let slot = stored ?? BridgeSlot(name.isDevices ? .device : .shared)
        held[name] = Held(slot: slot)
        return slot
    }

    /// The client as the store has it; `nil`: there is none, or its seal does not open any more.
    private func stored(_ name: UpstreamSlotName) async throws(UpstreamError) -> BridgeSlot? {
        let found: UpstreamSlotRecord?
        do throws(Fault) { found = try await store.bridgeSlot(name) } catch { throw .store(error) }
        guard let found, let secret = seal.open(found.secret, of: Self.owner(name), as: ProviderSecret.self) else { return nil }
        let credentials = BridgeCredentials(clientID: found.clientID, clientSecret: secret.text, scopes: found.scopes)
        let token = found.bearer.isEmpty ? nil : seal.open(found.bearer, of: Self.owner(name), as: ProviderAccessToken.self)
        let bearer = token.map { BridgeBearer(token: $0.text, end: found.bearerEnd, life: .seconds(found.bearerLifeSeconds)) }
        return BridgeSlot(name.isDevices ? .device : .shared, state: .registered(credentials), bearer: bearer)
    }

    private static func owner(_ name: UpstreamSlotName) -> SessionID { SessionID("bridge slot \(name.text)") }

    func statement(_ client: UpstreamClientAt) async throws(UpstreamError) -> String? {
        do throws(Fault) {
            return try await statements.secret(SecretReference(client.entry.statementReference))?.text
        } catch {
            throw .store(error)
        }
    }

    /// - Returns: The refusal that keeps the client from being registered; `nil`: none does.
    private func standing(_ client: UpstreamClientAt) async throws(UpstreamError) -> UpstreamRefusal? {
        let place = client.refusalPlace
        guard refusals[place] != nil else { return nil }
        let statement = SHA256.hash(try await statement(client) ?? "")
        guard let known = refusals[place] else { return nil }
        guard known.statement == statement else {
            refusals[place] = nil
            return nil
        }
        let now = clock.now()
        if known.holds(now) { return known }
        refusals[place]?.until = now + Self.lease
        return nil
    }

    // MARK: One caller at a time

    private func work(_ client: UpstreamClientAt, _ device: BridgeDevice?, _ deadline: UpstreamDeadline) async -> Result<BridgeBearer, UpstreamError>
    {
        if let task = held[client.name]?.work {
            return await task.value(within: deadline.budget.left) ?? .failure(.failure(.unreachable(.budgetSpent)))
        }
        let task = Task { [self] in await advance(client, device, deadline) }
        held[client.name]?.work = task
        let result = await task.value
        held[client.name]?.work = nil
        return result
    }

    private func advance(_ client: UpstreamClientAt, _ device: BridgeDevice?, _ deadline: UpstreamDeadline) async -> Result<
        BridgeBearer, UpstreamError
    > {
        do throws(UpstreamError) {
            // Register, token; and once more where upstream does not know the client any more.
            for _ in 0..<5 {
                let mine = try await slot(client.name)
                switch mine.step(clock.now()) {
                case .register: try await register(client, device, deadline)
                case .token(let credentials): try await renew(client, credentials, device, deadline)
                case .call(let bearer):
                    guard mine.isWorn(clock.now()), case .registered(let credentials) = mine.state else { return .success(bearer) }
                    try await renew(client, credentials, device, deadline)
                    // A life so short that a fresh one is worn already.
                    if let fresh = held[client.name]?.slot.bearer { return .success(fresh) }
                case .wait(let wait): throw .wait(wait)
                }
            }
            throw .failure(.unusable("the client is registered again and again"))
        } catch {
            return .failure(error)
        }
    }

    private func register(_ client: UpstreamClientAt, _ device: BridgeDevice?, _ deadline: UpstreamDeadline) async throws(UpstreamError) {
        if let refusal = try await standing(client) { throw .wait(.statementRefused(code: refusal.code, until: refusal.until)) }
        let lost = try await lost(client)
        if lost != nil, let wait = losses[OctetText(client.upstream.id)]?.turn(clock.now()) {
            throw .wait(.clientsLost(until: clock.now() + wait))
        }
        guard let claimed = try await claim(client, deadline) else { return }
        // Whoever waits for the claim sees that its holder lives.
        let holding = Task { await hold(client.name, claimed) }
        let result: Result<Obtained, UpstreamError>
        do throws(UpstreamError) { result = .success(try await obtained(client, lost, device, deadline)) } catch { result = .failure(error) }
        holding.cancel()
        guard let lease = await holding.value else {
            // Another copy thought this one dead, and registers or has registered the client.
            guard let other = try await stored(client.name) else { return }
            held[client.name]?.slot = other
            return
        }
        do throws(UpstreamError) {
            try await keep(client, try result.get(), claimedUntil: lease)
        } catch {
            await release(client, lease)
            throw error
        }
    }

    /// Prolongs a claim until it is cancelled.
    /// - Returns: The claim's end; `nil`: it is another's.
    private func hold(_ name: UpstreamSlotName, _ claimed: Timestamp) async -> Timestamp? {
        var lease = claimed
        while (try? await Task.sleep(for: Self.prolonged)) != nil {
            let next = max(clock.now() + Self.lease, lease + .milliseconds(1))
            do throws(Fault) {
                guard try await store.takeBridgeClaim(name, from: lease, until: next) else { return nil }
                lease = next
            } catch {
                // The store may have done it all the same.
                guard let now = try? await store.bridgeClaim(name), now == lease || now == next else { return nil }
                lease = now
            }
        }
        return lease
    }

    /// A claim that came to nothing is not left to lapse: an operator may mend the statement at once.
    private func release(_ client: UpstreamClientAt, _ lease: Timestamp) async { try? await store.releaseBridgeSlot(client.name, until: lease) }

    /// A client that upstream knows, which nobody has kept yet.
    private struct Obtained {
        let credentials: BridgeCredentials
        /// `nil`: none yet.
        var bearer: BridgeBearer?
    }

    /// Takes back a client that was lost, or registers another.
    private func obtained(
        _ client: UpstreamClientAt, _ lost: (credentials: BridgeCredentials, at: Timestamp)?, _ device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> Obtained {
        if let lost, clock.now() >= lost.at + Self.secondThought, let bearer = try await returned(client, lost.credentials, device, deadline) {
            return Obtained(credentials: lost.credentials, bearer: bearer)
        }
        return Obtained(credentials: try await registered(client, device, deadline))
    }

    private func registered(
        _ client: UpstreamClientAt, _ device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> BridgeCredentials {
        guard let statement = try await statement(client) else {
            let missing = BridgeFailure.refused(BridgeRefusal(status: 0, code: "statement_missing"))
            throw refusal(of: client, statement: "") { slot, now in slot.failed(.register, missing, now) } ?? .failure(missing)
        }
        let credentials: BridgeCredentials
        do throws(UpstreamError) {
            credentials = try await line.ask(.register(statement: statement), bearer: nil, for: device, at: client.upstream, deadline) {
                answer throws(BridgeFailure) in try BridgeCredentials(answer)
            }
        } catch {
            guard case .failure(let failure) = error else { throw error }
            throw refusal(of: client, statement: statement) { slot, now in slot.failed(.register, failure, now) } ?? error
        }
        if let refusal = refusal(of: client, statement: statement, { slot, now in slot.registered(credentials, scope: client.scope, now) }) {
            throw refusal
        }
        refusals[client.refusalPlace] = nil
        line.metrics.registered(client)
        return credentials
    }

    /// Takes in what came of a registration. A refusal is of the statement, and holds for all clients that share it.
    /// - Parameter change: Tells the slot; returns its alarm.
    /// - Returns: `nil` where the statement was not refused.
    private func refusal(
        of client: UpstreamClientAt, statement: String, _ change: (inout BridgeSlot, Timestamp) -> BridgeSlot.Alarm?
    ) -> UpstreamError? {
        guard var mine = held[client.name]?.slot else { return nil }
        let alarm = change(&mine, clock.now())
        // Of one that is registered the slot hears when it is kept.
        guard case .refused(let code, let until) = mine.state else { return nil }
        refusals[client.refusalPlace] = UpstreamRefusal(code: code, until: until, statement: SHA256.hash(statement))
        mine.forgive()
        held[client.name]?.slot = mine
        if let alarm { tell(alarm, client, UpstreamWords.refusedStatement(client.entry.statementReference, of: client.upstream.id, code)) }
        return .wait(.statementRefused(code: code, until: until))
    }

    // MARK: Clients that upstream has lost

    /// What is aside of a client that upstream did not know any more.
    private func lost(_ client: UpstreamClientAt) async throws(UpstreamError) -> (credentials: BridgeCredentials, at: Timestamp)? {
        do throws(Fault) {
            guard let (record, moment) = try await store.lostBridgeSlot(client.name, now: clock.now()),
                let secret = seal.open(record.secret, of: Self.owner(client.name), as: ProviderSecret.self)
            else { return nil }
            return (BridgeCredentials(clientID: record.clientID, clientSecret: secret.text, scopes: record.scopes), moment)
        } catch {
            throw .store(error)
        }
    }

    /// Upstream may have found its records again: then the profiles of the client are there, too, and nobody has to sign in anew.
    /// - Returns: The client's bearer; `nil` where upstream does not know the client.
    private func returned(
        _ client: UpstreamClientAt, _ credentials: BridgeCredentials, _ device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> BridgeBearer? {
        let received = clock.now()
        do throws(UpstreamError) {
            let bearer = try await line.ask(.token(credentials), bearer: nil, for: device, at: client.upstream, deadline) {
                answer throws(BridgeFailure) in try BridgeBearer(answer, now: received)
            }
            line.metrics.issuedToken(client.upstream.id)
            logger.notice("bridge.client_returned", metadata: ["upstream": "\(client.upstream.id)", "client": "\(client.entry.id)"])
            return bearer
        } catch {
            guard error.refusal != nil else { throw error }
            return nil
        }
    }

    /// Keeps what upstream has registered. Where another copy has taken the claim over and was faster, its client serves, and this one is nobody's.
    private func keep(_ client: UpstreamClientAt, _ obtained: Obtained, claimedUntil lease: Timestamp) async throws(UpstreamError) {
        let isKept: Bool
        do throws(Fault) {
            isKept = try await store.keep(try record(client.name, obtained.credentials, obtained.bearer), claimedUntil: lease, now: clock.now())
        } catch {
            throw .store(error)
        }
        guard isKept else {
            if let other = try await stored(client.name) { held[client.name]?.slot = other }
            return
        }
        guard let mine = held[client.name]?.slot else { return }
        held[client.name]?.slot = BridgeSlot(mine.kind, state: .registered(obtained.credentials), bearer: obtained.bearer)
    }

    /// - Returns: The claim's end; `nil` when another copy has registered the client meanwhile: it is in memory then.
    private func claim(_ client: UpstreamClientAt, _ deadline: UpstreamDeadline) async throws(UpstreamError) -> Timestamp? {
        var seen: (claim: Timestamp, since: ContinuousClock.Instant)?
        while true {
            let now = clock.now()
            let isMine: Bool
            do throws(Fault) {
                isMine = try await store.claimBridgeSlot(client.name, until: now + Self.lease, now: now)
            } catch {
                throw .store(error)
            }
            if isMine { return now + Self.lease }
            if let other = try await stored(client.name) {
                held[client.name]?.slot = other
                return nil
            }
            if let lease = try await takeOver(client.name, &seen, now) { return lease }
            guard deadline.budget.left > Self.look else { throw .failure(.unreachable(.budgetSpent)) }
            try? await Task.sleep(for: Self.look)
        }
    }

    /// Takes a claim over whose holder is dead.
    /// - Parameter seen: The claim as it was found before, and since when.
    /// - Returns: The claim's new end; `nil`: its holder lives as far as anybody knows.
    private func takeOver(
        _ name: UpstreamSlotName, _ seen: inout (claim: Timestamp, since: ContinuousClock.Instant)?, _ now: Timestamp
    ) async throws(UpstreamError) -> Timestamp? {
        do throws(Fault) {
            guard let claim = try await store.bridgeClaim(name) else { return nil }
            guard let known = seen, known.claim == claim else {
                seen = (claim, .now)
                return nil
            }
            guard known.since.duration(to: .now) >= Self.silence else { return nil }
            let lease = max(now + Self.lease, claim + .milliseconds(1))
            return try await store.takeBridgeClaim(name, from: claim, until: lease) ? lease : nil
        } catch {
            throw .store(error)
        }
    }

    private func renew(
        _ client: UpstreamClientAt, _ credentials: BridgeCredentials, _ device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) {
        do throws(UpstreamError) {
            let received = clock.now()
            let bearer = try await line.ask(.token(credentials), bearer: nil, for: device, at: client.upstream, deadline) {
                answer throws(BridgeFailure) in try BridgeBearer(answer, now: received)
            }
            held[client.name]?.slot.issued(bearer)
            line.metrics.issuedToken(client.upstream.id)
            try await keep(client.name, credentials, bearer)
        } catch {
            guard case .failure(let failure) = error else { throw error }
            // Another copy may have registered anew.
            if failure.refusal?.code == "invalid_client", let other = try await stored(client.name), case .registered(let theirs) = other.state,
                theirs != credentials
            {
                held[client.name]?.slot = other
                return
            }
            guard var mine = held[client.name]?.slot else { throw error }
            let alarm = mine.failed(.token, failure, clock.now())
            held[client.name]?.slot = mine
            switch alarm {
            case .clientLost?: return try await lose(client)
            case let alarm?:
                let code = failure.refusal?.code ?? "bad_request"
                tell(alarm, client, UpstreamWords.refusedStatement(client.entry.statementReference, of: client.upstream.id, code))
            case nil: break
            }
            if case .wait(let wait) = mine.step(clock.now()) { throw .wait(wait) }
            throw error
        }
    }

    private func keep(_ name: UpstreamSlotName, _ credentials: BridgeCredentials, _ bearer: BridgeBearer) async throws(UpstreamError) {
        do throws(Fault) { try await store.keep(try record(name, credentials, bearer), now: clock.now()) } catch { throw .store(error) }
    }

    private func record(
        _ name: UpstreamSlotName, _ credentials: BridgeCredentials, _ bearer: BridgeBearer?
    ) throws(Fault) -> UpstreamSlotRecord {
        var record = UpstreamSlotRecord(
            name: name, clientID: credentials.clientID,
            secret: try seal.close(ProviderSecret(credentials.clientSecret), of: Self.owner(name)), scopes: credentials.scopes)
        if let bearer {
            record.bearer = try seal.close(ProviderAccessToken(bearer.token), of: Self.owner(name))
            (record.bearerEnd, record.bearerLifeSeconds) = (bearer.end, bearer.life.components.seconds)
        }
        return record
    }

    /// Ends the sign-ins of everybody whom the client had signed in.
    private func lose(_ client: UpstreamClientAt) async throws(UpstreamError) {
        let now = clock.now()
        let ended: Int
        do throws(Fault) {
            ended = try await store.dropBridgeSlot(client.name, asideUntil: now + Self.aside, now: now)
        } catch {
            // As it is in the store, it is asked about again.
            held[client.name] = nil
            throw .store(error)
        }
        line.metrics.sessionsEnded(.clientLost, client.upstream.id, ended)
        let upstream = OctetText(client.upstream.id)
        let many = losses[upstream, default: UpstreamLosses()].note(now)
        // Of many the alarm of all is enough.
        let isOneOfMany = losses[upstream]?.areMany(now) ?? false
        tell(.clientLost, client, "\(ended) sessions ended", at: isOneOfMany ? .info : .error)
        if let many {
            tell(.clientsLost, client, "\(many) clients in ten minutes are not known upstream any more; one a second is registered anew")
        }
    }

    private func tell(_ alarm: BridgeSlot.Alarm, _ client: UpstreamClientAt, _ details: String, at level: Logger.Level = .error) {
        line.metrics.noted(alarm, of: client, at: clock.now())
        logger.log(
            level: level, "\(alarm.rawValue)",
            metadata: [
                "upstream": "\(client.upstream.id)", "client": "\(client.entry.id)", "statement": "\(client.entry.statementReference)",
                "details": "\(details)",
            ])
    }
}

extension BridgeFailure {
    var refusal: BridgeRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
}
