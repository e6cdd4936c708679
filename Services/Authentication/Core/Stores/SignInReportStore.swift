internal import Clocks
internal import Contracts
internal import Faults

/// Where copies of the service keep reports of sign-ins that failed and of tests, so that each shows those of all.
protocol SignInReportStore: Sendable {
    /// False: each copy knows its own alone, and the calls below do nothing.
    var sharesReports: Bool { get }

    func keep(_ reports: [SignInReport]) async throws(Fault)

    /// The newest of a trace id.
    func failedReport(trace: String) async throws(Fault) -> SignInReport?

    /// The newest ones.
    /// - Parameter mvpd: Empty: of any, and strays.
    func failedReports(mvpd: String, limit: Int) async throws(Fault) -> [SignInReport]

    /// Removes all but the newest answers that led to no pending sign-in, which anybody can send.
    func trimStrays(to most: Int) async throws(Fault)
}

extension SignInReportStore {
    var sharesReports: Bool { false }
    func keep(_ reports: [SignInReport]) async throws(Fault) {}
    func failedReport(trace: String) async throws(Fault) -> SignInReport? { nil }
    func failedReports(mvpd: String, limit: Int) async throws(Fault) -> [SignInReport] { [] }
    func trimStrays(to most: Int) async throws(Fault) {}
}
