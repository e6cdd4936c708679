internal import Clocks

/// What a verified answer changes, all of it or nothing (mvpd §2.3 step 31).
struct SignInCompletion: Hashable, Sendable {
    /// What makes an assertion unique, and until when it must be remembered.
    struct Replay: Hashable, Sendable {
        let issuer: String
        let assertionID: String
        let expiresAt: Timestamp
    }

    let requestID: UpstreamRequestID
    let record: RegistrationRecordID
    let replay: Replay
    let session: SessionRecord
}

/// How a completion ended.
enum SignInCompletionResult: Hashable, Sendable {
    case completed
    /// The request was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
    /// The registration code was deleted, expired or used meanwhile.
    case codeGone
}
