internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import OutboundHttp

/// Carries calls to upstreams: breaker, limits, the device's budget, and one repetition where it can do no harm (bridge §5.2 to §5.4).
struct UpstreamConnection: Sendable {
    /// Longest wait for the budget of a device that somebody sits before.
    private static let longestWait: Duration = .seconds(1)
    /// How long probes of an upstream that may be back take, about.
    private static let probing: Duration = .seconds(1)

    let transport: any OutboundTransport
    let routes: UpstreamRoutes
    let clock: any WallClock
    let logger: Logger
    /// This cluster's name on the way to another.
    let via: BridgeVia
    let breakers = CircuitBreakers()
    let underWay = CallsInFlight()
    let clocks = UpstreamClocks()
    let suspensions = UpstreamSuspensions()
    private let oddities = UpstreamOddities()
    let metrics: UpstreamMetrics
    private let budgets = UpstreamBudgets()
    /// By upstream.
    private let paces = UpstreamMemory([OctetText: UpstreamPace]())
    private let health = UpstreamMemory(Health())

    /// The upstreams that failed, and those among them that have answered since.
    private struct Health: Sendable {
        var failing: Set<OctetText> = []
        var recovered: Set<OctetText> = []
    }

    init(
        transport: any OutboundTransport, routes: UpstreamRoutes = UpstreamRoutes(), via: BridgeVia, clock: any WallClock,
        metrics: UpstreamMetrics = UpstreamMetrics(), logger: Logger
    ) {
        self.transport = transport
        self.routes = routes
        self.metrics = metrics
        self.via = via
        self.clock = clock
        self.logger = logger
    }

    /// How an upstream's calls fail together.
    static func breaker(_ upstream: String, _ group: BridgeOperation.Group) -> String { "\(upstream)/\(group.rawValue)" }

    /// - Parameters:
    ///   - bearer: `nil` for register and token.
    ///   - device: The device that the call is for; `nil`: no device.
    ///   - read: Makes of a whole answer what it means.
    func ask<Value: Sendable>(
        _ call: BridgeCall, bearer: String?, for device: BridgeDevice?, at upstream: BridgeUpstream, _ deadline: UpstreamDeadline,
        _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async throws(UpstreamError) -> Value {
        try await waitForRoom(device, upstream, deadline)
        do throws(UpstreamError) {
            return try await attempt(call, bearer, device, upstream, deadline, read)
        } catch {
            guard case .failure(let failure) = error, let pause = pause(before: call.operation, after: failure, device, upstream, deadline) else {
                throw error
            }
            try? await Task.sleep(for: pause)
            return try await attempt(call, bearer, device, upstream, deadline, read)
        }
    }

    /// - Returns: How long to wait before the same call once more; `nil`: it is not made again.
    private func pause(
        before operation: BridgeOperation, after failure: BridgeFailure, _ device: BridgeDevice?, _ upstream: BridgeUpstream,
        _ deadline: UpstreamDeadline
    ) -> Duration? {
        let jitter: Duration
        switch failure {
        case .throttled(let rest):
            budgets.throttled(rest, device, upstream, now: clock.now())
            noteThrottling(device, upstream)
            guard !deadline.isBackground else { return nil }
            jitter = rest + .milliseconds(Int64.random(in: 0...300))
        default:
            guard operation.mayRepeat(after: failure) else { return nil }
            jitter = .milliseconds(Int64.random(in: 50...250))
        }
        return jitter < deadline.budget.left ? jitter : nil
    }

    private func note(_ outcome: CircuitBreaker.Outcome, _ upstream: BridgeUpstream) {
        let id = OctetText(upstream.id)
        health.withLock { health in
            switch outcome {
            case .failure: health.failing.insert(id)
            case .success: if health.failing.remove(id) != nil { health.recovered.insert(id) }
            case .abandoned: break
            }
        }
    }

    /// Upstreams that answer again since the last time that somebody asked.
    func takeRecovered() -> Set<OctetText> {
        health.withLock { health in
            defer { health.recovered = [] }
            return health.recovered
        }
    }

    func isSuspended(_ integration: BridgeCall.Integration, at upstream: String) -> Bool {
        !suspensions.isEmpty && suspensions.holds(UpstreamSuspensions.Place(upstream, integration), now: clock.now())
    }

    /// Takes in a no that may be about an integration, of a whole call or of one item.
    func note(_ refusal: BridgeRefusal, of integration: BridgeCall.Integration, at upstream: String) {
        guard case .noIntegration = BridgeMeaning(refusal), suspensions.suspend(UpstreamSuspensions.Place(upstream, integration), now: clock.now())
        else { return }
        logger.warning(
            "bridge.integration_suspended",
            metadata: [
                "upstream": "\(upstream)", "service_provider": "\(integration.serviceProvider)", "mvpd": "\(integration.mvpd)",
                "code": "\(refusal.code)", "seconds": "\(UpstreamSuspensions.span.components.seconds)",
            ])
    }

    /// Every device has a budget of its own upstream, as long as upstream believes our `X-Forwarded-For`.
    private func noteThrottling(_ device: BridgeDevice?, _ upstream: BridgeUpstream) {
        guard let device, PublicAddress.contains(device.address) else { return }
        let now = clock.now()
        let isOne = paces.withLock { paces in
            var pace = paces[OctetText(upstream.id)] ?? UpstreamPace(perSecond: upstream.perSecond, now)
            defer { paces[OctetText(upstream.id)] = pace }
            return pace.throttled(device.address, now)
        }
        guard isOne else { return }
        logger.error("bridge.throttled_as_one", metadata: ["upstream": "\(upstream.id)"])
    }

    private func isInPace(_ upstream: BridgeUpstream) -> Bool {
        let now = clock.now()
        return paces.withLock { paces in
            var pace = paces[OctetText(upstream.id)] ?? UpstreamPace(perSecond: upstream.perSecond, now)
            defer { paces[OctetText(upstream.id)] = pace }
            return pace.take(perSecond: upstream.perSecond, now)
        }
    }

    private func waitForRoom(_ device: BridgeDevice?, _ upstream: BridgeUpstream, _ deadline: UpstreamDeadline) async throws(UpstreamError) {
        guard let wait = budgets.take(device, upstream, now: clock.now()) else { return }
        guard !deadline.isBackground, wait <= Self.longestWait, wait < deadline.budget.left else {
            metrics.throttled(upstream.id)
            throw .failure(.throttled(retryAfter: wait))
        }
        try? await Task.sleep(for: wait)
        guard let rest = budgets.take(device, upstream, now: clock.now()) else { return }
        metrics.throttled(upstream.id)
        throw .failure(.throttled(retryAfter: rest))
    }

    private func attempt<Value: Sendable>(
        _ call: BridgeCall, _ bearer: String?, _ device: BridgeDevice?, _ upstream: BridgeUpstream, _ deadline: UpstreamDeadline,
        _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async throws(UpstreamError) -> Value {
        let group = Self.breaker(upstream.id, call.operation.group)
        let permission = breakers.ask(group, now: clock.now())
        guard permission != .refused else {
            tell(upstream, call.operation, .open, nil)
            UpstreamJourney.note(call.operation, .failure(.unreachable(.notSent)), nil, .zero, isBreakerOpen: true)
            let now = clock.now()
            throw .resting(until: now + (breakers.rest(group, now: now) ?? Self.probing))
        }
        guard isInPace(upstream), underWay.enter(upstream.id, limit: upstream.mostInFlight) else {
            breakers.record(.abandoned, group, permission: permission, now: clock.now())
            metrics.throttled(upstream.id)
            throw .busy
        }
        let start = ContinuousClock.now
        let result: Result<Value, BridgeFailure>
        var told: OutboundAnswer?
        do throws(BridgeFailure) {
            let answer = try await send(call, bearer, device, upstream, deadline)
            told = answer
            let offset = clocks.offset(answer, upstream.id, now: clock.now(), logger)
            let value = try read(answer)
            let timed = offset == .zero ? nil : (value as? any UpstreamTimed)?.earlier(by: offset) as? Value
            result = .success(timed ?? value)
            if let profiles = value as? [BridgedProfile] {
                UpstreamJourney.note(profiles)
                oddities.note(profiles, of: upstream.id, now: clock.now(), logger)
            }
        } catch {
            result = .failure(error)
            oddities.note(error, call.operation, of: upstream.id, now: clock.now(), logger)
        }
        underWay.leave(upstream.id)
        breakers.record(Self.outcome(result), group, permission: permission, now: clock.now())
        note(Self.outcome(result), upstream)
        let time = start.duration(to: .now)
        tell(upstream, call.operation, UpstreamMetrics.Outcome(result), time)
        UpstreamJourney.note(call.operation, result.map { _ in }, told, time)
        do { return try result.get() } catch { throw .failure(error) }
    }

    private func send(
        _ call: BridgeCall, _ bearer: String?, _ device: BridgeDevice?, _ upstream: BridgeUpstream, _ deadline: UpstreamDeadline
    ) async throws(BridgeFailure) -> OutboundAnswer {
        let limit = upstream.timeout(call.operation.timeLimit)
        let request = request(call, bearer, device, upstream)
        let answer: OutboundAnswer
        do throws(OutboundFailure) {
            let route = try routes.route(
                to: upstream, peer: "upstream \(upstream.id)", responseTimeout: limit, connections: upstream.connections)
            answer = try await transport.send(request, by: route, timeLeft: min(limit, deadline.budget.left))
        } catch {
            tell(error, of: upstream)
            throw .unreachable(error.kind)
        }
        guard answer.body.count <= upstream.largestAnswer(call.operation) else { throw .unusable("the body is larger than the limit") }
        return answer
    }

    /// As it goes out; another Boxoffice also hears who we are (bridge §14.3).
    func request(_ call: BridgeCall, _ bearer: String?, _ device: BridgeDevice?, _ upstream: BridgeUpstream) -> OutboundRequest {
        let origin = call.operation == .reset ? upstream.management?.baseURL ?? upstream.baseURL : upstream.baseURL
        var request = call.request(to: origin, bearer: bearer, device: device, form: upstream.deviceForm)
        if upstream.kind == .boxoffice { request.headers.append(("Via", via.header)) }
        return request
    }

    private func tell(_ failure: OutboundFailure, of upstream: BridgeUpstream) {
        let metadata: Logger.Metadata = ["upstream": "\(upstream.id)", "details": "\(failure.cause)"]
        if failure.kind == .refusedAddress { return logger.error("bridge.private_address", metadata: metadata) }
        if failure.kind == .noCertificate { return UpstreamRoutes.tellMissing(failure, of: upstream, logger) }
        logger.debug("bridge.not_reached", metadata: metadata)
    }

    private static func outcome(_ result: Result<some Any, BridgeFailure>) -> CircuitBreaker.Outcome {
        switch result {
        case .success: .success
        case .failure(.unreachable(.cancelled)): .abandoned
        case .failure(let failure): failure.isOutage ? .failure : .success
        }
    }

    /// - Parameters:
    ///   - outcome: `nil`: the caller gave up.
    ///   - time: `nil`: the call was not made.
    private func tell(_ upstream: BridgeUpstream, _ operation: BridgeOperation, _ outcome: UpstreamMetrics.Outcome?, _ time: Duration?) {
        if let outcome { metrics.called(operation, outcome, upstream.id, after: time) }
        logger.debug(
            "bridge.call",
            metadata: [
                "upstream": "\(upstream.id)", "operation": "\(operation.rawValue)", "outcome": "\(outcome?.rawValue ?? "cancelled")",
                "ms": "\((time ?? .zero).wholeMilliseconds)",
            ])
    }
}
