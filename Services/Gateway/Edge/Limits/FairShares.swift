internal import Clocks
internal import CoreMetrics
package import Faults
package import Logging
internal import Synchronization

/// Keeps one application, or one requestor, from taking what belongs to the others (Shared/Documents/Decisions/0082).
///
/// Only calls whose credentials hold are charged to whom they name. Until somebody knows whether they do, a call counts in one share that all such
/// calls have together. So strangers take nothing from those that they name, and the cost of checking them is bounded.
package final class FairShares: Sendable {
    /// 24 bytes each.
    static let bearers = 1 << 16
    /// 16 bytes each, of applications and of requestors.
    package static let capacity = 1 << 14
    /// Calls of a bearer before it is worth asking whose it is. Most devices make fewer.
    static let unasked: UInt32 = 8
    /// Applications whose names are known for the log.
    private static let mostNames = 4096
    private static let logInterval: Int64 = 10_000_000_000

    /// The proof of a call's sender.
    package enum Proof: Sendable {
        case nothing
        /// Only the service that checks a bearer knows its owner.
        case bearer(String)
        /// The public key of a pair that signs: an application's own. Everybody may know it, so each signature is checked anew.
        case key(String)
    }

    /// The outcome for the credentials of a call.
    enum Outcome: Sendable {
        /// The service that checks them accepted them.
        case held
        /// It refused them.
        case refused
        /// Nobody looked, or nobody could tell.
        case unknown
    }

    /// A call that has begun.
    package struct Charge: Sendable {
        /// The application that the call names.
        fileprivate let application: AddressKey?
        fileprivate let requestor: AddressKey?
        fileprivate let bearer: AddressKey?
        /// True when it is counted where the calls are that nobody has proved yet.
        let isUnverified: Bool
        /// The bearer whose application nobody has asked for yet.
        let unknown: String?
    }

    private let applicationLimit: RequestRate.Limit?
    private let requestorLimit: RequestRate.Limit?
    private let unverifiedLimit: RequestRate.Limit?
    private let clock: any MonotonicClock
    private let owners = AddressTable<BearerOwner>(capacity: FairShares.bearers)
    private let applications: AddressTable<RequestRate>
    private let requestors: AddressTable<RequestRate>
    private let unverified = Mutex(RequestRate())
    private let names = Mutex<[UInt64: String]>([:])
    private let toldAt = Atomic<Int64>(.min)
    private let logger: Logger
    private let refusedApplications = Counter(label: "boxoffice_gateway_shares_refused_total", dimensions: [("share", "application")])
    private let refusedRequestors = Counter(label: "boxoffice_gateway_shares_refused_total", dimensions: [("share", "requestor")])
    private let refusedUnverified = Counter(label: "boxoffice_gateway_shares_refused_total", dimensions: [("share", "unverified")])

    /// - Parameter logger: Told every ten seconds who is refused.
    package init(
        settings: ShareSettings, clock: any MonotonicClock, logger: Logger = Logger(label: "gateway"), capacity: Int = FairShares.capacity
    ) {
        applicationLimit = Self.limit(settings.perApplication, settings.applicationBurst)
        requestorLimit = Self.limit(settings.perRequestor, settings.requestorBurst)
        unverifiedLimit = Self.limit(settings.unverified, settings.unverifiedBurst)
        self.clock = clock
        self.logger = logger
        applications = AddressTable(capacity: capacity)
        requestors = AddressTable(capacity: capacity)
    }

    /// False: nothing is limited.
    var isOn: Bool { applicationLimit != nil || requestorLimit != nil || unverifiedLimit != nil }

    private static func limit(_ perSecond: Int, _ burst: Int) -> RequestRate.Limit? {
        perSecond > 0 ? RequestRate.Limit(perSecond: perSecond, burst: burst) : nil
    }

    /// Counts a call.
    /// - Parameters:
    ///   - requestor: One of the catalogue's; empty: none.
    /// - Returns: The charge that `end` needs when the call is over.
    /// - Throws: `too_many_requests`; then nothing is counted.
    package func begin(_ proof: Proof, requestor: String) throws(Fault) -> Charge {
        let now = clock.nanoseconds()
        var (application, bearer, unknown): (AddressKey?, AddressKey?, String?) = (nil, nil, nil)
        var isUnverified = true
        switch proof {
        case .nothing: break
        case .key(let key): application = AddressKey(name: key)
        case .bearer(let text):
            // A bearer that one requestor's calls are accepted with proves nothing for another's.
            let key = AddressKey(name: text, with: requestor)
            let owner = owners.update(key, now: now) { $0.call(at: now) }
            bearer = key
            isUnverified = !owner.holds
            if owner.application != 0 {
                application = AddressKey(digest: owner.application)
            } else if owner.calls >= Self.unasked, owner.calls.nonzeroBitCount == 1 {
                unknown = text
            }
        }
        let charge = Charge(
            application: application, requestor: requestor.isEmpty ? nil : AddressKey(name: requestor), bearer: bearer, isUnverified: isUnverified,
            unknown: unknown)
        if isUnverified { try admitUnverified(charge, requestor, now) } else { try admit(charge, requestor, now) }
        return charge
    }

    /// Charges whom a call names whose bearer has held before.
    private func admit(_ charge: Charge, _ requestor: String, _ now: Int64) throws(Fault) {
        if let key = charge.application, let limit = applicationLimit,
            let seconds = applications.update(key, now: now, { $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) })
        {
            throw refusal(ofApplication: key, seconds, now)
        }
        if let key = charge.requestor, let limit = requestorLimit,
            let seconds = requestors.update(key, now: now, { $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) })
        {
            if let key = charge.application, let limit = applicationLimit { applications.update(key, now: now) { $0.giveBack(limit) } }
            throw refusal(ofRequestor: requestor, seconds, now)
        }
    }

    /// Charges the share of those whom nobody has proved yet. Where whom they name has nothing left, they do not pass either.
    private func admitUnverified(_ charge: Charge, _ requestor: String, _ now: Int64) throws(Fault) {
        if let key = charge.application, let limit = applicationLimit,
            let seconds = applications.update(key, now: now, { $0.excess(at: now, limit) > 0 ? $0.wait(at: now, limit) : nil })
        {
            throw refusal(ofApplication: key, seconds, now)
        }
        if let key = charge.requestor, let limit = requestorLimit,
            let seconds = requestors.update(key, now: now, { $0.excess(at: now, limit) > 0 ? $0.wait(at: now, limit) : nil })
        {
            throw refusal(ofRequestor: requestor, seconds, now)
        }
        guard let limit = unverifiedLimit else { return }
        guard let seconds = unverified.withLock({ $0.admit(at: now, limit) ? nil : $0.wait(at: now, limit) }) else { return }
        refusedUnverified.increment()
        tell("unverified", "", now)
        throw Fault(.tooManyRequests, "More calls without known credentials than are checked at a time.", retryAfter: .seconds(seconds))
    }

    private func refusal(ofApplication key: AddressKey, _ seconds: Int, _ now: Int64) -> Fault {
        refusedApplications.increment()
        tell("application", names.withLock { $0[key.digest] } ?? "", now)
        return Self.refused(seconds)
    }

    private func refusal(ofRequestor requestor: String, _ seconds: Int, _ now: Int64) -> Fault {
        refusedRequestors.increment()
        tell("requestor", requestor, now)
        return Self.refused(seconds)
    }

    /// The call is over.
    /// - Parameter outcome: Credentials that hold are charged to whom they name; those that are refused charge nobody, and are strangers' from then
    ///   on.
    func end(_ charge: Charge, _ outcome: Outcome) {
        let now = clock.nanoseconds()
        switch outcome {
        case .unknown: break
        case .held:
            guard charge.isUnverified else { return }
            if let limit = unverifiedLimit { unverified.withLock { $0.giveBack(limit) } }
            if let bearer = charge.bearer { owners.update(bearer, now: now) { $0.hold(at: now) } }
            if let key = charge.application, let limit = applicationLimit { applications.update(key, now: now) { $0.charge(at: now, limit) } }
            if let key = charge.requestor, let limit = requestorLimit { requestors.update(key, now: now) { $0.charge(at: now, limit) } }
        case .refused:
            guard !charge.isUnverified else { return }
            if let bearer = charge.bearer { owners.update(bearer, now: now) { $0.forget(at: now) } }
            if let key = charge.application, let limit = applicationLimit { applications.update(key, now: now) { $0.giveBack(limit) } }
            if let key = charge.requestor, let limit = requestorLimit { requestors.update(key, now: now) { $0.giveBack(limit) } }
        }
    }

    /// Notes the owner of a bearer, as the checking service states it.
    /// - Parameter requestor: The requestor whose calls it was accepted for; empty: calls that name none.
    package func learn(_ bearer: String, for requestor: String, of application: String) {
        guard !application.isEmpty else { return }
        let (key, now) = (AddressKey(name: application), clock.nanoseconds())
        owners.update(AddressKey(name: bearer, with: requestor), now: now) { $0.learn(key.digest, at: now) }
        names.withLock { names in
            if names.count >= Self.mostNames { names.removeAll() }
            names[key.digest] = application
        }
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

/// The known facts about a bearer.
struct BearerOwner: AddressRecord {
    /// No access token lives longer.
    private static let memory: Int64 = 86_400_000_000_000
    /// The memory for a bearer that nobody has accepted: made-up bearers push out one another, and never one that holds.
    private static let shortMemory: Int64 = 60_000_000_000

    private(set) var calls: UInt32 = 0
    /// True when a service has accepted it.
    private(set) var holds = false
    /// Digest of the application's name; 0: nobody has asked.
    private(set) var application: UInt64 = 0
    private(set) var expires: Int64 = 0

    mutating func learn(_ application: UInt64, at now: Int64) {
        self.application = application
        hold(at: now)
    }

    mutating func hold(at now: Int64) {
        holds = true
        expires = now + Self.memory
    }

    mutating func forget(at now: Int64) {
        holds = false
        application = 0
        expires = now + Self.shortMemory
    }

    /// - Returns: Itself, afterwards.
    mutating func call(at now: Int64) -> BearerOwner {
        calls &+= 1
        expires = now + (holds ? Self.memory : Self.shortMemory)
        return self
    }
}
