internal import Clocks
package import Contracts
package import Faults
internal import Storage

/// Where copies of the service keep reports of sign-ins that failed and of tests, so that each shows those of all.
extension SqlAuthenticationStore {
    /// False: each copy knows its own alone.
    package var sharesReports: Bool { store.isDistributed }

    package func keep(_ reports: [SignInReport]) async throws(Fault) {
        var plan = Plan(for: "sign_in_report")
        for report in reports {
            plan.add(
                """
                INSERT INTO sign_in_report (trace, ended_at_ms, mvpd, content) VALUES (?, ?, ?, ?) ON CONFLICT (trace, ended_at_ms) DO NOTHING
                """, [report.traceID, Int64(clamping: report.endedAtMilliseconds), report.mvpd, try report.serialized()])
        }
        _ = try await store.commit { () throws(Fault) in plan }
    }

    /// The newest of a trace id.
    package func failedReport(trace: String) async throws(Fault) -> SignInReport? {
        try await store.first("SELECT content FROM sign_in_report WHERE trace = ? ORDER BY ended_at_ms DESC LIMIT 1", [trace]) {
            try SignInReport(serialized: $0.next() as [UInt8])
        }
    }

    /// The newest ones.
    /// - Parameter mvpd: Empty: of any, and strays.
    package func failedReports(mvpd: String, limit: Int) async throws(Fault) -> [SignInReport] {
        try await store.all("SELECT content FROM sign_in_report WHERE mvpd = ?1 OR ?1 = '' ORDER BY ended_at_ms DESC LIMIT ?2", [mvpd, limit]) {
            try SignInReport(serialized: $0.next() as [UInt8])
        }
    }

    /// Removes all but the newest answers that led to no pending sign-in, which anybody can send.
    package func trimStrays(to most: Int) async throws(Fault) {
        try await store.change(
            """
            DELETE FROM sign_in_report WHERE mvpd = '' AND ended_at_ms < (
                SELECT min(newest.ended_at_ms) FROM (
                    SELECT ended_at_ms FROM sign_in_report WHERE mvpd = '' ORDER BY ended_at_ms DESC LIMIT ?
                ) AS newest)
            """, [most], of: "sign_in_report")
    }
}
