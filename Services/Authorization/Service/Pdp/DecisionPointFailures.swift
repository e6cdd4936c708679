internal import Clocks
internal import Contracts
internal import Faults
internal import Synchronization

/// MVPDs whose decision points have left questions without a usable answer, one after another, for operators. A usable answer, a denial too, ends the
/// series. This copy's memory has it, and nothing of a person.
final class DecisionPointFailures: Sendable {
    /// A single failure is no trouble of the decision point; MVPDs with few viewers are asked rarely.
    static let fewest: UInt32 = 3
    /// What was not asked for so long says nothing any more.
    static let remembered: Duration = .seconds(86_400)
    /// Rows of one answer.
    static let most = 100

    private struct Series {
        let endpoint: String
        var failures: UInt32
        let since: Timestamp
        var latest: Timestamp
        var code: Fault.Code
    }

    private let failing = Mutex<[OctetText: Series]>([:])

    func succeeded(_ mvpd: String) { failing.withLock { _ = $0.removeValue(forKey: OctetText(mvpd)) } }

    /// - Parameters:
    ///   - mvpd: Its id in the catalogue.
    ///   - endpoint: The URL that was asked, by which its breaker is known.
    func failed(_ mvpd: String, at endpoint: String, _ code: Fault.Code, now: Timestamp) {
        failing.withLock { failing in
            let key = OctetText(mvpd)
            guard var series = failing[key], series.endpoint == endpoint, now - series.latest < Self.remembered else {
                failing[key] = Series(endpoint: endpoint, failures: 1, since: now, latest: now, code: code)
                return
            }
            series.failures &+= 1
            (series.latest, series.code) = (now, code)
            failing[key] = series
        }
    }

    /// - Parameters:
    ///   - isKnown: False for an MVPD that the catalogue no longer has: it is forgotten.
    ///   - rests: True where the breaker of an endpoint turns questions away.
    func list(now: Timestamp, isKnown: (String) -> Bool, rests: (_ endpoint: String) -> Bool) -> FailingDecisionPoints {
        let all = failing.withLock { failing in
            failing = failing.filter { now - $0.value.latest < Self.remembered && isKnown($0.key.text) }
            return failing
        }
        let points = all.compactMap { mvpd, series -> FailingDecisionPoint? in
            let isResting = rests(series.endpoint)
            guard isResting || series.failures >= Self.fewest else { return nil }
            return FailingDecisionPoint(
                mvpd: mvpd.text, failures: series.failures, failingSinceMilliseconds: UInt64(clamping: series.since.milliseconds),
                failedAtMilliseconds: UInt64(clamping: series.latest.milliseconds), code: series.code.rawValue, isResting: isResting)
        }.sorted { ($1.failures, $0.mvpd) < ($0.failures, $1.mvpd) }
        return FailingDecisionPoints(points: Array(points.prefix(Self.most)), omitted: UInt32(clamping: max(0, points.count - Self.most)))
    }
}
