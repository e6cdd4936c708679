internal import CoreMetrics
internal import Faults
internal import Logging
internal import Synchronization

/// Keeps one application, or one requestor, from taking what belongs to the others (Shared/Documents/Decisions/0082).
///
/// Calls count when they begin. One whose credentials turn out to be bad is given back: strangers take nothing from whom they name.
final class FairShares: Sendable {
    /// 24 bytes each.
    static let bearers = 1 << 16
    /// 16 bytes each, of applications and of requestors.
    static let capacity = 1 << 14
    /// Calls of a bearer before it is worth asking whose it is. Most devices make fewer.
    static let unasked: UInt32 = 8
    /// Applications whose names are known for the log.
    private static let mostNames = 4096
    private static let logInterval: Int64 = 10_000_000_000

    /// What a call proves its sender with.
    enum Proof: Sendable {
        case nothing
        /// Whose it is only the service knows that checks it.
        case bearer(String)
        /// The public key of a pair that signs: an application's own.
        case key(String)
    }

    /// A call that has begun.
    struct Charge: Sendable {
        fileprivate let application: AddressKey?
        fileprivate let requestor: AddressKey?
        /// The bearer whose application nobody has asked for yet.
        let unknown: String?
    }

    private let applicationLimit: RequestRate.Limit?
    private let requestorLimit: RequestRate.Limit?
    private let clock: any MonotonicClock
    private let owners = AddressTable<BearerOwner>(capacity: FairShares.bearers)
    private let applications: AddressTable<RequestRate>
    private let requestors: AddressTable<RequestRate>
    private let names = Mutex<[UInt64: String]>([:])
    private let toldAt = Atomic<Int64>(.min)
    private let logger: Logger
    private let refusedApplications = Counter(label: "boxoffice_gateway_shares_refused_total", dimensions: [("share", "application")])
    private let refusedRequestors = Counter(label: "boxoffice_gateway_shares_refused_total", dimensions: [("share", "requestor")])

    /// - Parameter logger: Told every ten seconds who is refused.
    init(settings: ShareSettings, clock: any MonotonicClock, logger: Logger = Logger(label: "gateway"), capacity: Int = FairShares.capacity) {
        applicationLimit = Self.limit(settings.perApplication, settings.applicationBurst)
        requestorLimit = Self.limit(settings.perRequestor, settings.requestorBurst)
        self.clock = clock
        self.logger = logger
        applications = AddressTable(capacity: capacity)
        requestors = AddressTable(capacity: capacity)
    }

    /// False: nothing is limited.
    var isOn: Bool { applicationLimit != nil || requestorLimit != nil }

    private static func limit(_ perSecond: Int, _ burst: Int) -> RequestRate.Limit? {
        perSecond > 0 ? RequestRate.Limit(perSecond: perSecond, burst: burst) : nil
    }

    /// Counts a call.
    /// - Parameters:
    ///   - requestor: One of the catalogue's; empty: none.
    /// - Throws: `too_many_requests`; then nothing is counted.
    func begin(_ proof: Proof, requestor: String) throws(Fault) -> Charge {
        let now = clock.nanoseconds()
        var (application, unknown): (AddressKey?, String?) = (nil, nil)
        if let limit = applicationLimit {
            (application, unknown) = self.application(of: proof, now)
            if let key = application, let seconds = refusal(applications, key, limit, now) {
                refusedApplications.increment()
                tell("application", names.withLock { $0[key.digest] } ?? "", now)
                throw Self.refused(seconds)
            }
        }
        guard let limit = requestorLimit, !requestor.isEmpty else { return Charge(application: application, requestor: nil, unknown: unknown) }
        let key = AddressKey(name: requestor)
        if let seconds = refusal(requestors, key, limit, now) {
            giveBack(Charge(application: application, requestor: nil, unknown: nil))
            refusedRequestors.increment()
            tell("requestor", requestor, now)
            throw Self.refused(seconds)
        }
        return Charge(application: application, requestor: key, unknown: unknown)
    }

    private func application(of proof: Proof, _ now: Int64) -> (AddressKey?, unknown: String?) {
        switch proof {
        case .nothing: return (nil, nil)
        case .key(let key): return (AddressKey(name: key), nil)
        case .bearer(let bearer):
            let owner = owners.update(AddressKey(name: bearer), now: now) { $0.call(at: now) }
            guard owner.application == 0 else { return (AddressKey(digest: owner.application), nil) }
            return (nil, owner.calls >= Self.unasked && owner.calls.nonzeroBitCount == 1 ? bearer : nil)
        }
    }

    /// The call's credentials were bad.
    func giveBack(_ charge: Charge) {
        let now = clock.nanoseconds()
        if let key = charge.application, let limit = applicationLimit { applications.update(key, now: now) { $0.giveBack(limit) } }
        if let key = charge.requestor, let limit = requestorLimit { requestors.update(key, now: now) { $0.giveBack(limit) } }
    }

    /// Whose a bearer is, as the service says that checks it.
    func learn(_ bearer: String, of application: String) {
        guard !application.isEmpty else { return }
        let (key, now) = (AddressKey(name: application), clock.nanoseconds())
        owners.update(AddressKey(name: bearer), now: now) { $0.learn(key.digest, at: now) }
        names.withLock { names in
            if names.count >= Self.mostNames { names.removeAll() }
            names[key.digest] = application
        }
    }

    /// - Returns: Seconds to wait; `nil`: the call is counted.
    private func refusal(_ rates: AddressTable<RequestRate>, _ key: AddressKey, _ limit: RequestRate.Limit, _ now: Int64) -> Int? {
        rates.update(key, now: now) { $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) }
    }

    private static func refused(_ seconds: Int) -> Fault {
        Fault(.tooManyRequests, "More calls than this application or channel may make at a time.", retryAfter: .seconds(seconds))
    }

    private func tell(_ share: String, _ name: String, _ now: Int64) {
        let last = toldAt.load(ordering: .relaxed)
        guard last == .min || now - last >= Self.logInterval,
            toldAt.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        logger.warning("shares.refused", metadata: [share: "\(name)"])
    }
}

/// What is known of a bearer.
struct BearerOwner: AddressRecord {
    /// No access token lives longer.
    private static let memory: Int64 = 86_400_000_000_000

    private(set) var calls: UInt32 = 0
    /// Digest of the application's name; 0: nobody has asked.
    private(set) var application: UInt64 = 0
    private(set) var expires: Int64 = 0

    mutating func learn(_ application: UInt64, at now: Int64) {
        self.application = application
        expires = now + Self.memory
    }

    /// - Returns: Itself, afterwards.
    mutating func call(at now: Int64) -> BearerOwner {
        calls &+= 1
        expires = now + Self.memory
        return self
    }
}
