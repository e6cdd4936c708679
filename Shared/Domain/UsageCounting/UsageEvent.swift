internal import Contracts

/// One event that is counted.
public enum UsageEvent: Hashable, Sendable {
    /// A person is sent to an MVPD.
    case authnAttempt
    /// A person comes back from it, whatever the answer.
    case authnPending
    case authnSuccessful
    case authnFailed
    /// An earlier sign-in was enough.
    case sso
    /// An MVPD decided.
    /// - Parameter milliseconds: That it took.
    case authzSuccessful(milliseconds: UInt64)
    /// An MVPD denied, or gave no answer that can be used.
    case authzFailed(milliseconds: UInt64)
    /// The MVPD was not asked again, so soon after it had denied.
    case authzRejected
    case mediaToken
    /// An app got a decision, whoever made it.
    case decision(isPermit: Bool)
}

extension UsageCounts {
    mutating func add(_ event: UsageEvent) {
        switch event {
        case .authnAttempt: authnAttempts += 1
        case .authnPending: authnPending += 1
        case .authnSuccessful: authnSuccessful += 1
        case .authnFailed: authnFailed += 1
        case .sso: sso += 1
        case .authzSuccessful(let milliseconds):
            authzAttempts += 1
            authzSuccessful += 1
            authzLatencyMilliseconds &+= milliseconds
        case .authzFailed(let milliseconds):
            authzAttempts += 1
            authzFailed += 1
            authzLatencyMilliseconds &+= milliseconds
        case .authzRejected: authzRejected += 1
        case .mediaToken: mediaTokens += 1
        case .decision(let isPermit):
            decisionAttempts += 1
            if isPermit { decisionSuccessful += 1 } else { decisionFailed += 1 }
        }
    }
}
