internal import Clocks
internal import Contracts
internal import Faults

/// Cuts off an app that asks again and again after a denial (rest-v1 §3.14, mvpd §4.3). Five denials in 10 s block the device at the requestor for
/// the resource for 10 s. Meanwhile the last denial is repeated without asking the MVPD. A clock that is set back does not prolong that.
struct DenialLimiter: Sendable {
    static let threshold = 5
    static let window: Duration = .seconds(10)
    static let blockade: Duration = .seconds(10)

    struct Subject: Hashable, Sendable {
        let device: String
        let requestor: String
        /// Its digest: resources may be long.
        let resource: String
    }

    private struct Record {
        var denials: [(at: Timestamp, attempt: String?)] = []
        var blockedUntil: Timestamp?
        var last: Denial
    }

    /// Subjects remembered at once; beyond it new ones are not limited until old ones are over.
    private let limit: Int
    private var records: [Subject: Record] = [:]
    private var nextPruning = Timestamp(milliseconds: 0)

    init(limit: Int = 20_000) { self.limit = limit }

    /// The denial to repeat, when the subject is blocked.
    func blocked(_ subject: Subject, now: Timestamp) -> Denial? {
        guard let record = records[subject], let end = record.blockedUntil, Self.isAhead(end, now) else { return nil }
        return record.last
    }

    private static func isAhead(_ end: Timestamp, _ now: Timestamp) -> Bool { now < end && end - now <= blockade }

    private static func isRecent(_ moment: Timestamp, _ now: Timestamp) -> Bool { moment <= now && now - moment < window }

    /// Counts an MVPD's denial.
    /// - Parameter attempt: The call's idempotency key: its repetitions count once.
    mutating func record(_ denial: Denial, for subject: Subject, attempt: String? = nil, now: Timestamp) {
        prune(now)
        guard records[subject] != nil || records.count < limit else { return }
        var record = records[subject] ?? Record(last: denial)
        record.last = denial
        record.denials.removeAll { !Self.isRecent($0.at, now) }
        if attempt == nil || !record.denials.contains(where: { $0.attempt == attempt }) { record.denials.append((now, attempt)) }
        if record.denials.count >= Self.threshold {
            record.blockedUntil = now + Self.blockade
            record.denials = []
        }
        records[subject] = record
    }

    private mutating func prune(_ now: Timestamp) {
        guard now >= nextPruning || nextPruning - now > Self.window else { return }
        nextPruning = now + Self.window
        records = records.filter { _, record in
            if let end = record.blockedUntil, Self.isAhead(end, now) { return true }
            return record.denials.contains { Self.isRecent($0.at, now) }
        }
    }
}

/// A no: an MVPD's, or that of a degradation rule in its place.
struct Denial: Hashable, Sendable {
    var code: Fault.Code
    /// The MVPD's or the operator's own text, cleaned.
    var details: String?

    init(code: Fault.Code, details: String? = nil) {
        self.code = code
        self.details = details
    }

    /// An AuthZ-None rule's (rest-v1 §6.1).
    init(_ rule: DegradationRule) {
        self.init(code: .authorizationDeniedByDegradationRule, details: MvpdText.clean(rule.message))
    }

    var fault: Fault { Fault(code, "User not authorized", details: details) }
}
