internal import Clocks
internal import CoreMetrics
internal import Faults
internal import Synchronization

/// How many codes that have not ended a client, and a device, may have: what each copy has given out since it started.
///
/// Addresses are limited at the gateway, which knows whom to believe them.
final class CodeLimits: Sendable {
    /// Clients and devices that are counted at one time, of each: 64 octets.
    private static let capacity = 1 << 17

    private struct State {
        var clients: [Int: ExpiryCounts] = [:]
        var devices: [Int: ExpiryCounts] = [:]
        var nextPruning: Int64 = 0
    }

    private let perClient: Int
    private let perDevice: Int
    private let state = Mutex(State())
    private let refused = Counter(label: "boxoffice_authentication_codes_refused_total")

    init(perClient: Int, perDevice: Int) {
        self.perClient = perClient
        self.perDevice = perDevice
    }

    /// Counts a code that is about to be made.
    /// - Parameters:
    ///   - client: `nil`: one that many installations share.
    ///   - device: `nil`: one that stands for many.
    /// - Throws: `too_many_requests` naming what has too many.
    func enter(client: ClientID?, device: SessionKey?, endingAt end: Timestamp, now: Timestamp) throws(Fault) {
        let fault = state.withLock { state -> Fault? in
            Self.prune(&state, now.seconds)
            let client = client.map { Self.digest($0) }
            if let client, !Self.add(&state.clients, client, end, self.perClient, now) { return Self.tooMany("This client", self.perClient) }
            guard let device else { return nil }
            guard Self.add(&state.devices, Self.digest(device), end, self.perDevice, now) else {
                if let client { state.clients[client]?.remove(endingAt: end.seconds, now: now.seconds) }
                return Self.tooMany("This device", self.perDevice)
            }
            return nil
        }
        if let fault {
            refused.increment()
            throw fault
        }
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

    private static func prune(_ state: inout State, _ now: Int64) {
        guard now >= state.nextPruning else { return }
        let isFull = max(state.clients.count, state.devices.count) >= capacity
        state.nextPruning = now + (isFull ? 10 : 600)
        state.clients = state.clients.filter { $0.value.end > now }
        state.devices = state.devices.filter { $0.value.end > now }
    }

    /// Keyed anew in each process: nobody outside can choose names that meet.
    private static func digest(_ key: some Hashable) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        return hasher.finalize()
    }
}
