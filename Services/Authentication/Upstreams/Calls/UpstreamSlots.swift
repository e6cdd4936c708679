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

    /// Another copy that registers the client has this long.
    private static let lease: Duration = .seconds(10)
    private static let look: Duration = .milliseconds(100)
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
            let renewed = await work(client, device, deadline)
            return (try? renewed.get()) ?? bearer
        case .register, .token: return try await work(client, device, deadline).get()
        case .wait(let wait): throw .wait(wait)
        }
    }

    /// An operator asks for another attempt with a statement that was refused.
    func forgive(_ client: UpstreamClientAt) {
        refusals[client.place] = nil
        refusals[client.refusalPlace] = nil
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

    /// A call with that bearer got 401.
    func unauthorized(_ client: UpstreamClientAt, _ bearer: BridgeBearer, isRepetition: Bool) {
        guard var mine = held[client.name]?.slot else { return }
        if let alarm = mine.unauthorized(with: bearer, isRepetition: isRepetition, clock.now()) { tell(alarm, client, "") }
        held[client.name]?.slot = mine
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
        guard let lease = try await claim(client, deadline) else { return }
        do throws(UpstreamError) {
            if let lost, clock.now() >= lost.at + Self.secondThought, try await takeBack(client, lost.credentials, device, deadline) { return }
            try await registerAnew(client, device, deadline)
        } catch {
            await release(client, lease)
            throw error
        }
    }

    /// A claim that came to nothing is not left to lapse: an operator may mend the statement at once.
    private func release(_ client: UpstreamClientAt, _ lease: Timestamp) async { try? await store.releaseBridgeSlot(client.name, until: lease) }

    private func registerAnew(_ client: UpstreamClientAt, _ device: BridgeDevice?, _ deadline: UpstreamDeadline) async throws(UpstreamError) {
        guard let statement = try await statement(client) else {
            let missing = BridgeFailure.refused(BridgeRefusal(status: 0, code: "statement_missing"))
            throw refused(client, statement: "") { slot, now in slot.failed(.register, missing, now) } ?? .failure(missing)
        }
        let credentials: BridgeCredentials
        do throws(UpstreamError) {
            credentials = try await line.ask(.register(statement: statement), bearer: nil, for: device, at: client.upstream, deadline) {
                answer throws(BridgeFailure) in try BridgeCredentials(answer)
            }
        } catch {
            guard case .failure(let failure) = error else { throw error }
            throw refused(client, statement: statement) { slot, now in slot.failed(.register, failure, now) } ?? error
        }
        if let refusal = refused(client, statement: statement, { slot, now in slot.registered(credentials, scope: client.scope, now) }) {
            throw refusal
        }
        refusals[client.refusalPlace] = nil
        try await keep(client.name, credentials, nil)
    }

    /// Takes in what came of a registration. A refusal is of the statement, and holds for all clients that share it.
    /// - Parameter change: Tells the slot; returns its alarm.
    /// - Returns: `nil` where the statement was not refused.
    private func refused(
        _ client: UpstreamClientAt, statement: String, _ change: (inout BridgeSlot, Timestamp) -> BridgeSlot.Alarm?
    ) -> UpstreamError? {
        guard var mine = held[client.name]?.slot else { return nil }
        let alarm = change(&mine, clock.now())
        defer { held[client.name]?.slot = mine }
        guard case .refused(let code, let until) = mine.state else { return nil }
        refusals[client.refusalPlace] = UpstreamRefusal(code: code, until: until, statement: SHA256.hash(statement))
        mine.forgive()
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
    /// - Returns: False where upstream does not know the client.
    private func takeBack(
        _ client: UpstreamClientAt, _ credentials: BridgeCredentials, _ device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> Bool {
        let received = clock.now()
        let bearer: BridgeBearer
        do throws(UpstreamError) {
            bearer = try await line.ask(.token(credentials), bearer: nil, for: device, at: client.upstream, deadline) {
                answer throws(BridgeFailure) in try BridgeBearer(answer, now: received)
            }
        } catch {
            guard error.refusal != nil else { throw error }
            return false
        }
        held[client.name]?.slot = BridgeSlot(client.name.isDevices ? .device : .shared, state: .registered(credentials), bearer: bearer)
        try await keep(client.name, credentials, bearer)
        logger.notice("bridge.client_returned", metadata: ["upstream": "\(client.upstream.id)", "client": "\(client.entry.id)"])
        return true
    }

    /// - Returns: The claim's end; `nil` when another copy has registered the client meanwhile: it is in memory then.
    private func claim(_ client: UpstreamClientAt, _ deadline: UpstreamDeadline) async throws(UpstreamError) -> Timestamp? {
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
            guard deadline.budget.left > Self.look else { throw .failure(.unreachable(.budgetSpent)) }
            try? await Task.sleep(for: Self.look)
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

    private func keep(_ name: UpstreamSlotName, _ credentials: BridgeCredentials, _ bearer: BridgeBearer?) async throws(UpstreamError) {
        do throws(Fault) {
            var record = UpstreamSlotRecord(
                name: name, clientID: credentials.clientID,
                secret: try seal.close(ProviderSecret(credentials.clientSecret), of: Self.owner(name)), scopes: credentials.scopes)
            if let bearer {
                record.bearer = try seal.close(ProviderAccessToken(bearer.token), of: Self.owner(name))
                (record.bearerEnd, record.bearerLifeSeconds) = (bearer.end, bearer.life.components.seconds)
            }
            try await store.keep(record, now: clock.now())
        } catch {
            throw .store(error)
        }
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

/// A client of ours at an upstream, and what serves it.
struct UpstreamClientAt: Sendable {
    private static let standardShards: UInt32 = 64
    private static let standardScope = "api:client:v2"
    private static let service = "service"
    private static let check = "check-"

    let name: UpstreamSlotName
    let upstream: BridgeUpstream
    let entry: BridgeClientEntry

    /// True when it serves no device.
    let isService: Bool
    /// True for that of an operator's check.
    private let isCheck: Bool

    var scope: String { entry.scope.isEmpty ? Self.standardScope : entry.scope }

    /// The one that serves a device.
    init(_ upstream: BridgeUpstream, _ entry: BridgeClientEntry, of device: DeviceID) {
        let digest = SHA256.hash(device.text)
        switch upstream.clientScope {
        case .device, .unrecognized: self.init(upstream, entry, Hex.encode(digest), isDevices: true)
        case .shared:
            let number = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let shard = number % (upstream.shards == 0 ? Self.standardShards : upstream.shards)
            self.init(upstream, entry, "\(shard)", isDevices: false)
        }
    }

    /// The one that serves no device.
    init(service upstream: BridgeUpstream, _ entry: BridgeClientEntry) { self.init(upstream, entry, Self.service, isDevices: false) }

    /// The one of an operator's check: another statement makes another client, so that a check tries the statement of now and leaves one client.
    init(check upstream: BridgeUpstream, _ entry: BridgeClientEntry, statement: String) {
        self.init(upstream, entry, Self.check + Hex.encode(Array(SHA256.hash(statement).prefix(8))), isDevices: false)
    }

    /// The one that a session came by, as long as the upstream's record has it.
    init?(_ slot: String, at upstream: BridgeUpstream) {
        let parts = slot.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count == 3, parts[0] == upstream.id, let entry = upstream.client(parts[1]) else { return nil }
        self.init(upstream, entry, parts[2], isDevices: parts[2].utf8.count == 64)
    }

    /// The upstream's entry: its clients share a statement.
    var place: OctetText { OctetText("\(upstream.id)/\(entry.id)") }

    /// Clients that are refused together. A check's own does not keep viewers' from being registered, and they not it.
    var refusalPlace: OctetText { isCheck ? OctetText(name.text) : place }

    private init(_ upstream: BridgeUpstream, _ entry: BridgeClientEntry, _ rest: String, isDevices: Bool) {
        (self.upstream, self.entry, isService) = (upstream, entry, rest == Self.service)
        isCheck = rest.hasPrefix(Self.check)
        name = UpstreamSlotName(text: "\(upstream.id)/\(entry.id)/\(rest)", upstream: upstream.id, entry: entry.id, isDevices: isDevices)
    }
}
