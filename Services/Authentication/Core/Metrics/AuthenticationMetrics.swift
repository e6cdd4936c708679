internal import Contracts
internal import CoreMetrics
internal import Memos
internal import UsageCounting

/// What the service counts. Labels are bounded: results and reason codes, never an id.
struct AuthenticationMetrics: Sendable {
    /// For reports of usage.
    var usage = UsageCounter()
    /// What the sign-in at hand has in common with others, once that is known.
    var signIn: UsageDimensions?
    /// By MVPD.
    var mvpds: MvpdCounter?
    /// `nil`: the database's clock is the measure.
    var clock: ClockDoubt?

    let registeredClients = Counter(label: "boxoffice_authentication_registered_clients_total")
    let issuedTokens = Counter(label: "boxoffice_authentication_access_tokens_issued_total")
    let knownTokens = Counter(label: "boxoffice_authentication_access_token_checks_total", dimensions: [("source", "cache")])
    let checkedTokens = Counter(label: "boxoffice_authentication_access_token_checks_total", dimensions: [("source", "signature")])
    let createdCodes = Counter(label: "boxoffice_authentication_registration_codes_total")
    let startedSignIns = Counter(label: "boxoffice_authentication_sign_ins_started_total")
    let freePreviews = Counter(label: "boxoffice_authentication_free_previews_total")
    let resetTrials = Counter(label: "boxoffice_authentication_trials_reset_total")
    let revokedClients = Counter(label: "boxoffice_authentication_clients_revoked_total")
    let degradedSessions = Counter(label: "boxoffice_authentication_degraded_sessions_total")
    let profileRequests = Counter(label: "boxoffice_authentication_profile_requests_total")
    let sharedSessions = Counter(label: "boxoffice_authentication_shared_sessions_total")
    let endedSessions = Counter(label: "boxoffice_authentication_sessions_ended_total")

    let storedTokens = Counter(label: "boxoffice_authentication_stored_tokens_issued_total")
    /// Another house's, or changed ones.
    let foreignTokens = Counter(label: "boxoffice_authentication_foreign_tokens_total")

    let startedSessions = automaticSessions("started")
    /// The device has what it needs.
    let keptSessions = automaticSessions("kept")
    /// No login serves.
    let refusedSessions = automaticSessions("refused")

    private static func automaticSessions(_ result: String) -> Counter {
        Counter(label: "boxoffice_authentication_automatic_sessions_total", dimensions: [("result", result)])
    }

    let startedLogouts = Counter(label: "boxoffice_authentication_mvpd_logouts_started_total")

    /// - Parameters:
    ///   - result: `complete`, `partial`, `failed`, `rejected`, or `by_mvpd` for one that an MVPD asked for.
    ///   - reason: A reason code of mvpd §2.3, a status, or empty.
    func logoutEnded(_ result: String, reason: String = "") {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_mvpd_logouts_ended_total", dimensions: labels).increment()
    }

    let invalidatedSessions = Counter(
        label: "boxoffice_authentication_upstream_sessions_invalidated_total", dimensions: [("reason", "norefreshtoken")])

    /// The MVPD changes refresh tokens on use, as many do (clients §4.20).
    func rotatedRefreshTokens(_ mvpd: MvpdID) {
        Counter(label: "boxoffice_authentication_refresh_tokens_rotated_total", dimensions: [("mvpd", mvpd.text)]).increment()
    }

    /// - Parameters:
    ///   - endpoint: `token`, `profile` or `jwks`.
    ///   - result: `answered`, `timeout`, `unreachable`, `unusable` or `cancelled`.
    func providerCall(_ endpoint: String, _ result: String) {
        let labels = [("endpoint", endpoint), ("result", result)]
        Counter(label: "boxoffice_authentication_provider_calls_total", dimensions: labels).increment()
    }

    private let trialPlays = Memo<String, Counter>(capacity: 16)

    /// - Parameter result: `permitted`, `over` or `resources_used_up`.
    func trialPlay(_ result: String) {
        trialPlays.value(result) { Counter(label: "boxoffice_authentication_trial_plays_total", dimensions: [("result", result)]) }.increment()
    }

    /// - Parameters:
    ///   - result: `signed_in`, `declined`, `rejected`, `silent`, `continued` or `unavailable`.
    ///   - reason: A reason code of mvpd §2.3 or of `OAuthRejection`, a status of mvpd §2.6, or empty.
    ///   - mvpd: Whose answer it was; `nil`: nobody's that is known.
    func signInEnded(_ result: String, reason: String = "", mvpd: MvpdID? = nil) {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_sign_ins_ended_total", dimensions: labels).increment()
        if let mvpd, let verdict = Self.verdict(result, reason) { mvpds?.count(verdict, mvpd: mvpd.text) }
        countSignIn(result, reason)
    }

    /// As the objective counts (Monitoring.md): not a "no" of person or MVPD, not what goes on, not what strangers can send.
    private static func verdict(_ result: String, _ reason: String) -> MvpdCounter.Result? {
        switch result {
        case "signed_in": .good
        case "rejected", "unavailable": reason.hasPrefix("bind.") || ["state.unknown", "oauth.params"].contains(reason) ? nil : .bad
        default: nil
        }
    }

    /// - Parameters:
    ///   - result: `signed_in`, `degraded` or `refused`.
    ///   - reason: A reason code of mvpd §2.3, a status of mvpd §2.6, `attributes.missing` or empty.
    func platformExchangeEnded(_ result: String, reason: String = "") {
        let labels = [("result", result), ("reason", reason)]
        Counter(label: "boxoffice_authentication_platform_exchanges_total", dimensions: labels).increment()
    }
}
