package import AuthenticationCore
internal import ContractRuntime
package import Contracts
package import Faults
package import Logging
package import SamlExplanation
internal import Synchronization

/// The latest sign-ins, for engineers who ask why one failed. Memory holds a limited number of them. Failed sign-ins and tests also go to a place
/// that all copies share, if there is one.
///
/// Answers that lead to no pending sign-in are kept apart, since anybody can send them: they must not push the others out.
package final class SignInReports: SignInReporting {
    private struct State {
        var known: Ring
        var unknown: Ring
        /// Failed, and on their way to the other copies.
        var leaving: [SignInRecord] = []
    }

    /// Reports that may wait: more come only when many are sent that say nothing new.
    private static let mostLeaving = 256
    /// Shown of one list, where callers name no limit.
    private static let mostListed = 512
    /// Answers to nothing that all copies together remember.
    private static let mostStrays = 10_000

    private let state: Mutex<State>
    private let store: SqlAuthenticationStore?

    /// - Parameters:
    ///   - capacity: Sign-ins that are remembered, at least 1.
    ///   - strays: Answers to nothing that are remembered, at least 1.
    ///   - store: For all copies.
    package init(capacity: Int = 512, strays: Int = 64, store: SqlAuthenticationStore? = nil) {
        self.store = store.flatMap { $0.sharesReports ? $0 : nil }
        state = Mutex(State(known: Ring(capacity: capacity), unknown: Ring(capacity: strays)))
    }

    package func add(_ record: SignInRecord) {
        state.withLock { state in
            record.mvpd.isEmpty ? state.unknown.append(record) : state.known.append(record)
            if store != nil, record.result != .signedIn || record.testedFor != nil, state.leaving.count < Self.mostLeaving {
                state.leaving.append(record)
            }
        }
    }

    /// Tells other copies of sign-ins that failed, twice a second until it is cancelled.
    /// - Parameter isMine: True when it is this copy's turn to forget old ones.
    package func share(_ logger: Logger, isMine: @Sendable () async -> Bool) async {
        var round = 0
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            round = (round + 1) % 120
            let mustTrim = round == 0 ? await isMine() : false
            do throws(Fault) {
                try await share(mustTrim: mustTrim)
            } catch {
                logger.debug("sign_in_reports.not_shared", metadata: ["reason": "\(error)"])
            }
        }
    }

    /// Tells the other copies of what failed, or was tested, since the last time. Nobody waits for it; what cannot be told is not told again.
    /// - Parameter mustTrim: True when it is time to forget old answers to nothing.
    package func share(mustTrim: Bool) async throws(Fault) {
        guard let store else { return }
        let leaving = state.withLock { state in
            defer { state.leaving = [] }
            return state.leaving
        }
        if !leaving.isEmpty { try await store.keep(leaving.map { $0.contract() }) }
        if mustTrim { try await store.trimStrays(to: Self.mostStrays) }
    }

    /// - Throws: `not_found`, and faults of the store.
    package func report(_ request: GetSignInReportRequest) async throws(Fault) -> SignInReport {
        let trace = request.traceID.lowercased()
        let found = state.withLock { state in
            state.known.newestFirst.first { $0.trace == trace } ?? state.unknown.newestFirst.first { $0.trace == trace }
        }
        if let found { return found.contract() }
        if let other = try await store?.failedReport(trace: trace) { return other }
        throw Fault(.notFound, "No sign-in of that trace id is remembered.")
    }

    /// - Throws: Faults of the store.
    package func list(_ request: ListSignInReportsRequest) async throws(Fault) -> Contracts.SignInReports {
        let all = state.withLock { $0.known.newestFirst + $0.unknown.newestFirst }.sorted { $0.endedAt > $1.endedAt }
        let wanted = all.filter { (request.mvpd.isEmpty || $0.mvpd == request.mvpd) && !(request.failedOnly && $0.result == .signedIn) }
        let here = wanted.map { $0.contract(isWhole: false) }
        guard let store else { return Contracts.SignInReports(reports: Array(here.prefix(request.limit == 0 ? here.count : Int(request.limit)))) }
        let limit = request.limit == 0 ? Self.mostListed : Int(request.limit)
        var seen: Set<Key> = []
        let elsewhere = try await store.failedReports(mvpd: request.mvpd, limit: limit).map(\.short)
        let everywhere = (here + elsewhere).filter { report in
            !(request.failedOnly && report.result == .signedIn) && seen.insert(Key(report)).inserted
        }
        return Contracts.SignInReports(reports: Array(everywhere.sorted { $0.endedAtMilliseconds > $1.endedAtMilliseconds }.prefix(limit)))
    }

    private struct Key: Hashable {
        let trace: String
        let endedAt: UInt64

        init(_ report: SignInReport) { (trace, endedAt) = (report.traceID, report.endedAtMilliseconds) }
    }

    /// The newest of a series.
    private struct Ring {
        private let capacity: Int
        private var records: [SignInRecord] = []
        private var next = 0

        init(capacity: Int) {
            precondition(capacity > 0, "a ring holds at least one record")
            self.capacity = capacity
        }

        mutating func append(_ record: SignInRecord) {
            if records.count < capacity { records.append(record) } else { records[next] = record }
            next = (next + 1) % capacity
        }

        var newestFirst: [SignInRecord] { (records[next...] + records[..<next]).reversed() }
    }
}

extension SignInReport {
    /// Without checks and facts.
    fileprivate var short: SignInReport {
        SignInReport(
            traceID: traceID, endedAtMilliseconds: endedAtMilliseconds, requestor: requestor, mvpd: mvpd, result: result, reason: reason,
            isTest: isTest, programmerID: programmerID)
    }
}

/// Tells engineers how sign-ins ended.
struct SignInReportCalls: CallRegistration {
    let reports: SignInReports
    /// Know some sign-ins better.
    let traces: [any SignInTraces]

    /// - Throws: `not_found`.
    package func register(on calls: inout some MethodRegistry) {
        calls.unary(AuthenticationOperationsMethods.getSignInReport) { request, _ in
            let trace = request.traceID.lowercased()
            for known in traces { if let report = known.report(trace: trace) { return report } }
            return try await reports.report(request)
        }
        calls.unary(AuthenticationOperationsMethods.listSignInReports) { request, _ in try await reports.list(request) }
    }
}
