internal import CoreMetrics
internal import Memos

/// What the service counts. Labels are bounded: kinds and results, never an id.
struct AutoSignInMetrics: Sendable {
    let issuedTokens = Counter(label: "boxoffice_autosignin_tokens_issued_total")
    private let refusedNotifications = Counter(label: "boxoffice_autosignin_notifications_refused_total")
    let rotations = Counter(label: "boxoffice_autosignin_rotations_total")

    let redeemed = redeems("signed_in")
    private let refusals = Memo<String, Counter>(capacity: 256)

    /// - Parameter result: The code of the refusal.
    func refused(_ result: String) {
        refusals.value(result) { Self.redeems(result) }.increment()
    }

    private static func redeems(_ result: String) -> Counter {
        Counter(label: "boxoffice_autosignin_redeems_total", dimensions: [("result", result)])
    }

    /// - Parameter reason: `opt_out`, `sign_out_everywhere`, `flagged`, `replay`, `idle`, `not_stored`, `account_closed`, `apple_link` or `other`.
    func revoked(_ reason: String) {
        Counter(label: "boxoffice_autosignin_families_revoked_total", dimensions: [("reason", reason)]).increment()
    }

    /// - Parameters:
    ///   - call: A kind of letter.
    ///   - result: `done`, `absent`, `postponed`, or `given_up`, which is an alarm.
    func delivered(_ call: String, _ result: String) {
        Counter(label: "boxoffice_autosignin_outbox_deliveries_total", dimensions: [("call", call), ("result", result)]).increment()
    }

    /// One that did not verify, or was for nobody's app.
    func refusedNotification() { refusedNotifications.increment() }

    /// - Parameter kind: Of the event, as in the store.
    func securityEvent(_ kind: String) {
        Counter(label: "boxoffice_autosignin_security_events_total", dimensions: [("kind", kind)]).increment()
    }
}
