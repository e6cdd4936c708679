internal import CoreMetrics
internal import Faults
internal import Glibc
internal import NIOCore
internal import Synchronization

/// Refuses calls that a service would refuse, without asking it. A refusal from behind costs several times as much as one from here, and delays the
/// others.
///
/// By requestor, as what a service has no room for hangs on what a requestor chose. Only some calls of each kind are refused here. So the service
/// gets a little more than it takes up, and its recovery shows (Beyer and others, Site Reliability Engineering, 2016, chapter 21).
final class Backpressure: Sendable {
    /// Requestors that are remembered; nothing is refused to others.
    private static let mostRequestors = 1024

    private let pressures = Mutex<[String: CallPressure]>([:])
    private let refused = Counter(label: "boxoffice_gateway_backpressure_refused_total")
    private let now: @Sendable () -> Int64
    private let draw: @Sendable () -> Double

    /// - Parameters:
    ///   - now: Steady time in nanoseconds.
    ///   - draw: 0 up to, and not including, 1.
    init(
        now: @escaping @Sendable () -> Int64 = { Int64(truncatingIfNeeded: NIODeadline.now().uptimeNanoseconds) },
        draw: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
    ) {
        self.now = now
        self.draw = draw
    }

    /// Makes a call, or refuses it.
    /// - Parameter requestor: One of the catalogue's.
    /// - Throws: `overloaded` in place of the call; what the call throws.
    func passing<Answer: Sendable>(_ requestor: String, _ call: () async throws -> Answer) async throws -> Answer {
        let moment = now()
        guard pressures.withLock({ $0[requestor]?.admits(at: moment, draw: draw()) ?? true }) else {
            refused.increment()
            throw Fault(.overloaded, "The service is temporarily unavailable.", retryAfter: .milliseconds(500))
        }
        do {
            let answer = try await call()
            note(requestor, isRefused: false)
            return answer
        } catch {
            note(requestor, isRefused: (error as? Fault)?.code == .overloaded)
            throw error
        }
    }

    /// Only a refusal makes a requestor worth remembering.
    private func note(_ requestor: String, isRefused: Bool) {
        let moment = now()
        pressures.withLock { pressures in
            guard isRefused || pressures[requestor] != nil else { return }
            if pressures[requestor] == nil, pressures.count >= Self.mostRequestors { pressures.removeAll() }
            pressures[requestor, default: CallPressure(at: moment)].note(isRefused: isRefused, at: moment)
        }
    }
}

/// The results of the latest calls to a service, as a pure state machine over time. Older ones count less: half after `halfLife`.
struct CallPressure {
    /// Calls that a service is asked for, by those that it takes up.
    static let excess = 1.25
    /// Some calls get through however many were refused.
    static let leastAdmitted = 0.05
    /// In nanoseconds.
    static let halfLife: Int64 = 100_000_000

    private var wanted = 0.0
    private var takenUp = 0.0
    private var at: Int64

    /// - Parameter moment: Steady time in nanoseconds.
    init(at moment: Int64) { at = moment }

    /// A call is wanted.
    /// - Parameter draw: Decides, 0..<1: calls are refused with a probability.
    mutating func admits(at moment: Int64, draw: Double) -> Bool {
        fade(moment)
        let refusing = min(1 - Self.leastAdmitted, max(0, (wanted - Self.excess * takenUp) / (wanted + 1)))
        guard draw < refusing else { return true }
        wanted += 1
        return false
    }

    /// A call that was admitted has ended. It counts now, so that calls under way are not taken for refused ones.
    mutating func note(isRefused: Bool, at moment: Int64) {
        fade(moment)
        wanted += 1
        if !isRefused { takenUp += 1 }
    }

    private mutating func fade(_ moment: Int64) {
        guard moment > at else { return }
        let part = exp2(-Double(moment - at) / Double(Self.halfLife))
        wanted *= part
        takenUp *= part
        at = moment
    }
}
