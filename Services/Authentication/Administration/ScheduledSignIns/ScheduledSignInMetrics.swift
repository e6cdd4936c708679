internal import AuthenticationCore
internal import CoreMetrics
internal import Identifiers

/// The metrics of scheduled sign-ins, apart from viewers' sign-ins. A label is an MVPD that the catalogue has a test of, or a step, never both.
struct ScheduledSignInMetrics: Sendable {
    /// - Parameters:
    ///   - isGood: True when the test user was signed in.
    ///   - spent: The time of each step that was done.
    func ended(_ mvpd: MvpdID, isGood: Bool, spent: [(step: TestVisit.Step, time: Duration)]) {
        let labels = [("mvpd", mvpd.text), ("result", isGood ? "succeeded" : "failed")]
        Counter(label: "boxoffice_authentication_scheduled_sign_ins_total", dimensions: labels).increment()
        let all = CoreMetrics.Timer(label: "boxoffice_authentication_scheduled_sign_in_seconds", dimensions: [("mvpd", mvpd.text)])
        all.recordNanoseconds(spent.reduce(.zero) { $0 + $1.time }.nanoseconds)
        for (step, time) in spent {
            CoreMetrics.Timer(label: "boxoffice_authentication_scheduled_sign_in_step_seconds", dimensions: [("step", step.rawValue)])
                .recordNanoseconds(time.nanoseconds)
        }
    }

    /// One was due and could not be tried.
    func skipped(_ mvpd: MvpdID) {
        Counter(label: "boxoffice_authentication_scheduled_sign_ins_total", dimensions: [("mvpd", mvpd.text), ("result", "skipped")]).increment()
    }

    /// The number that this copy skipped in a row.
    func skips(_ count: UInt32, of mvpd: MvpdID) {
        Gauge(label: "boxoffice_authentication_scheduled_sign_in_skips", dimensions: [("mvpd", mvpd.text)]).record(Int64(count))
    }

    /// The number that have failed in a row.
    func failures(_ count: UInt32, of mvpd: MvpdID) {
        Gauge(label: "boxoffice_authentication_scheduled_sign_in_failures", dimensions: [("mvpd", mvpd.text)]).record(Int64(count))
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue + components.attoseconds / 1_000_000_000
    }
}
