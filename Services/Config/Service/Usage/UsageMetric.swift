internal import Contracts
internal import Storage

/// The count of a report (rest-v2 §7, clients §4.17), under its public name.
enum UsageMetric: String, CaseIterable, Sendable {
    case authnAttempts = "authn-attempts"
    case authnPending = "authn-pending"
    case authnSuccessful = "authn-successful"
    case authnFailed = "authn-failed"
    case clientlessTokens = "clientless-tokens"
    case clientlessFailures = "clientless-failures"
    case authzAttempts = "authz-attempts"
    case authzSuccessful = "authz-successful"
    case authzFailed = "authz-failed"
    case authzRejected = "authz-rejected"
    case authzLatency = "authz-latency"
    case mediaTokens = "media-tokens"
    case decisionAttempts = "decision-attempts"
    case decisionSuccessful = "decision-successful"
    case decisionFailed = "decision-failed"
    case decisionMediaTokens = "decision-media-tokens"
    case count

    /// The metrics of a report without the dimension `event`.
    static let totals = allCases.filter { $0 != .count }
    /// The metrics that MVPDs see.
    static let ofMvpds = allCases.filter { $0.rawValue.hasPrefix("authn-") || $0.rawValue.hasPrefix("authz-") }

    /// The amount that one combination adds to it.
    func value(of counts: UsageCounts, in combination: UsageCombination) -> UInt64 {
        switch self {
        case .authnAttempts: counts.authnAttempts
        case .authnPending: counts.authnPending
        case .authnSuccessful: counts.authnSuccessful
        case .authnFailed: counts.authnFailed
        // Apps without the vendor's SDK.
        case .clientlessTokens: combination[.api] == UsageCombination.sdk ? 0 : counts.authnSuccessful
        case .clientlessFailures: combination[.api] == UsageCombination.sdk ? 0 : counts.authnFailed
        case .authzAttempts: counts.authzAttempts
        case .authzSuccessful: counts.authzSuccessful
        case .authzFailed: counts.authzFailed
        case .authzRejected: counts.authzRejected
        case .authzLatency: counts.authzLatencyMilliseconds
        case .mediaTokens: counts.mediaTokens
        case .decisionAttempts: counts.decisionAttempts
        case .decisionSuccessful: counts.decisionSuccessful
        case .decisionFailed: counts.decisionFailed
        // The API whose decisions bring the token along.
        case .decisionMediaTokens: combination[.api] == "REST v2" ? counts.mediaTokens : 0
        case .count: 0
        }
    }
}

/// Values of the dimension `event`, with how often each happened.
enum UsageEventName: String, CaseIterable, Sendable {
    case authnAttempt = "authn-attempt"
    case authnPending = "authn-pending"
    case authnSuccessful = "authn-successful"
    case authnFailed = "authn-failed"
    case sso
    case authzAttempt = "authz-attempt"
    case authzSuccessful = "authz-successful"
    case authzFailed = "authz-failed"
    case authzRejected = "authz-rejected"
    case mediaToken = "media-token"
    case decisionSuccessful = "decision-successful"
    case decisionFailed = "decision-failed"

    func count(in counts: UsageCounts) -> UInt64 {
        switch self {
        case .authnAttempt: counts.authnAttempts
        case .authnPending: counts.authnPending
        case .authnSuccessful: counts.authnSuccessful
        case .authnFailed: counts.authnFailed
        case .sso: counts.sso
        case .authzAttempt: counts.authzAttempts
        case .authzSuccessful: counts.authzSuccessful
        case .authzFailed: counts.authzFailed
        case .authzRejected: counts.authzRejected
        case .mediaToken: counts.mediaTokens
        case .decisionSuccessful: counts.decisionSuccessful
        case .decisionFailed: counts.decisionFailed
        }
    }
}

extension UsageCounts {
    /// In the order of the store's columns.
    static let columns = [
        "authn_attempts", "authn_pending", "authn_successful", "authn_failed", "authz_attempts", "authz_successful", "authz_failed", "authz_rejected",
        "authz_latency_ms", "media_tokens", "decision_attempts", "decision_successful", "decision_failed", "sso",
    ]

    /// In the same order.
    var values: [UInt64] {
        [
            authnAttempts, authnPending, authnSuccessful, authnFailed, authzAttempts, authzSuccessful, authzFailed, authzRejected,
            authzLatencyMilliseconds, mediaTokens, decisionAttempts, decisionSuccessful, decisionFailed, sso,
        ]
    }

    /// The values of the next columns of a row, in the same order.
    init(_ columns: inout ColumnReader) {
        func next() -> UInt64 { UInt64(clamping: columns.next() as Int64) }
        self.init(
            authnAttempts: next(), authnPending: next(), authnSuccessful: next(), authnFailed: next(), authzAttempts: next(), authzSuccessful: next(),
            authzFailed: next(), authzRejected: next(), authzLatencyMilliseconds: next(), mediaTokens: next(), decisionAttempts: next(),
            decisionSuccessful: next(), decisionFailed: next(), sso: next())
    }

    static func += (sum: inout UsageCounts, other: UsageCounts) {
        sum.authnAttempts &+= other.authnAttempts
        sum.authnPending &+= other.authnPending
        sum.authnSuccessful &+= other.authnSuccessful
        sum.authnFailed &+= other.authnFailed
        sum.authzAttempts &+= other.authzAttempts
        sum.authzSuccessful &+= other.authzSuccessful
        sum.authzFailed &+= other.authzFailed
        sum.authzRejected &+= other.authzRejected
        sum.authzLatencyMilliseconds &+= other.authzLatencyMilliseconds
        sum.mediaTokens &+= other.mediaTokens
        sum.decisionAttempts &+= other.decisionAttempts
        sum.decisionSuccessful &+= other.decisionSuccessful
        sum.decisionFailed &+= other.decisionFailed
        sum.sso &+= other.sso
    }
}
