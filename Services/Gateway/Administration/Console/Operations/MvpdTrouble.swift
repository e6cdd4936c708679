internal import Contracts

/// What the latest sign-ins say of one MVPD.
struct MvpdTrouble {
    let mvpd: String
    /// Milliseconds since 1970: its oldest failure since somebody last signed in.
    let since: UInt64
    /// How many sign-ins in a row it has failed.
    let failures: Int
    /// The newest of them.
    let latest: SignInReport

    /// A page that was open too long, or sent twice.
    private static let lateReturn = "state.unknown"

    /// The MVPDs at which the latest sign-in failed, those with most failures first. A person who cancels, mistypes or comes
    /// back too late is no failure of the MVPD, and a test is none of what viewers see.
    static func found(in reports: [SignInReport]) -> [MvpdTrouble] {
        var order: [OctetText] = []
        var series: [OctetText: [SignInReport]] = [:]
        for report in reports
        where !report.mvpd.isEmpty && !report.isTest && report.result != .declined && report.result != .silent && report.reason != lateReturn {
            let key = OctetText(report.mvpd)
            if series[key] == nil { order.append(key) }
            series[key, default: []].append(report)
        }
        let found = order.compactMap { key -> MvpdTrouble? in
            let failures = (series[key] ?? []).prefix { $0.result == .rejected }
            guard let newest = failures.first, let oldest = failures.last else { return nil }
            return MvpdTrouble(mvpd: newest.mvpd, since: oldest.endedAtMilliseconds, failures: failures.count, latest: newest)
        }
        return found.sorted { ($1.failures, $0.since) < ($0.failures, $1.since) }
    }
}
