internal import AuthenticationCore
internal import BridgeClient
internal import Catalogue
internal import Clocks
internal import ContractRuntime
internal import Contracts
internal import Faults
internal import Logging
internal import Memos

/// Asks upstreams for decisions (bridge §9). Their answers are not kept here.
struct UpstreamDecisionPoint: PlayDecider {
    /// A decision may come before the profile is visible everywhere: so long after a login a "nobody is signed in" is asked again.
    private static let fresh: Duration = .seconds(10)
    private static let secondAsk: Duration = .seconds(1)
    private static let mostInFlight = 2
    private static let smallBatches: Duration = .seconds(600)

    let caller: UpstreamCaller
    let profiles: UpstreamProfiles
    let reader: UpstreamSessions
    let store: any UpstreamStore
    let sessions: SqlAuthenticationStore
    let catalogue: any CatalogueSource
    let clock: any WallClock
    let logger: Logger
    /// Upstream took a batch for too large: smaller ones for a while.
    private let limits = UpstreamMemory(BoundedCache<[OctetText], (size: Int, until: Timestamp)>(capacity: 4096))

    /// - Throws: As the contract says.
    func ask(_ request: AskUpstreamRequest) async throws(Fault) -> UpstreamDecisions {
        let call = request.call ?? DeviceCall()
        guard (1...50).contains(request.resources.count) else { throw Fault(.invalidRequest, "1 to 50 resources may be asked for.") }
        let key = SessionKey(device: DeviceID(call.deviceID), requestor: RequestorID(call.requestor))
        let id = SessionID(request.sessionID)
        guard let record = try await sessions.sessions(key).first(where: { $0.id == id }),
            let decisions = try await decide(request, about: record)
        else { throw Fault(.notFound, "The device has no such session of an upstream.") }
        return decisions
    }

    func decide(_ request: AskUpstreamRequest, about record: SessionRecord) async throws(Fault) -> UpstreamDecisions? {
        let call = request.call ?? DeviceCall()
        guard let part = try await store.bridgedPart(record.id), let upstream = try catalogue.current().upstream(part.upstream),
            let client = UpstreamClientAt(part.slot, at: upstream)
        else { return nil }
        var device = profiles.device(of: part, calling: BridgeDevice(call))
        if part.isTrial, !request.genericData.isEmpty { device.temporaryPassIdentity = try UpstreamIdentity.temporaryPass(request.genericData) }
        let question = Question(
            record: record, part: part, client: client, device: device, deadline: UpstreamDeadline(upstream.totalTimeout))
        guard !request.isPreauthorization else { return try await preauthorize(request.resources, question) }
        let decisions = try await authorize(request.resources[0], question)
        if part.isTrial { await readTrial(after: decisions, question) }
        return decisions
    }

    private struct Question: Sendable {
        let record: SessionRecord
        let part: UpstreamPart
        let client: UpstreamClientAt
        let device: BridgeDevice
        let deadline: UpstreamDeadline
    }

    // MARK: To play

    private func authorize(_ resource: String, _ question: Question) async throws(Fault) -> UpstreamDecisions {
        var decision = try await decide(resource, question)
        if let code = decision.refusedSession, clock.now() < question.record.createdAt + Self.fresh, question.deadline.budget.left > Self.secondAsk {
            logger.info("bridge.decision_repeated", metadata: ["code": "\(code)", "upstream": "\(question.part.upstream)"])
            try? await Task.sleep(for: Self.secondAsk)
            decision = try await decide(resource, question)
        }
        // Only the profile says whether somebody is signed in: it is asked for before anything else is said.
        if decision.refusedSession == nil {
            await note(decision, question)
        } else if !question.part.isShared || question.device.namesPerson {
            try await store.suspect(question.record.id)
        }
        return UpstreamDecisions(decisions: [decision])
    }

    /// A decision may change what upstream tells of the person, and its media token says by which id verifiers know them (bridge §8.2). The decision
    /// counts even when that cannot be kept.
    private func note(_ decision: UpstreamDecision, _ question: Question) async {
        if !decision.isPermitted { warn(BridgeRefusal(status: 403, code: decision.code, trace: decision.trace), question) }
        do throws(Fault) {
            if !question.part.mayHaveChanged { try await store.decided(question.part) }
            guard let id = UpstreamMediaToken(decision.mediaToken).sessionGUID, id != question.record.userID else { return }
            try await store.learn(id, of: question.part, person: profiles.person(of: question.part), now: clock.now())
        } catch {
            logger.warning("bridge.decision_not_noted", metadata: ["upstream": "\(question.part.upstream)", "reason": "\(error)"])
        }
    }

    /// An item may say what else the whole answer says: that the integration is closed.
    private func note(_ decisions: [BridgedDecision], _ question: Question) {
        for case .deny(let refusal) in decisions.map(\.outcome) {
            caller.line.note(refusal, of: question.part.integration, at: question.part.upstream)
        }
    }

    private func decide(_ resource: String, _ question: Question) async throws(Fault) -> UpstreamDecision {
        let (part, client) = (question.part, question.client)
        do throws(UpstreamError) {
            let decision = try await caller.ask(
                .authorize(part.serviceProvider, mvpd: part.theirMvpd, resource: resource), by: client, for: question.device, question.deadline
            ) { answer throws(BridgeFailure) in try BridgedDecision(answer, resource: resource) }
            note([decision], question)
            return UpstreamDecision(decision, resource: resource, now: clock.now())
        } catch {
            // A no to the whole call, whose code is one of a decision's.
            guard let refusal = error.refusal, refusal.isOfDecision else { throw fault(error, question) }
            return UpstreamDecision(refusal, resource: resource)
        }
    }

    /// A play changes what is left of a trial. A person who is told that it is over is told the same in the next call.
    private func readTrial(after decisions: UpstreamDecisions, _ question: Question) async {
        let (part, client) = (question.part, question.client)
        guard decisions.decisions.allSatisfy(\.isPermitted) else {
            _ = try? await reader.read(part, client.upstream, client, isBackground: false)
            return
        }
        Task { _ = try? await reader.read(part, client.upstream, client, isBackground: true) }
    }

    // MARK: To know beforehand

    private func preauthorize(_ resources: [String], _ question: Question) async throws(Fault) -> UpstreamDecisions {
        let place = [OctetText(question.part.upstream), OctetText(question.part.serviceProvider), OctetText(question.part.theirMvpd)]
        let now = clock.now()
        let size = limits.withLock { limits in limits[place].flatMap { now < $0.until ? $0.size : nil } } ?? PreauthorizationBatches.usual
        let batches = PreauthorizationBatches(resources, size: size).batches
        var answers: [[BridgedDecision]] = []
        var failures: [UpstreamError] = []
        await withTaskGroup(of: Result<[BridgedDecision], UpstreamError>.self) { group in
            var waiting = batches[...]
            func startNext() {
                guard let batch = waiting.popFirst() else { return }
                group.addTask { await decide(batch, question, place) }
            }
            for _ in 0..<Self.mostInFlight { startNext() }
            for await result in group {
                startNext()
                switch result {
                case .success(let decisions): answers.append(decisions)
                case .failure(let trouble): failures.append(trouble)
                }
            }
        }
        if answers.isEmpty, let failure = failures.first { throw fault(failure, question) }
        let decided = PreauthorizationBatches.merged(resources, answers.flatMap(\.self))
        let end = clock.now()
        return UpstreamDecisions(
            decisions: zip(resources, decided).compactMap { resource, decision in decision.map { UpstreamDecision($0, resource: resource, now: end) }
            },
            isPartial: decided.contains { $0 == nil })
    }

    private func decide(_ batch: [String], _ question: Question, _ place: [OctetText]) async -> Result<[BridgedDecision], UpstreamError> {
        do throws(UpstreamError) {
            return .success(try await counted(batch, question))
        } catch {
            guard let refusal = error.refusal, case .tooManyResources = BridgeMeaning(refusal),
                let half = PreauthorizationBatches.smaller(than: batch.count)
            else { return .failure(error) }
            let until = clock.now() + Self.smallBatches
            limits.withLock { $0[place] = (half, until) }
            do throws(UpstreamError) {
                var decisions: [BridgedDecision] = []
                for part in PreauthorizationBatches(batch, size: half).batches { decisions += try await counted(part, question) }
                return .success(decisions)
            } catch {
                return .failure(error)
            }
        }
    }

    private func counted(_ batch: [String], _ question: Question) async throws(UpstreamError) -> [BridgedDecision] {
        let metrics = caller.line.metrics
        do throws(UpstreamError) {
            let decisions = try await ask(batch, question)
            metrics.asked(batch: .ok, question.part.upstream)
            return decisions
        } catch {
            if let outcome = UpstreamMetrics.Outcome(error) { metrics.asked(batch: outcome, question.part.upstream) }
            throw error
        }
    }

    private func ask(_ batch: [String], _ question: Question) async throws(UpstreamError) -> [BridgedDecision] {
        let decisions = try await caller.ask(
            .preauthorize(question.part.serviceProvider, mvpd: question.part.theirMvpd, resources: batch), by: question.client, for: question.device,
            question.deadline
        ) { answer throws(BridgeFailure) in try BridgedDecision.all(answer) }
        note(decisions, question)
        // A batch that is too large may be refused item by item.
        let refusals = decisions.compactMap { decision -> BridgeRefusal? in
            guard case .deny(let refusal) = decision.outcome, case .tooManyResources = BridgeMeaning(refusal) else { return nil }
            return refusal
        }
        if let refusal = refusals.first, refusals.count == decisions.count { throw .failure(.refused(refusal)) }
        return decisions
    }

    private func fault(_ trouble: UpstreamError, _ question: Question) -> Fault {
        guard let refusal = trouble.refusal else { return trouble.fault(clock.now()) }
        warn(refusal, question)
        return refusal.decisionFault.fault
    }

    /// An operator of ours or of upstream's has something to mend.
    private func warn(_ refusal: BridgeRefusal, _ question: Question) {
        switch BridgeMeaning(refusal) {
        case .ourFault, .theirFault:
            logger.error(
                "bridge.bad_request",
                metadata: ["upstream": "\(question.part.upstream)", "code": "\(refusal.code)", "trace": "\(refusal.trace)"])
        default: break
        }
    }
}

extension BridgeRefusal {
    /// True when it says something of the person or of a resource, not of the call.
    fileprivate var isOfDecision: Bool {
        switch BridgeMeaning(self) {
        case .session, .decision, .trial: true
        case .unknown: action != "none"
        default: false
        }
    }
}

extension UpstreamDecision {
    /// - Parameter now: When upstream told it.
    init(_ decision: BridgedDecision, resource: String, now: Timestamp) {
        func kept(_ end: Timestamp?) -> UInt64 { end.map { UInt64(clamping: BridgedEnd.kept($0, now: now).milliseconds) } ?? 0 }
        switch decision.outcome {
        case .permit:
            self.init(
                resource: resource, isPermitted: true, source: decision.source, expiresAtMilliseconds: kept(decision.end),
                mediaToken: decision.token?.serialized ?? "", mediaTokenExpiresAtMilliseconds: kept(decision.token?.end))
        case .deny(let refusal):
            self.init(refusal, resource: resource)
            source = decision.source
        }
    }

    init(_ refusal: BridgeRefusal, resource: String) {
        self.init(resource: resource, code: refusal.code, action: refusal.action, details: refusal.details, trace: refusal.trace)
    }

    /// The code, where it says that nobody is signed in.
    var refusedSession: String? {
        guard !isPermitted, !code.isEmpty else { return nil }
        return BridgeRefusal(status: 403, code: code, action: action).decisionFault.makesSessionSuspect ? code : nil
    }
}

extension UpstreamDecisionPoint: CallRegistration {
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(SessionsMethods.askUpstream) { request, _ in try await ask(request) }
    }
}
