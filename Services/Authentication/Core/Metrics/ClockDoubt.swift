internal import CoreMetrics
internal import Identifiers
package import Logging
package import SamlProfile
internal import Synchronization

/// Doubts this host's clock when several MVPDs' answers are refused for their time, all in one direction: their clocks are hardly wrong alike. For a
/// service whose database is no clock to compare with.
package final class ClockDoubt: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// An answer counts for so long, unless a later one of the same MVPD is accepted.
    package static let window: Duration = .seconds(600)
    /// MVPDs from which on the clock is doubtful.
    static let least = 3
    /// Names in a line of the log.
    private static let mostNames = 10

    private struct State {
        /// When each MVPD's latest answer was refused, by how our clock looks.
        var refused: [OwnClock: [MvpdID: Instant]] = [:]
        /// It was told last that the clock looks so at this time.
        var told: [OwnClock: Instant] = [:]
    }

    private let logger: Logger
    private let state = Mutex(State())

    package init(logger: Logger) { self.logger = logger }

    /// An answer was refused for its time. By a clock that nobody sets.
    package func refused(_ side: OwnClock, by mvpd: MvpdID, at now: Instant = .now) {
        state.withLock { $0.refused[side, default: [:]][mvpd] = now }
        look(at: now)
    }

    /// An answer of the MVPD was accepted.
    package func accepted(_ mvpd: MvpdID) {
        state.withLock { state in
            for side in OwnClock.allCases { state.refused[side]?[mvpd] = nil }
        }
    }

    /// The warning for operators; `nil`: none.
    package var doubt: String? {
        OwnClock.allCases.compactMap { side in
            let mvpds = suspects(side, at: .now)
            return mvpds.count >= Self.least ? "it looks \(side.rawValue) to \(mvpds.count) MVPDs, whose answers are refused for their time" : nil
        }.first
    }

    /// To be called now and then: what is old counts no more.
    package func look(at now: Instant = .now) {
        for side in OwnClock.allCases { look(side, at: now) }
    }

    /// Looks every 30 s whether the clock is doubtful still; until it is cancelled.
    /// - Parameter doubt: `nil`: nobody doubts here.
    package static func watch(_ doubt: ClockDoubt?) async {
        while (try? await Task.sleep(for: .seconds(30))) != nil { doubt?.look() }
    }

    private func look(_ side: OwnClock, at now: Instant) {
        let mvpds = suspects(side, at: now)
        Gauge(label: "boxoffice_authentication_clock_refused_mvpds", dimensions: [("clock", side.rawValue)]).record(mvpds.count)
        let isDoubtful = mvpds.count >= Self.least
        let (isNews, isOver) = state.withLock { state in
            let told = state.told[side]
            guard isDoubtful else {
                state.told[side] = nil
                return (false, told != nil)
            }
            if let told, told + Self.window > now { return (false, false) }
            state.told[side] = now
            return (true, false)
        }
        if isNews {
            logger.error(
                "clock.doubtful",
                metadata: [
                    "clock": "\(side.rawValue)", "count": "\(mvpds.count)", "mvpds": "\(mvpds.prefix(Self.mostNames).joined(separator: ","))",
                    "advice": "compare this host's clock with another one (chronyc tracking), and set it",
                ])
        }
        if isOver { logger.notice("clock.agrees", metadata: ["clock": "\(side.rawValue)"]) }
    }

    /// MVPDs whose latest answer within the window was refused so, by name.
    func suspects(_ side: OwnClock, at now: Instant) -> [String] {
        state.withLock { state in
            state.refused[side] = state.refused[side]?.filter { $0.value + Self.window > now }
            return state.refused[side]?.keys.map(\.text).sorted() ?? []
        }
    }
}
