internal import AuthenticationCore
internal import BridgeClient
internal import Clocks
internal import Contracts
internal import Faults
internal import Logging
internal import Memos
internal import OutboundHttp
internal import Synchronization

/// The bridge's alarms for operators, by upstream, as they go to the log: the latest of each kind.
final class UpstreamAlarms: Sendable {
    private struct Kind {
        var at: Timestamp
        var count: UInt32
        var details: String
    }

    private static let mostUpstreams = 1024
    private static let mostKinds = 64
    private static let longestDetails = 512
    private static let prefix = "bridge."

    private let clock: any WallClock
    private let known = Mutex<[OctetText: [OctetText: Kind]]>([:])

    init(clock: any WallClock) { self.clock = clock }

    /// The same log, whose alarms are remembered here.
    func watching(_ logger: Logger) -> Logger {
        var watched = logger
        watched.handler = Watch(inner: logger.handler, alarms: self)
        return watched
    }

    /// The newest first.
    func of(_ upstream: String) -> [UpstreamAlarm] {
        let kinds = known.withLock { $0[OctetText(upstream)] ?? [:] }
        return kinds.sorted { ($1.value.at, $0.key.text) < ($0.value.at, $1.key.text) }.map { event, kind in
            UpstreamAlarm(event: event.text, atMilliseconds: UInt64(clamping: kind.at.milliseconds), count: kind.count, details: kind.details)
        }
    }

    private func note(_ event: String, _ metadata: Logger.Metadata) {
        guard event.hasPrefix(Self.prefix), let upstream = metadata["upstream"]?.description else { return }
        let said = ["statement", "code", "details"].compactMap { name in metadata[name]?.description }.filter { !$0.isEmpty }.joined(separator: ", ")
        let details = String(decoding: said.utf8.prefix(Self.longestDetails), as: UTF8.self)
        let now = clock.now()
        known.withLock { known in
            let key = OctetText(upstream)
            guard known[key] != nil || known.count < Self.mostUpstreams else { return }
            var kinds = known[key] ?? [:]
            let count = kinds[OctetText(event)]?.count ?? 0
            guard count > 0 || kinds.count < Self.mostKinds else { return }
            kinds[OctetText(event)] = Kind(at: now, count: count < .max ? count + 1 : count, details: details)
            known[key] = kinds
        }
    }

    /// Lets errors pass, and tells of them.
    private struct Watch: LogHandler {
        var inner: any LogHandler
        let alarms: UpstreamAlarms

        var metadata: Logger.Metadata {
            get { inner.metadata }
            set { inner.metadata = newValue }
        }

        var logLevel: Logger.Level {
            get { inner.logLevel }
            set { inner.logLevel = newValue }
        }

        var metadataProvider: Logger.MetadataProvider? {
            get { inner.metadataProvider }
            set { inner.metadataProvider = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { inner[metadataKey: key] }
            set { inner[metadataKey: key] = newValue }
        }

        func log(event: LogEvent) {
            if event.level >= .error { alarms.note(event.message.description, event.metadata ?? [:]) }
            inner.log(event: event)
        }
    }
}

/// Makes a call with a bearer that holds: one that upstream does not take is renewed, and the call made once more (bridge §4.2). No call is made where
/// upstream has closed the integration.
struct UpstreamCaller: Sendable {
    let line: UpstreamConnection
    let slots: UpstreamSlots

    func ask<Value: Sendable>(
        _ call: BridgeCall, by client: UpstreamClientAt, for device: BridgeDevice?, _ deadline: UpstreamDeadline,
        _ read: (OutboundAnswer) throws(BridgeFailure) -> Value
    ) async throws(UpstreamError) -> Value {
        if let integration = call.integration, line.isSuspended(integration, at: client.upstream.id) { throw integration.refusal }
        var isRepetition = false
        while true {
            let bearer = try await bearer(client, call.serviceProvider, for: device, deadline)
            do throws(UpstreamError) {
                return try await line.ask(call, bearer: bearer.token, for: device, at: client.upstream, deadline, read)
            } catch {
                switch error {
                case .failure(.unauthorized):
                    await slots.unauthorized(client, call.serviceProvider, bearer, isRepetition: isRepetition)
                    if isRepetition { throw error }
                    isRepetition = true
                case .failure(.refused(let refusal)) where refusal.code == "invalid_client": throw try await slots.clientRefused(client)
                case .failure(.refused(let refusal)):
                    if let integration = call.integration { line.note(refusal, of: integration, at: client.upstream.id) }
                    throw error
                default: throw error
                }
            }
        }
    }

    /// A refusal of our client says nothing of the person: whoever waits hears that upstream cannot be asked (bridge §12.2).
    private func bearer(
        _ client: UpstreamClientAt, _ serviceProvider: String, for device: BridgeDevice?, _ deadline: UpstreamDeadline
    ) async throws(UpstreamError) -> BridgeBearer {
        if let wait = await slots.wait(client, for: serviceProvider), case .accessRefused = wait { throw .wait(wait) }
        do throws(UpstreamError) {
            return try await slots.bearer(client, for: device, deadline)
        } catch {
            guard let refusal = error.refusal else { throw error }
            throw await slots.wait(client, for: serviceProvider).map { .wait($0) } ?? .failure(.serverError(refusal.status))
        }
    }
}

/// The knowledge that a part of the bridge keeps beside the store. All holders of a copy of the part share it.
final class UpstreamMemory<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: sending Value) { mutex = Mutex(value) }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}

/// The calls that upstream still takes from each client address, as far as this copy knows (bridge §5.4).
final class UpstreamBudgets: Sendable {
    private struct Key: Hashable {
        let upstream: OctetText
        let address: OctetText
    }

    private let budgets = Mutex(BoundedCache<Key, DeviceBudget>(capacity: 65_536))

    /// Takes one call.
    /// - Returns: `nil` when it may go out, else how long to wait for it.
    func take(_ device: BridgeDevice?, _ upstream: BridgeUpstream, now: Timestamp) -> Duration? {
        guard let key = Self.key(device, upstream) else { return nil }
        return budgets.withLock { budgets in
            var budget = budgets[key] ?? Self.fresh(upstream, now)
            defer { budgets[key] = budget }
            return budget.take(now)
        }
    }

    /// Upstream answered 429.
    func throttled(_ pause: Duration, _ device: BridgeDevice?, _ upstream: BridgeUpstream, now: Timestamp) {
        guard let key = Self.key(device, upstream) else { return }
        budgets.withLock { budgets in
            var budget = budgets[key] ?? Self.fresh(upstream, now)
            budget.throttled(pause, now)
            budgets[key] = budget
        }
    }

    private static func fresh(_ upstream: BridgeUpstream, _ now: Timestamp) -> DeviceBudget {
        DeviceBudget(perSecond: upstream.devicePerSecond, burst: upstream.deviceBurst, now)
    }

    /// A device whose address upstream is not told has no budget of its own there.
    private static func key(_ device: BridgeDevice?, _ upstream: BridgeUpstream) -> Key? {
        guard let device, PublicAddress.contains(device.address) else { return nil }
        return Key(upstream: OctetText(upstream.id), address: OctetText(device.address))
    }
}

/// The calls a second that go to one upstream, and the knowledge whether it throttles us as if all devices were one (bridge §5.3, §5.4). A copy knows
/// its own calls only.
struct UpstreamPace: Sendable {
    /// So many addresses that are throttled within so long are no accident: upstream counts them as one.
    private static let mostThrottled = 20
    private static let throttledWindow: Duration = .seconds(10)
    /// The share that the pace wins back after it was halved.
    private static let recovery = 0.05
    private static let slowest = 1.0

    private var level: Double
    private var share = 1.0
    private var last: Timestamp
    private var throttled: [OctetText: Timestamp] = [:]

    /// - Parameter perSecond: The limit of the upstream's record; at least 1.
    init(perSecond: Int, _ now: Timestamp) {
        level = Double(perSecond)
        last = now
    }

    /// Takes one call.
    /// - Returns: False when this second's are gone.
    mutating func take(perSecond: Int, _ now: Timestamp) -> Bool {
        let passed = Double(max(0, (now - last).wholeMilliseconds)) / 1000
        last = max(last, now)
        share = min(1, share + passed / 10 * Self.recovery)
        let pace = max(Self.slowest, Double(perSecond) * share)
        level = min(pace, level + passed * pace)
        guard level >= 1 else { return false }
        level -= 1
        return true
    }

    /// Upstream answered 429 for that address.
    /// - Returns: True when it does so for too many at once: the pace is halved.
    mutating func throttled(_ address: String, _ now: Timestamp) -> Bool {
        throttled = throttled.filter { now < $0.value + Self.throttledWindow && now >= $0.value }
        throttled[OctetText(address)] = now
        guard throttled.count > Self.mostThrottled else { return false }
        throttled = [:]
        share = max(share / 2, 0.001)
        return true
    }
}

/// Why a call that needs an upstream brought nothing.
enum UpstreamError: Error {
    case failure(BridgeFailure)
    case wait(BridgeSlot.Wait)
    /// It failed so often that it is not asked before that moment.
    case resting(until: Timestamp)
    /// As many calls are under way as may be.
    case busy
    /// Upstream knows our client no more: whoever was signed in by it is not any more.
    case clientLost
    /// A fault of our own store.
    case store(Fault)

    /// The fault that an app receives. Never 401 or 403: apps throw tokens away on those (bridge §12.2).
    func fault(_ now: Timestamp) -> Fault {
        switch self {
        case .failure(let failure): failure.fault(wait: Self.pause + Self.jitter)
        case .resting(let until):
            Fault(.upstreamUnavailable, "The upstream service cannot answer now.", retryAfter: max(until - now, .zero) + Self.jitter)
        case .wait(.clientsLost(let until)):
            Fault(.upstreamUnavailable, "The upstream service has lost its records of this cluster.", retryAfter: until - now)
        case .wait(.statementRefused(_, let until)):
            Fault(.upstreamUnavailable, "The upstream service refuses the software statement.", retryAfter: until - now)
        case .wait(.clientDoubted(let until)), .wait(.accessRefused(let until)):
            Fault(.upstreamUnavailable, "The upstream service refuses this cluster.", retryAfter: until - now)
        case .busy: Fault(.upstreamUnavailable, "Too many calls wait for the upstream service.", retryAfter: .seconds(1))
        case .clientLost: Fault(.authenticationSessionInvalidated, "The viewer is not signed in at the provider any more.")
        case .store(let fault): fault
        }
    }

    /// How long an app waits for an upstream that is away, and some more, so that not all come at once (bridge §12.2).
    private static let pause: Duration = .seconds(5)
    private static var jitter: Duration { .milliseconds(Int64.random(in: 0...5000)) }

    /// Upstream's refusal, where it answered.
    var refusal: BridgeRefusal? {
        if case .failure(.refused(let refusal)) = self { refusal } else { nil }
    }
}

/// How long a call may wait.
struct UpstreamDeadline: Sendable {
    let budget: CallBudget
    /// Nobody waits for it: it gives way to calls that somebody waits for.
    var isBackground = false

    init(_ span: Duration, isBackground: Bool = false) {
        budget = CallBudget(span)
        self.isBackground = isBackground
    }
}
