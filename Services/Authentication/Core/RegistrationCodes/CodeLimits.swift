package import Clocks
internal import CoreMetrics
package import Faults
internal import Synchronization

/// Limits the codes that have not ended of a client and of a device: the codes that each copy has given out since it started.
///
/// Addresses are limited at the gateway, which knows whom to believe them.
package final class CodeLimits: Sendable {
    /// Clients and devices that are counted at one time, and plans that are remembered, of each: 64 octets.
    private static let capacity = 1 << 17

    private struct State {
        var clients: [Int: ExpiryCounts] = [:]
        var devices: [Int: ExpiryCounts] = [:]
        /// When the last plan of a client's device ends by itself, in seconds.
        var plans: [Int: Int64] = [:]
        var nextPruning: Int64 = 0
    }

    /// The owner of a plan: the owner's next plan ends it (rest-v2 D7).
    package struct PlanOwner: Hashable, Sendable {
        package let client: ClientID
        package let key: SessionKey
    }

    private let perClient: Int
    private let perDevice: Int
    private let state = Mutex(State())
    private let refused = Counter(label: "boxoffice_authentication_codes_refused_total")

    package init(perClient: Int, perDevice: Int) {
        self.perClient = perClient
        self.perDevice = perDevice
    }

    /// Counts a code that is about to be made.
    /// - Parameters:
    ///   - client: `nil`: one that many installations share.
    ///   - device: `nil`: one that stands for many.
    ///   - plan: The owner of the plan that the code is, which takes the place of the one before; `nil`: it is none.
    /// - Returns: When the plan before would have ended, as far as it is known here.
    /// - Throws: `too_many_requests` naming what has too many.
    @discardableResult
    package func enter(client: ClientID?, device: SessionKey?, plan: PlanOwner? = nil, endingAt end: Timestamp, now: Timestamp) throws(Fault)
        -> Timestamp?
    {
        let (fault, former) = state.withLock { state -> (Fault?, Int64?) in
            Self.prune(&state, now.seconds)
            let (client, device, plan) = (client.map { Self.digest($0) }, device.map { Self.digest($0) }, plan.map { Self.digest($0) })
            let former = plan.flatMap { state.plans.removeValue(forKey: $0) }
            if let former { Self.leave(&state, client, device, former, now.seconds) }
            if let client, !Self.add(&state.clients, client, end, self.perClient, now) {
                return (Self.tooMany("This client", self.perClient), nil)
            }
            if let device, !Self.add(&state.devices, device, end, self.perDevice, now) {
                Self.leave(&state, client, nil, end.seconds, now.seconds)
                return (Self.tooMany("This device", self.perDevice), nil)
            }
            if let plan, state.plans.count < Self.capacity { state.plans[plan] = end.seconds }
            return (nil, former)
        }
        if let fault {
            refused.increment()
            throw fault
        }
        return former.map { Timestamp(seconds: $0) }
    }

    private static func tooMany(_ owner: String, _ limit: Int) -> Fault {
        Fault(.tooManyRequests, "\(owner) has \(limit) registration codes that have not ended; use or await those.", retryAfter: .seconds(60))
    }

    /// A flood of new names finds no room, and is not counted: what is counted already stays.
    private static func add(_ counts: inout [Int: ExpiryCounts], _ key: Int, _ end: Timestamp, _ limit: Int, _ now: Timestamp) -> Bool {
        if counts[key] == nil {
            guard counts.count < capacity else { return true }
            counts[key] = ExpiryCounts()
        }
        return counts[key]?.add(endingAt: end.seconds, limit: limit, now: now.seconds) ?? true
    }

    /// Counts no longer what would have ended then.
    private static func leave(_ state: inout State, _ client: Int?, _ device: Int?, _ end: Int64, _ now: Int64) {
        if let client { state.clients[client]?.remove(endingAt: end, now: now) }
        if let device { state.devices[device]?.remove(endingAt: end, now: now) }
    }

    private static func prune(_ state: inout State, _ now: Int64) {
        guard now >= state.nextPruning else { return }
        let isFull = max(state.clients.count, state.devices.count, state.plans.count) >= capacity
        state.nextPruning = now + (isFull ? 10 : 600)
        state.clients = state.clients.filter { $0.value.end > now }
        state.devices = state.devices.filter { $0.value.end > now }
        state.plans = state.plans.filter { $0.value > now }
    }

    /// Keyed anew in each process: nobody outside can choose names that meet.
    private static func digest(_ key: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        return hasher.finalize()
    }
}
